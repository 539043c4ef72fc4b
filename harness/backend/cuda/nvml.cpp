// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace perfgate::backend::cuda {
namespace {

// The part of NVML's stable ABI that is used here; the header comes with few toolkit installations.
using Device = void*;
using Return = int;
constexpr Return success = 0;
constexpr Return not_supported = 3;
constexpr Return insufficient_size = 7;
constexpr Return function_not_found = 13;
constexpr int clock_sm = 1;
constexpr int clock_memory = 2;
constexpr int temperature_gpu = 0;
constexpr std::uint64_t not_available = ~std::uint64_t{0};

struct ProcessInfo {  // nvmlProcessInfo_v2_t, filled by nvmlDeviceGetComputeRunningProcesses_v3
    unsigned pid;
    unsigned long long used_gpu_memory;
    unsigned gpu_instance_id;
    unsigned compute_instance_id;
};
static_assert(sizeof(ProcessInfo) == 24);

struct FieldValue {  // nvmlFieldValue_t
    unsigned field, scope;
    long long timestamp, latency_us;
    int type, code;
    unsigned value;  // of a union of 8 bytes
    unsigned rest;
};
static_assert(sizeof(FieldValue) == 40);
constexpr unsigned common_link_speed = 90;  ///< MB/s of each active NVLink; not of all devices
constexpr unsigned link_count = 91;
constexpr unsigned link_speed = 164;  ///< MB/s of the NVLink that `scope` is; not by old drivers

struct ReasonWords {
    std::uint64_t bit;
    const char* words;
    bool throttles;
};

constexpr std::array reason_words{
    ReasonWords{0x001, "idle", false},
    ReasonWords{0x002, "application clocks", false},
    ReasonWords{0x004, "power cap", true},
    ReasonWords{0x008, "hardware slowdown", true},
    ReasonWords{0x010, "sync boost", true},
    ReasonWords{0x020, "software thermal slowdown", true},
    ReasonWords{0x040, "hardware thermal slowdown", true},
    ReasonWords{0x080, "hardware power brake", true},
    ReasonWords{0x100, "display clocks", false},
};

}  // namespace

std::vector<std::string> throttle_words(std::uint64_t bits) {
    std::vector<std::string> words;
    for (const ReasonWords& reason : reason_words) {
        if ((bits & reason.bit) != 0) words.emplace_back(reason.words);
        bits &= ~reason.bit;
    }
    for (unsigned bit = 0; bits != 0; ++bit, bits >>= 1) {
        if ((bits & 1) != 0) words.push_back(fmt::format("clocks event reason {}", bit));
    }
    return words;
}

bool throttled(std::uint64_t bits) {
    for (const ReasonWords& reason : reason_words) {
        if (reason.throttles && (bits & reason.bit) != 0) return true;
    }
    return false;
}

struct Nvml::Api {
    void* library = nullptr;
    bool initialised = false;
    Return (*init)() = nullptr;
    Return (*shutdown)() = nullptr;
    const char* (*error_string)(Return) = nullptr;
    Return (*driver_version)(char*, unsigned) = nullptr;
    Return (*handle_by_uuid)(const char*, Device*) = nullptr;
    Return (*handle_by_pci)(const char*, Device*) = nullptr;
    Return (*clock)(Device, int, unsigned*) = nullptr;
    Return (*max_clock)(Device, int, unsigned*) = nullptr;
    Return (*temperature)(Device, int, unsigned*) = nullptr;
    Return (*power)(Device, unsigned*) = nullptr;
    Return (*power_limit)(Device, unsigned*) = nullptr;
    Return (*energy)(Device, unsigned long long*) = nullptr;
    Return (*reasons)(Device, unsigned long long*) = nullptr;
    Return (*persistence)(Device, int*) = nullptr;
    Return (*ecc)(Device, int*, int*) = nullptr;
    Return (*mig)(Device, unsigned*, unsigned*) = nullptr;
    Return (*processes)(Device, unsigned*, ProcessInfo*) = nullptr;
    Return (*fields)(Device, int, FieldValue*) = nullptr;
    Return (*link_state)(Device, unsigned, unsigned*) = nullptr;

    Api() = default;
    Api& operator=(Api&&) = delete;  // nor copied
    ~Api() {
        if (initialised && shutdown != nullptr) shutdown();
        if (library != nullptr) dlclose(library);
    }

    template <typename Function>
    void resolve(Function& function, const char* name, const char* older_name = nullptr) {
        void* address = dlsym(library, name);
        if (address == nullptr && older_name != nullptr) address = dlsym(library, older_name);
        function = reinterpret_cast<Function>(address);
    }

    [[nodiscard]] std::string text(Return code) const {
        const char* words = error_string != nullptr ? error_string(code) : nullptr;
        return fmt::format("NVML error {}: {}", code, words != nullptr ? words : "no description");
    }
};

std::unique_ptr<Nvml> Nvml::open(const std::string& uuid, const std::string& pci_bus_id,
                                 std::string* why) {
    const auto give_up = [why](std::string reason) {
        if (why != nullptr) *why = std::move(reason);
        return nullptr;
    };
    auto api = std::make_unique<Api>();
    api->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (api->library == nullptr) return give_up(fmt::format("no NVML: {}", dlerror()));
    api->resolve(api->init, "nvmlInit_v2");
    api->resolve(api->shutdown, "nvmlShutdown");
    api->resolve(api->error_string, "nvmlErrorString");
    api->resolve(api->driver_version, "nvmlSystemGetDriverVersion");
    api->resolve(api->handle_by_uuid, "nvmlDeviceGetHandleByUUID");
    api->resolve(api->handle_by_pci, "nvmlDeviceGetHandleByPciBusId_v2");
    api->resolve(api->clock, "nvmlDeviceGetClockInfo");
    api->resolve(api->max_clock, "nvmlDeviceGetMaxClockInfo");
    api->resolve(api->temperature, "nvmlDeviceGetTemperature");
    api->resolve(api->power, "nvmlDeviceGetPowerUsage");
    api->resolve(api->power_limit, "nvmlDeviceGetEnforcedPowerLimit");
    api->resolve(api->energy, "nvmlDeviceGetTotalEnergyConsumption");
    api->resolve(api->reasons, "nvmlDeviceGetCurrentClocksEventReasons",
                 "nvmlDeviceGetCurrentClocksThrottleReasons");
    api->resolve(api->persistence, "nvmlDeviceGetPersistenceMode");
    api->resolve(api->ecc, "nvmlDeviceGetEccMode");
    api->resolve(api->mig, "nvmlDeviceGetMigMode");
    api->resolve(api->fields, "nvmlDeviceGetFieldValues");
    api->resolve(api->link_state, "nvmlDeviceGetNvLinkState");
    api->resolve(api->processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    if (api->init == nullptr) return give_up("NVML has no nvmlInit_v2: the driver is too old");
    if (const Return code = api->init(); code != success) return give_up(api->text(code));
    api->initialised = true;

    Device device = nullptr;
    Return code = -1;
    if (api->handle_by_uuid != nullptr) code = api->handle_by_uuid(uuid.c_str(), &device);
    if (code != success && api->handle_by_pci != nullptr) {
        code = api->handle_by_pci(pci_bus_id.c_str(), &device);
    }
    if (code != success) return give_up(api->text(code));
    return std::unique_ptr<Nvml>(new Nvml(std::move(api), device));
}

Nvml::Nvml(std::unique_ptr<Api> api, void* device)
    : api_(std::move(api)), device_(device), settings_(read_settings()) {}
Nvml::~Nvml() = default;

template <typename Function, typename... Arguments>
std::optional<unsigned> Nvml::number(Function function, Arguments... arguments) const {
    unsigned value = 0;
    if (function == nullptr || function(device_, arguments..., &value) != success) return {};
    return value;
}

std::string Nvml::driver_version() const {
    std::array<char, 96> text{};
    if (api_->driver_version == nullptr ||
        api_->driver_version(text.data(), static_cast<unsigned>(text.size()) - 1) != success) {
        return {};
    }
    return text.data();
}

std::optional<std::uint64_t> Nvml::energy_mj(std::string* why) const {
    constexpr const char* remedy = "; leave the metric out on this device";
    if (api_->energy == nullptr) {
        *why = fmt::format(
            "this NVML has no energy counter (nvmlDeviceGetTotalEnergyConsumption){}", remedy);
        return std::nullopt;
    }
    unsigned long long millijoules = 0;
    if (const Return code = api_->energy(device_, &millijoules); code != success) {
        *why = fmt::format("cannot read the energy counter: {}{}", api_->text(code), remedy);
        return std::nullopt;
    }
    return millijoules;
}

std::optional<double> Nvml::power_w() const {
    unsigned milliwatts = 0;
    if (api_->power == nullptr || api_->power(device_, &milliwatts) != success) return {};
    return milliwatts / 1000.0;
}

double Nvml::link_bytes_per_s(std::string* why) const {
    const auto read = [this](unsigned field, unsigned link) {
        FieldValue found{};
        found.field = field;
        found.scope = link;
        found.code = function_not_found;
        if (api_->fields != nullptr) {
            if (const Return code = api_->fields(device_, 1, &found); code != success) {
                found.code = code;
            }
        }
        if (found.code != success) found.value = 0;
        return found;
    };
    const FieldValue links = read(link_count, 0);
    if (links.code != success && links.code != not_supported) {
        *why = fmt::format("NVML does not say how many NVLinks the device has: {}",
                           api_->text(links.code));
        return 0;
    }
    const unsigned common_speed = read(common_link_speed, 0).value;
    double bytes_per_s = 0;
    for (unsigned link = 0; link < std::min(links.value, 64U); ++link) {
        const std::optional<unsigned> active = number(api_->link_state, link);
        if (active == 0U) continue;
        unsigned speed = read(link_speed, link).value;
        if (speed == 0) speed = common_speed;
        if (!active || speed == 0) {
            *why = "NVML does not say how fast the device's NVLinks are";
            return 0;
        }
        bytes_per_s += 1e6 * speed;
    }
    return bytes_per_s;
}

std::optional<std::vector<ComputeProcess>> Nvml::compute_processes() const {
    if (api_->processes == nullptr) return std::nullopt;
    std::vector<ProcessInfo> found(64);
    auto count = static_cast<unsigned>(found.size());
    Return code = api_->processes(device_, &count, found.data());
    if (code == insufficient_size) {
        found.resize(count + 16);  // more may start between the two calls
        count = static_cast<unsigned>(found.size());
        code = api_->processes(device_, &count, found.data());
    }
    if (code != success) return std::nullopt;
    std::vector<ComputeProcess> processes;
    for (unsigned i = 0; i < count; ++i) {
        ComputeProcess& process = processes.emplace_back();
        process.pid = found[i].pid;
        if (found[i].used_gpu_memory != not_available) {
            process.memory_bytes = found[i].used_gpu_memory;
        }
    }
    return processes;
}

/// A call may ask the board's firmware and take 0.3 ms, so what a run does not change is read once.
NvmlReading Nvml::read_settings() const {
    NvmlReading settings;
    settings.max_sm_clock_mhz = number(api_->max_clock, clock_sm);
    settings.max_memory_clock_mhz = number(api_->max_clock, clock_memory);
    if (const std::optional<unsigned> milliwatts = number(api_->power_limit)) {
        settings.power_limit_w = *milliwatts / 1000.0;
    }
    int mode = 0;
    if (api_->persistence != nullptr && api_->persistence(device_, &mode) == success) {
        settings.persistence_mode = mode != 0;
    }
    int pending = 0;
    if (api_->ecc != nullptr && api_->ecc(device_, &mode, &pending) == success) {
        settings.ecc = mode != 0;
    }
    unsigned mig = 0;
    unsigned mig_pending = 0;
    if (api_->mig != nullptr && api_->mig(device_, &mig, &mig_pending) == success) {
        settings.mig = mig != 0;
    }
    return settings;
}

NvmlReading Nvml::read() const {
    NvmlReading reading = settings_;
    reading.sm_clock_mhz = number(api_->clock, clock_sm);
    reading.memory_clock_mhz = number(api_->clock, clock_memory);
    reading.temperature_c = number(api_->temperature, temperature_gpu);
    reading.power_w = power_w();
    unsigned long long bits = 0;
    if (api_->reasons != nullptr && api_->reasons(device_, &bits) == success) {
        reading.throttle_bits = bits;
        reading.throttle_reasons = throttle_words(bits);
    }
    reading.compute_processes = compute_processes();
    return reading;
}

}  // namespace perfgate::backend::cuda

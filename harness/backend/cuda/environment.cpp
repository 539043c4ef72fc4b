// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/environment.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "backend/host/host_backend.hpp"
#include "util/text.hpp"

namespace perfgate::backend::cuda {
namespace {

constexpr std::string_view mig_mark = " MIG ";

std::string cuda_version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  …": for machines without NVML.
std::string driver_version_from_proc() {
    std::ifstream file("/proc/driver/nvidia/version");
    for (std::string word; file >> word;) {
        const bool digits_and_dots = word.find_first_not_of("0123456789.") == std::string::npos;
        if (digits_and_dots && word.find('.') != std::string::npos) return word;
    }
    return {};
}

template <typename Number>
std::optional<double> as_double(const std::optional<Number>& value) {
    if (!value) return std::nullopt;
    return static_cast<double>(*value);
}

}  // namespace

std::string board_id(const std::string& uuid) {
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, 64 bits
    for (const char c : uuid) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return fmt::format("{:016x}", hash);
}

model::Device describe_device(const DeviceFacts& facts, const std::string& chip) {
    model::Device device;
    device.key = util::slug(facts.name);
    device.name = facts.name;
    if (facts.mig) {
        const std::size_t at = facts.name.find(mig_mark);
        device.name = facts.name.substr(0, at);
        device.mig_profile = facts.name.substr(at + mig_mark.size());
    }
    device.chip = chip;
    device.compute_capability = fmt::format("{}.{}", facts.cc_major, facts.cc_minor);
    device.memory_bytes = facts.memory_bytes;
    device.board = board_id(facts.uuid);
    device.multiprocessors = facts.sm_count;
    device.l2_bytes = facts.l2_bytes;
    return device;
}

model::Environment describe_environment(OpenDevice& device, const Nvml* nvml) {
    model::Environment environment;
    describe_host(environment);
    std::string chip;
    // Only if we hold CUPTI: under another tool this call crashes (seen with ncu).
    if (device.has_cupti()) {
        try {
            chip = cupti::chip_of(cupti::own(), static_cast<std::size_t>(device.facts().ordinal));
        } catch (const util::Error&) {
            // A chip newer than this CUPTI: the name stays empty, and counters report why.
        }
    }
    environment.device = describe_device(device.facts(), chip);
    if (nvml != nullptr) environment.driver = nvml->driver_version();
    if (environment.driver.empty()) environment.driver = driver_version_from_proc();
    environment.cuda_driver = cuda_version_text(driver_cuda_version());
    environment.cuda_toolkit = cuda_version_text(CUDA_VERSION);
    try {
        environment.cupti = std::to_string(cupti::own().version);
    } catch (const util::Error&) {
        // There is none: the device says so where it is needed.
    }
    return environment;
}

model::BoardState read_board(const Nvml* nvml) {
    model::BoardState state;
    if (nvml == nullptr) return state;
    const NvmlReading reading = nvml->read();
    state.sm_clock_mhz = as_double(reading.sm_clock_mhz);
    state.memory_clock_mhz = as_double(reading.memory_clock_mhz);
    state.max_sm_clock_mhz = as_double(reading.max_sm_clock_mhz);
    state.max_memory_clock_mhz = as_double(reading.max_memory_clock_mhz);
    state.temperature_c = as_double(reading.temperature_c);
    state.power_w = reading.power_w;
    state.power_limit_w = reading.power_limit_w;
    state.throttle_reasons = reading.throttle_reasons;
    state.persistence_mode = reading.persistence_mode;
    state.ecc = reading.ecc;
    if (reading.compute_processes) {
        state.other_processes =
            other_processes(*reading.compute_processes, static_cast<unsigned>(getpid()));
    }
    return state;
}

std::vector<std::string> other_processes(const std::vector<ComputeProcess>& processes,
                                         unsigned own_pid) {
    const bool sees_itself = std::ranges::any_of(
        processes, [own_pid](const ComputeProcess& process) { return process.pid == own_pid; });
    std::vector<std::string> others;
    if (!sees_itself) {
        // Process ids in a container differ from the driver's; one of these is this process.
        if (processes.size() > 1) {
            others.push_back(fmt::format("{} outside this container", processes.size() - 1));
        }
        return others;
    }
    for (const ComputeProcess& process : processes) {
        if (process.pid == own_pid) continue;
        others.push_back(process.memory_bytes ? fmt::format("pid {} ({} MiB)", process.pid,
                                                            *process.memory_bytes >> 20)
                                              : fmt::format("pid {}", process.pid));
    }
    return others;
}

}  // namespace perfgate::backend::cuda

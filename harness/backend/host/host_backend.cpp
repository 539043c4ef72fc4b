// SPDX-License-Identifier: Apache-2.0
#include "backend/host/host_backend.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <span>
#include <string>

#include "backend/plugin/loader.hpp"
#include "backend/plugin/verification.hpp"
#include "util/text.hpp"

namespace perfgate::backend {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t huge_page = 2 * mib;

/// A multiple of a huge page.
std::size_t buffer_bytes() {
#ifdef __SANITIZE_THREAD__
    return 8 * mib;  // it keeps four times as much beside it, and its times mean nothing
#endif
    const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    const std::size_t twice = cache > 0 ? 2 * static_cast<std::size_t>(cache) : 64 * mib;
    const std::size_t bytes = std::clamp(twice, 8 * mib, 256 * mib);
    return bytes / huge_page * huge_page;
}

/// Evicts a case's data from the CPU caches, for cold measurements.
class CacheEviction {
  public:
    /// Writes through a buffer of twice the last-level cache, of 8 to 256 MiB; the first call
    /// allocates it, so that processes without cold measurements start fast. With huge pages
    /// most of the TLB stays as it is. Throws std::bad_alloc.
    void evict() {
        if (!buffer_) {
            bytes_ = buffer_bytes();
            buffer_.reset(std::aligned_alloc(huge_page, bytes_));
            if (!buffer_) throw std::bad_alloc();
            // On some virtual machines, the page faults of the buffer in 4 KiB pages take a second.
            // This is a hint: without huge pages the kernel uses small ones.
            madvise(buffer_.get(), bytes_, MADV_HUGEPAGE);
        }
        std::memset(buffer_.get(), ++value_, bytes_);
        // The compiler must not drop stores to a buffer that is never read.
        asm volatile("" : : "r"(buffer_.get()) : "memory");
    }

  private:
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };

    std::unique_ptr<void, Free> buffer_;
    std::size_t bytes_ = 0;
    unsigned char value_ = 0;
};

class HostExecutor final : public Executor {
  public:
    void launch(Instance& instance, const char* /*range*/) override { instance.launch(nullptr); }
    void reset(Instance& instance) override { instance.reset(nullptr); }
    void read(const Output& output, std::uint64_t offset, std::span<std::byte> to) override {
        std::memcpy(to.data(), output.data() + offset, to.size());
    }
    void overwrite(const Output& output, std::byte with) override {
        std::memset(output.data(), std::to_integer<int>(with), output.bytes);
    }
};

class HostCase : public measure::Case {
  public:
    HostCase(std::unique_ptr<PluginInstance> instance, CacheEviction& eviction)
        : instance_(std::move(instance)), eviction_(eviction) {}

    void fill(std::uint64_t seed) override { instance_->fill(seed); }

    model::Work work() override { return instance_->work(); }

    std::optional<measure::Prepared> prepared() override { return instance_->prepared(); }

    measure::Verified verify(std::uint64_t seed, const measure::Checks& checks) override {
        HostExecutor executor;
        return backend::verify(*instance_, executor, seed, checks);
    }

    void warm_up(int launches, std::chrono::duration<double> at_least) override {
        const auto start = Clock::now();
        for (int i = 0; i < launches || Clock::now() - start < at_least; ++i) {
            instance_->reset(nullptr);
            instance_->launch(nullptr);
        }
    }

    measure::LaunchRecord record_launch() override { return {}; }

    measure::TimeSamples time(measure::TimeKind kind, model::Cache cache, int count) override {
        if (kind != measure::TimeKind::host_time) {
            throw util::Error("the host backend measures host_time only");
        }
        measure::TimeSamples samples;
        samples.method = {model::wall_source, "", cache};
        for (int i = 0; i < count; ++i) {
            instance_->reset(nullptr);
            if (cache == model::Cache::cold) eviction_.evict();
            const auto start = Clock::now();
            instance_->launch(nullptr);
            if (added_ns_ > 0) work_for(std::chrono::duration<double, std::nano>(added_ns_));
            const std::chrono::duration<double, std::nano> elapsed = Clock::now() - start;
            samples.values_ns.push_back(elapsed.count());
        }
        return samples;
    }

    void add_work(double ns) override { added_ns_ = ns; }

  private:
    static void work_for(std::chrono::duration<double, std::nano> time) {
        const auto end = Clock::now() + time;
        while (Clock::now() < end) {
        }
    }

    std::unique_ptr<PluginInstance> instance_;
    CacheEviction& eviction_;
    double added_ns_ = 0;
};

std::uint64_t available_memory() {
    return static_cast<std::uint64_t>(sysconf(_SC_AVPHYS_PAGES)) *
           static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

class HostBackend : public measure::Backend {
  public:
    explicit HostBackend(const measure::BackendOptions& options) : plugins_(options) {}

    measure::Capabilities capabilities() override {
        measure::Capabilities capabilities;
        model::Environment& environment = capabilities.environment;
        describe_host(environment);
        environment.device = host_device();
        capabilities.workloads = plugins_.catalogue();
        capabilities.libraries = plugins_.libraries();
        capabilities.timing = true;
        return capabilities;
    }

    model::BoardState board_state() override { return {}; }

    std::vector<measure::Diagnosis> diagnose() override {
        model::Environment environment;
        describe_host(environment);
        return {
            {measure::Diagnosis::Level::ok, "host",
             fmt::format("{}, {} cores, {}", environment.cpu, environment.cores, environment.os),
             ""}};
    }

    measure::CaseFacts facts(const model::CaseSpec& spec) override { return plugins_.facts(spec); }

    std::unique_ptr<measure::Case> open(const model::CaseSpec& spec) override {
        if (plugins_.variant(spec).target != model::Target::host) {
            throw util::Error("variant '{}' needs a GPU: the host backend runs host variants only",
                              spec.variant);
        }
        return std::make_unique<HostCase>(plugins_.open(spec), eviction_);
    }

    measure::HostCode host_code(const model::CaseSpec& spec) override {
        return plugins_.host_code(spec);
    }

    std::uint64_t free_memory() override { return available_memory(); }

    std::string counters_problem() override { return "the host backend has no counters"; }
    bool has_counter(const std::string& /*counter*/) override { return false; }

    std::vector<measure::CounterValues> collect(
        std::span<const measure::CounterCase> /*cases*/,
        const std::vector<std::string>& /*counters*/) override {
        throw util::Error("the host backend has no counters");
    }

  private:
    PluginSet plugins_;
    CacheEviction eviction_;
};

}  // namespace

model::Device host_device() {
    model::Environment host;
    describe_host(host);
    model::Device device;
    device.name = host.cpu;
    device.key = "host-" + util::slug(fmt::format("{} {} cores", host.cpu, host.cores));
    device.multiprocessors = host.cores;
    device.memory_bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                          static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    device.board = "host";
    return device;
}

std::unique_ptr<measure::Backend> make_host_backend(const measure::BackendOptions& options) {
    return std::make_unique<HostBackend>(options);
}

namespace {

/// The value of the first line "key<separator>value" of a file, unquoted; empty if there is
/// none.
std::string first_value(const char* path, std::string_view key, char separator) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.rfind(key, 0) != 0) continue;
        const std::size_t at = line.find(separator);
        if (at == std::string::npos) continue;
        std::string value = line.substr(at + 1);
        const std::size_t begin = value.find_first_not_of(" \t\"");
        const std::size_t end = value.find_last_not_of(" \t\"");
        return begin == std::string::npos ? "" : value.substr(begin, end - begin + 1);
    }
    return "";
}

}  // namespace

void describe_host(model::Environment& environment) {
    environment.os = util::printable(first_value("/etc/os-release", "PRETTY_NAME", '='), 100);
    environment.cpu = util::printable(first_value("/proc/cpuinfo", "model name", ':'), 100);
    utsname name{};
    if (uname(&name) == 0) environment.kernel = util::printable(name.release, 100);
    if (environment.cpu.empty()) environment.cpu = util::printable(name.machine, 100);
    // The cores this process may use, which in a container are fewer than the machine has.
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) == 0) environment.cores = CPU_COUNT(&set);
}

}  // namespace perfgate::backend

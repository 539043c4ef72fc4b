// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/memory_use.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "backend/cuda/driver.hpp"

namespace perfgate::backend::cuda {
namespace {

/// Pools and caches of a variant fill during the first ones.
constexpr int kFirstLaunches = 10;
/// More than the first ones, unless they take too long.
constexpr int kLaunches = 1000;
// With these, what leaks 20 KiB per launch is as much as the driver's piece.
constexpr int kFewestLaunches = 100;
constexpr std::chrono::seconds kLongest{2};
constexpr int kLaunchesPerReading = 50;
/// The driver hands out memory in such pieces.
constexpr double kPiece = 2.0 * 1024 * 1024;

double free_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    check(driver().cuMemGetInfo(&free, &total), "cannot ask for the device's free memory");
    return static_cast<double>(free);
}

/// What NVML says that this process has; nothing if it does not see the process.
std::optional<double> own_bytes(const Nvml* nvml) {
    if (nvml == nullptr) return std::nullopt;
    const NvmlReading reading = nvml->read();
    if (!reading.compute_processes) return std::nullopt;
    for (const ComputeProcess& process : *reading.compute_processes) {
        if (process.pid == static_cast<unsigned>(getpid()) && process.memory_bytes) {
            return static_cast<double>(*process.memory_bytes);
        }
    }
    return std::nullopt;
}

}  // namespace

measure::MemorySample measure_memory(const OpenDevice& device, const MemoryRequest& request) {
    device.context().synchronize();
    const std::optional<double> own_before = own_bytes(request.nvml);
    const double before = free_bytes();
    double least = before;
    const auto look = [&] {
        const double free = free_bytes();
        least = std::min(least, free);
        return free;
    };
    const auto look_idle = [&] {
        device.context().synchronize();
        return look();
    };

    const std::unique_ptr<Instance> instance = request.open();
    look();
    instance->fill(request.seed);
    look_idle();
    const auto launch = [&](bool reads) {
        instance->reset(device.stream());
        instance->launch(device.stream());
        // While the work is queued, its temporary memory is there.
        if (reads) look();
    };
    for (int i = 0; i < kFirstLaunches; ++i) {
        launch(true);
        look_idle();
    }
    const double early = look_idle();
    int launches = 0;
    const auto start = std::chrono::steady_clock::now();
    while (launches < kLaunches && std::chrono::steady_clock::now() - start < kLongest) {
        const bool reads = launches % kLaunchesPerReading == 0;
        launch(reads);
        if (reads) look_idle();
        ++launches;
    }
    const double late = look_idle();

    measure::MemorySample sample;
    const std::optional<double> own_after = own_bytes(request.nvml);
    if (own_before && own_after) {
        const double others = (before - late) - (*own_after - *own_before);
        if (std::fabs(others) >= kPiece) {
            sample.problem = fmt::format(
                "other processes' memory on the device changed by {:.0f} MiB meanwhile: measure "
                "when nothing else uses the device",
                others / (1024 * 1024));
            return sample;
        }
    }
    if (launches < kFewestLaunches) {
        sample.leak_problem = fmt::format(
            "{} launches in {} s are too few to see a leak: smaller parameters make it shorter",
            launches, kLongest.count());
    }
    sample.method = "driver/free";
    sample.peak_bytes = before - least;
    sample.leaked_bytes = std::max(early - late, 0.0);
    sample.launches = launches;
    return sample;
}

}  // namespace perfgate::backend::cuda

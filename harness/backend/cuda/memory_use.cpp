// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/memory_use.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "backend/cuda/driver.hpp"
#include "backend/cuda/nvml.hpp"
#include "backend/cuda/nvtx.hpp"
#include "backend/cuda/readings.hpp"

namespace perfgate::backend::cuda {

namespace {

/// Pools and caches of a variant fill during the first ones.
constexpr int first_launches = 10;
/// More than the first ones, unless leak_launches take too long.
constexpr std::chrono::seconds longest{2};
constexpr int launches_per_reading = 50;

double free_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    check(driver().cuMemGetInfo(&free, &total), "cannot ask for the device's free memory");
    return static_cast<double>(free);
}

/// What NVML says that this process has; nothing if it does not see the process.
std::optional<double> own_bytes(const Nvml* nvml) {
    if (nvml == nullptr) return std::nullopt;
    const auto processes = nvml->compute_processes();
    if (!processes) return std::nullopt;
    for (const ComputeProcess& process : *processes) {
        if (process.pid == static_cast<unsigned>(getpid()) && process.memory_bytes) {
            return static_cast<double>(*process.memory_bytes);
        }
    }
    return std::nullopt;
}

MemoryReadings readings_of(const ReadingContext& request) {
    const OpenDevice& device = request.device;
    device.context().synchronize();
    MemoryReadings readings;
    double least = std::numeric_limits<double>::infinity();
    // NVML takes long: it is asked for what a result rests on.
    const auto look = [&](bool counts) {
        MemoryReading& reading = readings.all.emplace_back();
        reading.free_bytes = free_bytes();
        if (counts || reading.free_bytes < least) reading.own_bytes = own_bytes(request.board.nvml);
        least = std::min(least, reading.free_bytes);
        return readings.all.size() - 1;
    };
    const auto look_idle = [&](bool counts) {
        device.context().synchronize();
        return look(counts);
    };

    look(true);
    const std::unique_ptr<Instance> instance = request.open();
    look(false);
    instance->fill(request.seed);
    look_idle(false);
    const auto launch = [&](bool reads) {
        instance->reset(device.stream());
        instance->launch(device.stream());
        // While the work is queued, its temporary memory is there.
        if (reads) look(false);
    };
    for (int i = 0; i < first_launches; ++i) {
        launch(true);
        look_idle(false);
    }
    readings.early = look_idle(true);
    const auto start = std::chrono::steady_clock::now();
    while (readings.launches < leak_launches &&
           std::chrono::steady_clock::now() - start < longest) {
        const bool reads = readings.launches % launches_per_reading == 0;
        launch(reads);
        if (reads) look_idle(false);
        ++readings.launches;
    }
    readings.late = look_idle(true);
    return readings;
}

/// The driver hands out memory in such pieces.
constexpr double piece_bytes = 2.0 * 1024 * 1024;
// With these, what leaks 20 KiB per launch is as much as the driver's piece.
constexpr int fewest_launches = 100;

/// How much more memory other processes hold than at the first reading; nothing if it is not known.
std::optional<double> others_bytes(const MemoryReading& first, const MemoryReading& reading) {
    if (!first.own_bytes || !reading.own_bytes) return std::nullopt;
    return (first.free_bytes - reading.free_bytes) - (*reading.own_bytes - *first.own_bytes);
}

}  // namespace

measure::Reading memory_values(const MemoryReadings& readings) {
    measure::Reading sample;
    const MemoryReading& first = readings.all.front();
    for (const MemoryReading& reading : readings.all) {
        const std::optional<double> others = others_bytes(first, reading);
        if (!others || std::fabs(*others) < piece_bytes) continue;
        sample.problem = fmt::format(
            "other processes' memory on the device changed by {:.0f} MiB meanwhile: measure when "
            "nothing else uses the device",
            *others / (1024 * 1024));
        return sample;
    }
    const MemoryReading& early = readings.all.at(readings.early);
    const MemoryReading& late = readings.all.at(readings.late);
    const MemoryReading& lowest = *std::ranges::min_element(
        readings.all, [](const auto& a, const auto& b) { return a.free_bytes < b.free_bytes; });
    for (const MemoryReading* reading : {&early, &late, &lowest}) {
        if (others_bytes(first, *reading)) continue;
        sample.note =
            "NVML does not say how much device memory this process has (as in a container with "
            "process ids of its own): what other processes allocate and free meanwhile would be "
            "counted as the variant's";
    }
    sample.method = {"driver", "free"};
    sample.values["memory_peak"].value = first.free_bytes - lowest.free_bytes;
    measure::Reading::Value& leak = sample.values["leak"];
    if (readings.launches < fewest_launches) {
        leak.problem = fmt::format(
            "{} launches in the time allowed are too few to see a leak: smaller parameters make "
            "it shorter",
            readings.launches);
    } else {
        leak.value =
            std::max(early.free_bytes - late.free_bytes, 0.0) * leak_launches / readings.launches;
        leak.detail = fmt::format("over {} launches{}", readings.launches,
                                  readings.launches < leak_launches ? ", scaled to 1000" : "");
    }
    return sample;
}

measure::Reading read_memory(const ReadingContext& context) {
    MemoryReadings readings;
    guarded(context.device.context(), [&] {
        // The next case must not see the settings of this instance.
        const std::unique_ptr<const PersistingL2, void (*)(const PersistingL2*)> at_end(
            &context.device.persisting_l2(), [](const PersistingL2* settings) {
                driver().cuCtxSynchronize();
                settings->restore();
            });
        context.device.flush();  // as in Backend::free_memory
        const NvtxRange range("memory");
        readings = readings_of(context);
    });
    return memory_values(readings);
}

}  // namespace perfgate::backend::cuda

// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/memory_readings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace perfgate::backend::cuda {
namespace {

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

measure::MemorySample memory_sample(const MemoryReadings& readings) {
    measure::MemorySample sample;
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
    const MemoryReading& lowest =
        *std::min_element(readings.all.begin(), readings.all.end(),
                          [](const auto& a, const auto& b) { return a.free_bytes < b.free_bytes; });
    for (const MemoryReading* reading : {&early, &late, &lowest}) {
        if (others_bytes(first, *reading)) continue;
        sample.note =
            "NVML does not say how much device memory this process has (as in a container with "
            "process ids of its own): what other processes allocate and free meanwhile would be "
            "counted as the variant's";
    }
    if (readings.launches < fewest_launches) {
        sample.leak_problem = fmt::format(
            "{} launches in the time allowed are too few to see a leak: smaller parameters make "
            "it shorter",
            readings.launches);
    } else {
        sample.leaked_bytes =
            std::max(early.free_bytes - late.free_bytes, 0.0) * leak_launches / readings.launches;
    }
    sample.method = "driver/free";
    sample.peak_bytes = first.free_bytes - lowest.free_bytes;
    sample.launches = readings.launches;
    return sample;
}

}  // namespace perfgate::backend::cuda

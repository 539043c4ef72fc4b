// SPDX-License-Identifier: Apache-2.0
// The part of a program that counts, as its user states it.
#pragma once

#include <cstdint>
#include <string>

namespace perfgate::model {

/// More than a recording can have.
inline constexpr std::uint64_t most_launches = 1'000'000'000;

/// What is stated restricts together: only what lies in all of it counts. Nothing stated: the whole
/// program counts.
struct CaptureRange {
    /// From each call of cudaProfilerStart to the next of cudaProfilerStop.
    bool profiler_api = false;
    /// From the first to the last NVTX range of exactly this name. Empty: not stated.
    std::string range{};
    /// Behind the first so many kernel launches of each process; a graph is one launch.
    std::uint64_t after_launches = 0;

    [[nodiscard]] bool is_stated() const {
        return profiler_api || !range.empty() || after_launches != 0;
    }
    bool operator==(const CaptureRange&) const = default;
};

/// "profiler_api, after_launches 1000, range 'measured'", as suites name it; "" if nothing is
/// stated.
std::string in_words(const CaptureRange& capture);

}  // namespace perfgate::model

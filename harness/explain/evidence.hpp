// SPDX-License-Identifier: Apache-2.0
// What is known about a case on both sides: each metric's value in the baseline and in this run,
// values derived from several metrics, the parts of a value that differ, and changed kernels.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernel_change.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::explain {

/// By metric.
using Evidence = std::map<std::string, model::Figure, std::less<>>;

/// Null: the map has no such entry.
template <class Map>
const typename Map::mapped_type* entry(const Map& map, const auto& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
}

// Derived values, under names of their own.

/// SM clock during timing (`sm_clock` is the clock during counter collection).
inline constexpr std::string_view timed_sm_clock = "timed_sm_clock";
/// gpu_span minus gpu_time: the part of a launch in which no kernel runs. Absent if it makes up
/// less than a tenth of gpu_span's change.
inline constexpr std::string_view launch_gap = "launch_gap";
/// `waves` rounded up: how many rounds of blocks the kernel with the most takes.
inline constexpr std::string_view rounds_of_blocks = "rounds_of_blocks";
/// SM clock during timing, of a run whose board was at its power limit then and a baseline whose
/// board was not. The batches of such a run have no clock (measure/clock_stability.hpp).
inline constexpr std::string_view capped_sm_clock = "capped_sm_clock";
/// `submit_time` of gpu_time, %: above 100 % the device waits for the host.
inline constexpr std::string_view submission_share = "submission_share";
/// Of the longest of the kernels whose launch differs; absent if none does.
inline constexpr std::string_view threads_per_block = "threads_per_block";
inline constexpr std::string_view blocks_per_grid = "blocks_per_grid";
/// Loads and stores together.
inline constexpr std::string_view conflicts_per_instruction = "bank_conflicts_per_instruction";

/// The time that the case's verdict is about: the first that changed, or possibly changed; null if
/// none did.
const model::MetricVerdict* moved_time(const model::CaseVerdict& verdict);

/// Every metric with a finite value on both sides. Values measured by different methods are left
/// out: the verdict has no baseline for them.
Evidence gather(const model::CaseVerdict& verdict, const model::CaseResult& result);

// The parts of a value (MetricSeries::detail) that differ between the baseline and this run.

/// "cudaMalloc 0 → 2, cudaMemcpyAsync 1 → 3" of two lists such as "cudaMemcpyAsync 1" and
/// "cudaMalloc 2, cudaMemcpyAsync 3": the largest changes first. Empty if nothing differs, or if
/// one of the two is no such list. What a shortened list ("… and 3 more") leaves out is not known,
/// and is not reported. Parts may have places ("LDG.E 32 at blend.cu:57"), which follow those that
/// became more: "LDG.E 0 → 32 at blend.cu:57".
std::string difference_of_details(std::string_view before, std::string_view after);

// How the kernels of a program's case changed, as causes: model/kernel_change.hpp finds the
// changes.

/// See model/kernel_change.hpp. A side without kernels is unknown: then there are no changes.
std::vector<model::KernelChange> kernel_changes(const std::vector<model::Kernel>& before,
                                                const std::vector<model::Kernel>& after,
                                                std::optional<double> moved_ns);

/// `instance` is "step" in "1 per step".
model::Cause cause_of(const model::KernelChange& change, std::string_view instance);

}  // namespace perfgate::explain

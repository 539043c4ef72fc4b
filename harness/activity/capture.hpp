// SPDX-License-Identifier: Apache-2.0
// API calls that must not be made while a CUDA graph is captured: what keeps a range of a program
// from becoming a graph.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "activity/profile.hpp"
#include "activity/timeline.hpp"

namespace perfgate::activity {

/// Why the call must not be made during a capture in the default mode: CUDA refuses it, or executes
/// it at once, so that the graph lacks it. Empty: it may be made. By its name alone, which may have
/// a version ("cudaMalloc_v3020").
std::string_view why_uncapturable(std::string_view call);

/// Those of the interval, by name and by the innermost range on their thread that began in the
/// interval, most frequent first. A driver call that a runtime call made is not counted with it.
/// Empty if API calls are not on record.
std::vector<UncapturableCall> uncapturable_calls(const Timeline& timeline, Interval interval,
                                                 std::optional<std::uint32_t> thread = {});
/// Those of all the intervals.
std::vector<UncapturableCall> uncapturable_calls(const Timeline& timeline,
                                                 std::span<const Interval> intervals,
                                                 std::optional<std::uint32_t> thread = {});

}  // namespace perfgate::activity

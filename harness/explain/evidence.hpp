// SPDX-License-Identifier: Apache-2.0
// What is known of a case on both sides: the baseline's value and this run's of each metric, and
// what follows from several of them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::explain {

/// By metric.
using Evidence = std::map<std::string, model::Figure, std::less<>>;

// What follows from metrics, under names of their own.

/// SM clock while the time was taken (`sm_clock` is the one while counters were).
inline constexpr std::string_view timed_sm_clock = "timed_sm_clock";
/// gpu_span less gpu_time: what of a launch no kernel fills.
inline constexpr std::string_view launch_gap = "launch_gap";
/// Loads' and stores' together.
inline constexpr std::string_view conflicts_per_instruction = "bank_conflicts_per_instruction";

/// The time that the case's verdict is about: the first that was judged to have moved, or perhaps
/// moved; null if none did.
const model::MetricVerdict* moved_time(const model::CaseVerdict& verdict);

/// Every metric with a finite value on both sides. What was measured by different methods is not
/// among them: the verdict carries no baseline of it.
Evidence gather(const model::CaseVerdict& verdict, const model::CaseResult& result);

}  // namespace perfgate::explain

// SPDX-License-Identifier: Apache-2.0
// How the gate words a metric's verdict: one sentence with metric, baseline, measured, change and
// tolerance.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/rule.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// "3 %", "0 %, in either direction", "3 % and 2 % more for another board".
std::string tolerance_words(const Comparison& comparison);

/// "gpu_time regressed: 12.34 µs → 13.60 µs (+10.2 %), tolerance 3 %". `aside` follows the verdict:
/// "regressed (device code unchanged)".
std::string judged_sentence(std::string_view metric, const Comparison& comparison,
                            const Judgement& judgement, std::string_view aside = {});

/// Why a time is not shown to be within its tolerance, in one clause.
std::string not_shown_words(const Judgement& judgement);

/// Why a time that no test decides about must not pass, in one clause.
std::string beyond_spread_words(const Judgement& judgement);

/// Which processes are slower than all of the baseline's.
std::string slow_processes_words(const Judgement& judgement);

/// Why a time is not believed that is better by more than this factor, in one clause.
std::string too_good_words(double factor);

/// A suite's note: in this many cases a metric is not shown to be within its tolerance. `widest` is
/// the widest interval and the case that has it; absent: none is known.
std::string not_shown_note(std::string_view metric, std::size_t cases,
                           const std::optional<model::ChangeInterval>& widest, std::string_view id);

/// "a, b and 3 more", printable: at most ten names.
std::string name_list(const std::vector<std::string>& names);

/// "gpu_time has no baseline: measured 12.34 µs".
std::string no_baseline_sentence(std::string_view metric, const model::MetricSeries& measured);

/// Why both values are there and are not compared, with the remedy.
std::string not_comparable_sentence(std::string_view metric, std::string_view why);

/// What becomes of a metric of which the baseline does not say which way is better.
std::string both_ways_note(std::string_view metric);

/// "gpu_time is not compared: driver changed …; policy refuses that".
std::string refused_sentence(std::string_view metric, std::string_view circumstance);

/// A suite's note: the tolerance of a metric alone decides this many cases.
std::string one_process_note(std::string_view metric, std::size_t cases);

/// A suite's note: the tolerance of a metric is below the minimum detectable change in this many
/// cases, which is at worst `minimum_detectable_change` (a fraction) in the case `id`.
std::string finer_note(std::string_view metric, std::size_t cases, double minimum_detectable_change,
                       std::string_view id);

/// "span is invalid: measured 12.34 ms, but …".
std::string invalid_sentence(std::string_view metric, const model::MetricSeries& measured,
                             std::string_view why);

/// "l2_hit_rate was not collected: …".
std::string not_collected_sentence(std::string_view metric, std::string_view reason);

}  // namespace perfgate::gate

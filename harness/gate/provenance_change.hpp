// SPDX-License-Identifier: Apache-2.0
// What was different around a run from when its baseline was recorded: board, driver, toolkit,
// tool, clock. What may explain a change is named; what the policy refuses is not compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gate/rule.hpp"
#include "model/baseline.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// Whether it is known of both sides which board measured the case, and the boards differ.
bool other_board(const model::Run& run, const model::CaseResult& result,
                 const model::BaselineCase& expected);

/// "driver changed since the baseline: 570.1 → 580.1", for each that the policy does not accept in
/// silence. What one of the two does not know is no change.
std::vector<std::string> provenance_notes(const model::Run& run, const model::CaseResult& result,
                                          const model::BaselineCase& expected,
                                          const model::ChangePolicy& policy);

/// The first change that the policy refuses, in the same words; empty: none. Another board only
/// concerns timing.
std::string refused_provenance_change(const model::Run& run, const model::CaseResult& result,
                                      const model::BaselineCase& expected,
                                      model::MetricClass metric_class,
                                      const model::ChangePolicy& policy);

/// Mean SM clock of the batches that a judgement of the series rests on; nothing where not all of
/// them tell.
std::optional<double> mean_clock_mhz(const model::MetricSeries& series);

/// Of a timing that got worse: why the clock did it, in one clause, where both the cycles of the
/// case did not rise with its time and the SM clock was lower by about as much. Empty elsewhere: a
/// time is not excused for what is not known.
std::string clock_explanation(const Comparison& comparison, const Judgement& judgement,
                              const model::CaseResult& result, const model::BaselineCase& expected);

}  // namespace perfgate::gate

// SPDX-License-Identifier: Apache-2.0
// What else differs between a run and its baseline: board, driver, toolkit, tool, clock.
// Differences that may explain a change are reported; values are not compared if the policy refuses
// the difference.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gate/rule.hpp"
#include "model/baseline.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// Whether the board that measured the case is known on both sides, and differs.
bool other_board(const model::Run& run, const model::CaseResult& result,
                 const model::BaselineCase& expected);

/// "driver changed since the baseline: 570.1 → 580.1", for each that the policy does not accept
/// silently. What either side does not know is not a change.
std::vector<std::string> provenance_notes(const model::Run& run, const model::CaseResult& result,
                                          const model::BaselineCase& expected,
                                          const model::ChangePolicy& policy);

/// The first change that the policy refuses, in the same words; empty: none. Another board only
/// concerns timing.
std::string refused_provenance_change(const model::Run& run, const model::CaseResult& result,
                                      const model::BaselineCase& expected,
                                      model::MetricClass metric_class,
                                      const model::ChangePolicy& policy);

/// Mean SM clock of the batches that decide a judgement of the series; nothing unless all of them
/// recorded it.
std::optional<double> mean_clock_mhz(const model::MetricSeries& series);

/// Explains a timing that got worse by the clock, in one clause, if the cycles of
/// the case did not rise with its time and the SM clock was lower by about as much. Otherwise
/// empty: what is not known does not excuse a time.
std::string clock_explanation(const Comparison& comparison, const Judgement& judgement,
                              const model::CaseResult& result, const model::BaselineCase& expected);

/// The mirror case, for a timing that passed or improved: why a higher clock may hide a regression,
/// in one clause. Scaled to the baseline's clock the time would be beyond the tolerance, and the
/// cycles of the case rose by about as much or are not known on both sides. Memory does not follow
/// the SM clock, so this may also be all of a case that waits for memory: it is a doubt, not a
/// regression. Empty otherwise.
std::string hidden_by_clock(const Comparison& comparison, const Judgement& judgement,
                            const model::CaseResult& result, const model::BaselineCase& expected);

}  // namespace perfgate::gate

// SPDX-License-Identifier: Apache-2.0
// Whether the values of a run and of its baseline can be compared at all: what a case was measured
// as. Its suite says what of it is measured (model/measured_as) and which way is better; unit and
// method are the value's own. What both sides have and what cannot be compared is `invalid`: to
// compare nothing is no pass.
#pragma once

#include <optional>
#include <string>

#include "gate/baseline_set.hpp"
#include "model/baseline.hpp"
#include "model/run.hpp"

namespace perfgate::gate {

/// Why the baseline's values say nothing about the case, with the remedy: they are of what the
/// suite then named. Empty: they are not, or it is not known.
std::string measured_as_another(const model::CaseResult& result,
                                const model::BaselineCase& expected);

/// Which way was better of the metric when the baseline's value was taken. Nothing: a suite states
/// it, and the baseline does not say what that suite stated.
std::optional<model::Direction> direction_then(const StoredBaseline& stored,
                                               const model::CaseResult& result,
                                               const model::BaselineCase& expected,
                                               const model::MetricDefinition& now);

/// Why the value cannot be compared with the baseline's: "its method is 'a' in the baseline and 'b'
/// in this run". Empty: it can.
std::string incomparable(const model::MetricSeries& baseline, const model::MetricSeries& measured,
                         std::optional<model::Direction> then, model::Direction now);

/// What a benchmark reports of a gated time with far fewer samples a process than in the baseline,
/// or with one, or with far more than in a base run. Empty: of none, or it is not known, as of a
/// baseline that has the means alone.
std::string other_sample_count(const model::CaseResult& result, const model::BaselineCase& expected,
                               bool is_base_run);

}  // namespace perfgate::gate

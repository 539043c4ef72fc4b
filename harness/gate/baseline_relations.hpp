// SPDX-License-Identifier: Apache-2.0
// Relations judged on a baseline's values in place of a run's: whether one needs to be measured
// although its cases are the baseline's (--changed-only).
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "gate/relations.hpp"
#include "model/baseline.hpp"
#include "model/run.hpp"

namespace perfgate::gate {

/// The instance with the baseline's values, once for each board that has all of them: values of
/// different boards are not mixed. Empty if no board has, or if a value would not be measured in
/// the same way now: by this perfgate and CUPTI, in the metric's unit, of what the suite states.
std::vector<model::SuiteResult> on_baseline(const model::Run& run, const CasesById& cases,
                                            const model::Relation& relation,
                                            const std::vector<std::string>& instance,
                                            const model::Baseline& baseline);

/// Whether nothing that the metric of the case depends on has changed since the baseline.
using IsBaselines = std::function<bool(const std::string& id, const std::string& metric)>;

/// The ids of the cases that must be measured for the relations of the suite: all of an instance,
/// unless every value of it is the baseline's and it holds on each board of these values.
std::set<std::string> needed_by_relations(const model::Run& run, const model::SuiteResult& suite,
                                          const model::Baseline& baseline,
                                          const IsBaselines& is_baselines);

}  // namespace perfgate::gate

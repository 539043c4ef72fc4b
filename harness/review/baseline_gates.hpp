// SPDX-License-Identifier: Apache-2.0
// What the suites of one state gate of the cases of a baseline.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/baseline.hpp"
#include "model/run.hpp"
#include "review/expectations.hpp"

namespace perfgate::review {

struct CaseGates {
    std::vector<model::GateRule> rules;  ///< of metrics that the baseline has
    std::map<std::string, model::MetricDefinition> definitions;  ///< of all its metrics
};

/// By case id. A case of no suite that can be read (its plugin is not known) is gated in all of its
/// metrics, by tolerances that suites usually state.
std::map<std::string, CaseGates> gates_of(const Expectations& state,
                                          const model::Baseline& baseline);

}  // namespace perfgate::review

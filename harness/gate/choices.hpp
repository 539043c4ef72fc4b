// SPDX-License-Identifier: Apache-2.0
// Cases that a compiler or an autotuner prepares: whether the processes of a run measured the same
// program.
#pragma once

#include <string>

#include "model/metric.hpp"
#include "model/run.hpp"

namespace perfgate::gate {

/// As model::varying_choices, of the case's processes.
std::string varying_choices(const model::CaseResult& result);

/// Why the metric says nothing of the case: its processes chose otherwise and differ in it by more
/// than the tolerance, or only one of them has it. Empty: it says something.
std::string hidden_by_choices(const model::CaseResult& result,
                              const model::MetricDefinition& definition,
                              const model::MetricSeries& series, const model::Tolerance& tolerance);

}  // namespace perfgate::gate

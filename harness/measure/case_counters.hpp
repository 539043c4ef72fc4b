// SPDX-License-Identifier: Apache-2.0
// From what was counted to the metrics of a case.
#pragma once

#include <string>
#include <vector>

#include "measure/backend.hpp"
#include "measure/case_settings.hpp"
#include "metrics/catalogue.hpp"
#include "model/run.hpp"

namespace perfgate::measure {

/// The requested metrics that are collected by counters.
std::vector<std::string> counter_metrics(const std::vector<std::string>& metrics);

/// Marks all counter metrics among `metrics` as not collected, with the reason.
void note_no_counters(model::CaseResult& result, const std::vector<std::string>& metrics,
                      const std::string& why);

/// Folds the values into the counter metrics of the case, and gives each kernel its own. `graph`:
/// all kernels were counted as one range, so that none has values of its own.
void store_counters(const metrics::Selection& selection, const CounterValues& values, bool graph,
                    const std::string& board, const CaseSettings& settings,
                    model::CaseResult& result);

}  // namespace perfgate::measure

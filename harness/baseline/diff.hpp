// SPDX-License-Identifier: Apache-2.0
// What would change: two sets of expectations of one suite, side by side. Says nothing of good or
// bad; that is the gate's business.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/baseline.hpp"
#include "model/run.hpp"

namespace perfgate::baseline {

struct MetricChange {
    std::string id;  ///< of the case
    std::string metric;
    std::optional<double> before, after;  ///< absent: that side does not have the metric
    std::string before_unit, after_unit;
    std::optional<double> change;  ///< fraction of `before`; absent where there is none
    std::string note;              ///< "method changed: event/cold → activity/cold"

    bool operator==(const MetricChange&) const = default;
};

struct BaselineDiff {
    std::vector<std::string> added, removed;  ///< ids of cases that one side has
    std::vector<MetricChange> changes;        ///< by case id, then metric
    std::size_t unchanged = 0;                ///< metrics of cases on both sides that are equal

    bool operator==(const BaselineDiff&) const = default;
};

BaselineDiff diff(const model::Baseline& before, const model::Baseline& after);

/// What a suite of a run measured, in the shape of a baseline, good or not.
model::Baseline measured_values(const model::Run& run, const model::SuiteResult& suite);

}  // namespace perfgate::baseline

// SPDX-License-Identifier: Apache-2.0
// The difference between two baselines of one suite. It is not judged; that is done by the gate.
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
    std::optional<double> before, after;  ///< absent: this side does not have the metric
    std::string before_unit, after_unit;
    std::optional<double> change;  ///< fraction of `before`; absent if there is none
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

/// The measured values of a suite of a run as a baseline, without checks.
model::Baseline measured_values(const model::Run& run, const model::SuiteResult& suite);

}  // namespace perfgate::baseline

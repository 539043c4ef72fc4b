// SPDX-License-Identifier: Apache-2.0
// The Plan: which cases are to be measured, and how. Made from suites by the suite room, carried
// out by the measure room.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/case.hpp"
#include "model/catalogue.hpp"
#include "model/run.hpp"

namespace perfgate::model {

struct PlannedCase {
    CaseSpec spec;
    Target target = Target::cuda;
    Submission submission = Submission::async;
    SourcePlace place;
    std::vector<std::string> tags;
    std::vector<std::string> metrics;  ///< sets expanded, in the suite's order, no duplicates
    std::vector<GateRule> gates;       ///< for this device key; every metric is in `metrics`
    std::uint64_t seed = 0;            ///< of the measured inputs
    double precision = 0.005;    ///< stop when the median is known to this fraction (95 % interval)
    double time_budget_s = 0.1;  ///< at most this much launching per kind of time
    /// What a self-test adds to each timed launch, as a fraction of the launch with the little that
    /// is added to all; absent: nothing is added to any.
    std::optional<double> added_work = std::nullopt;
    std::string skip_reason;  ///< not empty: known beforehand not to run (not built, capability)
    bool skipped_by_suite = false;  ///< the skip_reason is the suite's own
};

struct PlannedSuite {
    std::string name;
    std::string file;
    std::string description;
    bool partial = false;  ///< --filter or --tag left cases out
    std::vector<PlannedCase> cases;
    /// Of the cases of this target; an instance may name cases that --filter or --tag left out.
    std::vector<Relation> relations;
};

struct Plan {
    std::vector<PlannedSuite> suites;
};

}  // namespace perfgate::model

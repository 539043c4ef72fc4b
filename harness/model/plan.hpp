// SPDX-License-Identifier: Apache-2.0
// The Plan: which cases are to be measured, and how. Made from suites by the suite module, carried
// out by the measure module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/case.hpp"
#include "model/catalogue.hpp"
#include "model/measured_as.hpp"
#include "model/metric.hpp"
#include "model/run.hpp"
#include "model/subject.hpp"

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
    bool deterministic = false;  ///< verified by repeats too, which must be equal bit for bit
    /// What a self-test adds to each timed launch, as a fraction of the launch including the small
    /// work that every launch gets; absent: no work is added to any case.
    std::optional<double> added_work = std::nullopt;
    std::string skip_reason;  ///< not empty: known in advance not to run (not built, capability)
    bool skipped_by_suite = false;  ///< the skip_reason is the suite's own
    /// What it is about; by default a plugin's variant that only its spec names.
    std::shared_ptr<const Subject> subject = std::make_shared<const Subject>();
    /// The cases of a suite that share processes of their own, outside of perfgate's workers, have
    /// one number. Absent: a worker measures it.
    std::optional<std::size_t> group = std::nullopt;
    /// Not empty: why it is an error, whatever is measured.
    std::string problem = {};
    std::string log = {};         ///< of that problem
    MeasuredAs measured_as = {};  ///< its subject's, as every checkout has it
    std::string was = {};         ///< as CaseResult has it
};

struct PlannedSuite {
    std::string name;
    std::string file;
    std::string description;
    bool partial = false;  ///< --filter or --tag left cases out
    std::vector<PlannedCase> cases;
    /// For the cases of this target; an instance may name cases that --filter or --tag left out.
    std::vector<Relation> relations;
};

struct Plan {
    std::vector<PlannedSuite> suites;
};

}  // namespace perfgate::model

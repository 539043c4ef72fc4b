// SPDX-License-Identifier: Apache-2.0
// `perfgate selftest`: cases are slowed down by known amounts, and the verdicts of the gate are
// checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gate/self_test.hpp"
#include "model/environment.hpp"
#include "model/plan.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"
#include "runner/choice.hpp"

namespace perfgate::runner {

struct SelfTestRequest {
    std::vector<std::string> suites;  ///< files
    MeasuringChoice measuring;        ///< `out` has the runs: base, trial-1, …
    model::Policy policy;
    std::vector<double> sizes;  ///< slowdowns, fractions of a launch's time
    double tolerance = 0;       ///< of every time, a fraction
    std::size_t processes_of_base = baseline_processes;
    std::uint64_t seed = 0;  ///< determines which case gets which size in which trial
};

struct SelfTestOutcome {
    gate::SelfTestReport report;
    double wall_s = 0;
    model::Environment environment;
    bool interrupted = false;
    int exit_code = 0;
};

/// Throws as run_suites does.
SelfTestOutcome self_test(const SelfTestRequest& request);

/// Schema perfgate.selftest.
std::string write_json(const SelfTestOutcome& outcome, const SelfTestRequest& request);

/// For each case, the order in which it gets the sizes, one per trial: each size once, in a
/// different order for each case. `[case][trial]` is an index into the sizes.
std::vector<std::vector<std::size_t>> deal_sizes(std::size_t cases, std::size_t sizes,
                                                 std::uint64_t seed);

/// Reduces a plan to times: each case keeps the first time that it measures (gpu_time, gpu_span,
/// host_time), gated with `tolerance` in both directions; relations are left out. Cases that
/// measure no time are left out too.
void keep_times_alone(model::Plan& plan, double tolerance);

}  // namespace perfgate::runner

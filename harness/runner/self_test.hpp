// SPDX-License-Identifier: Apache-2.0
// `perfgate selftest`: cases made slower by known sizes, and what the gate finds of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gate/self_test.hpp"
#include "model/environment.hpp"
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
    std::uint64_t seed = 0;  ///< who gets which size when
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

}  // namespace perfgate::runner

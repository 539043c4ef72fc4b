// SPDX-License-Identifier: Apache-2.0
// A canary: one quick case of a run is measured once more, slowed down far beyond the tolerance. If
// the gate does not report that as a regression, its passes for the other cases prove nothing. A
// pure function of documents.
#pragma once

#include <string>

#include "gate/gate.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

struct Canary {
    std::string suite;
    std::string id;
    std::string metric;  ///< a time that the suite gates
    double added = 0;    ///< as model::PlannedCase has it: beyond the tolerance, and a launch more
    BaselineSet baselines;  ///< the case as measured by the run
};

/// The result in one sentence. `found`: both verdict and exit code report a regression.
struct CanaryResult {
    bool found = false;
    std::string sentence;
};
CanaryResult judge_canary(const Canary& canary, const model::VerdictDocument& verdict);

}  // namespace perfgate::gate

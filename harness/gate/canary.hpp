// SPDX-License-Identifier: Apache-2.0
// A canary: one quick case of a run is measured once more, slower by far more than the gate lets
// pass. A gate that does not call that a regression cannot be believed where it passes the others.
// A pure function of documents.
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
    BaselineSet baselines;  ///< the case as the run measured it
};

/// What the gate made of it, in one sentence. `found` says whether it is a regression, and told as
/// one by verdict and exit code.
struct CanaryResult {
    bool found = false;
    std::string sentence;
};
CanaryResult judge_canary(const Canary& canary, const model::VerdictDocument& verdict);

}  // namespace perfgate::gate

// SPDX-License-Identifier: Apache-2.0
// A canary: one quick case of a run is measured once more, slowed down by twice what the gate
// claims to detect of it. If the gate does not report that as a regression, its passes for the
// other cases prove nothing. A pure function of documents.
#pragma once

#include <cstddef>
#include <string>

#include "gate/gate.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

struct Canary {
    std::string suite;
    std::string id;
    std::string metric;  ///< a time that the suite gates
    double added = 0;    ///< as model::PlannedCase has it: twice what the gate claims to detect
    std::size_t processes = 0;  ///< to measure it in; 0: no number of them lets the gate fail
    BaselineSet baselines;      ///< the case as measured by the run
};

/// How many processes the rank-sum test needs for this level against so many; 0: more than a canary
/// may take.
std::size_t processes_of_canary(std::size_t against, double level);

/// The result in one sentence. `found`: both verdict and exit code report a regression.
struct CanaryResult {
    bool found = false;
    std::string sentence;
};
CanaryResult judge_canary(const Canary& canary, const model::VerdictDocument& verdict);

}  // namespace perfgate::gate

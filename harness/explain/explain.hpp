// SPDX-License-Identifier: Apache-2.0
// Why a case became slower or faster: what moved along with its time, and what that suggests. Pure:
// from a Run and the gate's verdict on it, which carries the baseline's values.
#pragma once

#include <vector>

#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::explain {

/// What the rules find in one case, then where it stands under the machine's ceilings. Where its
/// time moved: first what moved the same way ("unexplained" where nothing did), then, as "but …",
/// what moved the other way. Where the case passed, that nothing moved, then as "but …" what did
/// within the tolerances. Empty if nothing was compared.
std::vector<model::Cause> explain_case(const model::CaseVerdict& verdict,
                                       const model::CaseResult& result,
                                       const model::Ceilings& ceilings);

enum class Which {
    moved,  ///< cases that regressed, improved or are inconclusive
    all,
};

/// Fills in CaseVerdict::why. `document` is the gate's answer to `run`: cases in the same order.
void explain(const model::Run& run, Which which, model::VerdictDocument& document);

}  // namespace perfgate::explain

// SPDX-License-Identifier: Apache-2.0
// Why a case became slower or faster: what changed with its time, and what that suggests. A pure
// function of a Run and the gate's verdict on it, which contains the baseline's values.
#pragma once

#include <vector>

#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::explain {

/// What the rules find in one case, then its position relative to the machine's ceilings. If its
/// time changed: first the changes in the same direction ("unexplained" if there are none), then,
/// after "but …", those in the opposite direction, then what got worse or better besides the time.
/// If the case passed: that nothing moved, then,
/// after "but …", changes within the tolerances. Empty if nothing was compared.
std::vector<model::Cause> explain_case(const model::CaseVerdict& verdict,
                                       const model::CaseResult& result,
                                       const model::Ceilings& ceilings);

enum class Which {
    moved,  ///< cases that regressed, improved or are inconclusive
    all,
};

/// Fills in CaseVerdict::why, the groups of each suite and the summaries. `document` is the gate's
/// answer to `run`: cases in the same order.
void explain(const model::Run& run, Which which, model::VerdictDocument& document);

}  // namespace perfgate::explain

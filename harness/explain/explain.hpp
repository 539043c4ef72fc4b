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

// Groups the cases that need attention by what users feel, the reason and the kernel, and writes
// the sentence about them.

/// Fills in SuiteVerdict::groups from the cases' verdicts and explanations. The worst group comes
/// first, and in it the worst case. `run` names the kernels.
void group_cases(const model::Run& run, model::VerdictDocument& document);

// The sentence that every report begins with: "3 cases slower by up to 27.8 %: more registers
// (38 → 102), so that fewer warps fit, in softmax_block; 10 more execute 0.6 to 2.9 % more
// instructions."

/// Fills in the summaries of the document and of each suite, from their groups.
void write_headlines(model::VerdictDocument& document);

}  // namespace perfgate::explain

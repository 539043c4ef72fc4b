// SPDX-License-Identifier: Apache-2.0
// Groups the cases that need attention by what users feel, the reason and the kernel, and writes
// the sentence about them.
#pragma once

#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::explain {

/// Fills in SuiteVerdict::groups from the cases' verdicts and explanations. The worst group comes
/// first, and in it the worst case. `run` names the kernels.
void group_cases(const model::Run& run, model::VerdictDocument& document);

// The sentence that every report begins with: "3 cases slower by up to 27.8 %: more registers
// (38 → 102), so that fewer warps fit, in softmax_block; 10 more execute 0.6 to 2.9 % more
// instructions."

/// Fills in the summaries of the document and of each suite, from their groups.
void write_headlines(model::VerdictDocument& document);

}  // namespace perfgate::explain

// SPDX-License-Identifier: Apache-2.0
// The sentence that every report begins with: "3 cases slower by up to 27.8 %: more registers
// (38 → 102), so that fewer warps fit, in softmax_block; 10 more execute 0.6 to 2.9 % more
// instructions."
#pragma once

#include "model/verdict.hpp"

namespace perfgate::explain {

/// Fills in the summaries of the document and of each suite, from their groups.
void write_headlines(model::VerdictDocument& document);

}  // namespace perfgate::explain

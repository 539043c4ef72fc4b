// SPDX-License-Identifier: Apache-2.0
// Finds the instruction that makes a sampled warp wait.
#pragma once

#include <vector>

#include "model/kernel_code.hpp"

namespace perfgate::sass {

/// The samples of a listing's instructions, each at the instruction that causes it. A warp is
/// sampled at the instruction that it issues next: one that waits for a result counts for the
/// load, or the like, that makes the result, and one that waits at a barrier or for a branch for
/// the instruction before. Where the code does not show a cause, or shows several at different
/// source lines, the samples stay, and those of a warp that waits for its stores at its end are
/// left out. Without `of_half`.
std::vector<model::Samples> samples_by_cause(const model::Listing& listing);

}  // namespace perfgate::sass

// SPDX-License-Identifier: Apache-2.0
// Finds the elements that two sequences have in common, in the same order.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace perfgate::sass {

/// Pairs of the positions of equal elements, rising on both sides: a longest sequence of them
/// (Myers, O(ND)). Where more than `most_edits` would be left over between two runs of elements
/// that are unique on both sides, none of that part is paired.
std::vector<std::pair<std::size_t, std::size_t>> align(std::span<const int> before,
                                                       std::span<const int> after,
                                                       std::size_t most_edits = 3000);

}  // namespace perfgate::sass

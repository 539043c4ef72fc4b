// SPDX-License-Identifier: Apache-2.0
// Checks whether aligned instructions take the same values, whatever registers hold these.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "model/kernel_code.hpp"
#include "sass/normalised.hpp"

namespace perfgate::sass {

struct Side {
    const model::Listing& listing;
    const std::vector<Normalised>& normalised;  ///< of its instructions
};

/// For each pair of aligned instructions: whether an operand comes from another instruction, a
/// branch leads elsewhere, or a loop hands on another value. Follows the order of the code and how
/// many registers a result has, by its opcode: where that is not known, a pair may be named though
/// nothing differs.
std::vector<bool> differing_operands(const Side& before, const Side& after,
                                     const std::vector<std::pair<std::size_t, std::size_t>>& pairs);

}  // namespace perfgate::sass

// SPDX-License-Identifier: Apache-2.0
// How far results may be off from their references: the `rtol` and `atol` that a Python file
// states, read from its text. What is no literal is compared as text, with what the file assigns to
// its names.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kinds/python/tokens.hpp"

namespace perfgate::python {

/// Those of one name.
struct StatedTolerances {
    std::vector<double> literals;  ///< in the file's order
    std::string others;            ///< "RTOL[dtype] where RTOL = {…}"; empty: all are literals
    bool unread = false;           ///< there is more than is read
    std::size_t count = 0;         ///< of both
    std::size_t line = 0;          ///< of the first
};

struct Tolerances {
    StatedTolerances rtol, atol;
};

/// Tokens from `begin` to before `end`.
struct TokenRange {
    std::size_t begin = 0, end = 0;
};

/// The tolerances of each range, which is a workload's function, and those that the file states
/// outside of all.
/// The ranges are in order and apart.
std::vector<Tolerances> tolerances_of(const std::vector<Token>& tokens,
                                      const std::vector<TokenRange>& functions);

/// A tolerance that a later state may have loosened.
struct LooserTolerance {
    std::string name, was, is;  ///< "rtol", "0.001", "0.1"
    std::size_t line = 0;
};

/// Literals are compared one by one; if there are more or fewer of them, or others changed, a
/// looser one is not ruled out.
std::vector<LooserTolerance> looser_tolerances(const Tolerances& before, const Tolerances& after);

}  // namespace perfgate::python

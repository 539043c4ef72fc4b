// SPDX-License-Identifier: Apache-2.0
// Transposing on the host, and saying whether an output is right. Nothing is computed, so nothing
// is rounded: right means equal to the bit, and every element is looked at.
#pragma once

#include <cstdint>
#include <string>

#include "transpose/problem.hpp"

namespace transpose {

// in and out in the problem's storage type; they do not overlap.
void transpose_reference(const Problem& problem, const void* in, void* out);

struct CheckReport {
    bool passed = false;
    std::string detail;  // what was checked, or the first element that is wrong
};

// Whether `out` is the transpose of the input that fill_host makes from the seed.
CheckReport check_transposed(const Problem& problem, std::uint64_t seed, const void* out);

// Whether `out` is that input as it stands.
CheckReport check_copied(const Problem& problem, std::uint64_t seed, const void* out);

}  // namespace transpose

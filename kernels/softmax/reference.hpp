// SPDX-License-Identifier: Apache-2.0
// Softmax on the host in float64, and saying whether an output is right.
//
// What is accepted
//   Every checked element within tolerance(dtype) of the float64 value, relatively, plus the type's
//   rounding near zero. Up to 2^22 elements that is all of them. Beyond, it is the first, the last
//   and random rows; of every other row it is two facts that together say the same: its elements
//   sum to 1, and 32 elements at random columns stand to the row's first as exp(x_j - x_0). Each
//   element takes part in the sum, where NaN and whatever was left out shows.
//
// Where the tolerance comes from
//   An argument x - max of at most 8, times log2(e), errs by 2^-24 of its size: 7e-7 in the
//   exponential, which adds 2 units in the last place of its own. The sum of positive terms errs by
//   less than its longest chain of additions, 32 in a thread and 10 over the block, times 2^-24.
//   Together 4e-6 at worst; accepted are 1e-5 (f32), and half a unit more (f16).
#pragma once

#include <cstdint>
#include <string>

#include "softmax/problem.hpp"

namespace softmax {

double tolerance(Dtype dtype);

// in and out in the problem's storage type.
void softmax_reference(const Problem& problem, const void* in, void* out);

struct CheckReport {
    bool passed = false;
    std::string detail;        // what was checked, or the first thing that is wrong
    double worst_share = 0.0;  // largest error over its allowance
};

// Whether `out` is the softmax of the logits of the seed.
CheckReport check_softmax(const Problem& problem, std::uint64_t seed, const void* out);

// Whether `out` is those logits as they stand.
CheckReport check_copied(const Problem& problem, std::uint64_t seed, const void* out);

// The logits of the seed in their storage type.
void fill_logits(const Problem& problem, std::uint64_t seed, void* storage);

}  // namespace softmax

// SPDX-License-Identifier: Apache-2.0
// Whether an output is the attention of a seed's operands, up to the rounding that a variant owns
// to.
//
// With weights w_i, scores s_i and values v_i of a query, rounding moves the output o by about
//     sum_i w_i a_i v_i + sum_i w_i s_i b_i (v_i - o),    |a_i| <= u, |b_i| <= r,
// where u = 2^-8 rounds the weights to bf16 and r the scores; then o itself is rounded to bf16. The
// roundings are independent, so their squares add:
//     spread^2 = 2 (sum_i c_i v_i^2 + o^2 sum_i c_i),     c_i = w_i^2 (u^2 + r^2 s_i^2).
// An element may be u |o| + 6 spread away, and a row, whose elements cannot all be unlucky, by the
// Euclidean norm of (u o, spread). What is too little to see in any row, such as a few keys of
// zeros beyond the end, makes all of them smaller: so the size of the output as a whole, the sum of
// its product with o over all rows that were checked, is held to 4 times what rounding adds to it,
//     spread^2 = sum over rows of sum_i c'_i + u^2 |o o|^2,
//     c'_i = w_i^2 (u^2 (v_i . o)^2 + r^2 s_i^2 ((v_i - o) . o)^2).
#pragma once

#include <cstdint>
#include <string>

#include "attention/problem.hpp"

namespace attention {

// How a variant holds the scores between the two products, as the largest relative rounding error.
inline constexpr double kScoresInF32 = 0x1p-20;  // sums of up to 128 products, each in f32
inline constexpr double kScoresInBf16 = 0x1p-8;

struct CheckReport {
    bool passed = false;
    std::string detail;
};

// output: bf16 bits of O for the operands that `seed` stands for. Small problems are checked row by
// row, large ones by rows sampled from every head; every element must be a number that a mean of
// values can be. threads 0: one per core.
CheckReport check_output(const Problem&, std::uint64_t seed, const std::uint16_t* output,
                         double score_rounding, unsigned threads = 0);

}  // namespace attention

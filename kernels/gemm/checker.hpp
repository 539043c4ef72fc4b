// SPDX-License-Identifier: Apache-2.0
// Says whether C is A * B, in float64 on the host, for host and CUDA variants alike. No CUDA here.
//
// What is accepted
//   1. Relative Frobenius error below the type's tolerance (f32 1e-5, tf32 1e-3, f16, bf16 1e-2,
//      e4m3 5e-2).
//   2. Every element checked one by one: |c - ref| <= tolerance * (|A| |B|)_ij.
//   3. The same element: |c - ref| <= 32 * e * s_i, far tighter than 2 for the short types.
//   4. Every band of columns of every row: |sum_j r_j (c - ref)_ij| <= 16 * e * s_i * sqrt(width),
//      r_j = +-1 at random (Freivalds' check, band by band).
// A NaN or an infinity fails every comparison it meets, and 4 meets every element.
//
// Where 3 and 4 come from
//   The inputs are exactly representable and no product is rounded by itself: the only error a
//   right kernel makes is rounding while it accumulates. With the row's scale s_i = |a_i|_2 *
//   rms(B), which is the rms of c_ij over signs of A and B, that error has rms e * s_i, where, u
//   being 2^-24:
//     * f32, on the CUDA cores: k roundings to nearest of partial sums that grow as sqrt(t) * s_i /
//     sqrt(k):
//       each errs by about 0.4 u of the sum, together e = 0.4 u sqrt(k / 2) = 0.28 u sqrt(k);
//     * tf32, f16 and bf16, on tensor cores: they add q products at a time to a sum of f32's 24
//     bits
//       (q = 4 for tf32, 8 for the others) and truncate instead. Truncation is biased towards zero,
//       about 0.7 u of the sum each time, and the bias adds up along the walk of the partial sums:
//       e = 0.7 u (k / q) / sqrt(3) = 0.4 u k / q.
//     * e4m3, on tensor cores of 9.0: the accumulator is f32 in name, but of the sum that is
//     carried
//       from step to step only about 14 bits survive, and q = 32. wgmma and cuBLAS alike go on with
//       it over all of k: one rounding of 0.5 * 2^-14 and the bias of the line above,
//       e = 2^-14 (0.5 + 0.4 k / 32). At k = 4096 that is 0.3 % of s_i, 240 times bf16's error.
//   accumulation_error() has all terms. The errors of single elements have nearly exponential
//   tails, for the sums that stray far also round coarsely (f32, k = 4096: 3.5, 5.4 and 7.1 rms at
//   1e-2, 1e-3 and 1e-4): 32 rms is out of reach of any number of elements. Given the errors e_ij
//   of a row's band, Hoeffding's inequality over the random r bounds the chance of a false alarm by
//   2 exp(-t^2 / (2 sum_j e_ij^2)). The threshold is 8 standard deviations of twice the model:
//   below 1e-13 per band, 1e-7 over the two million bands of the largest case, even if the model is
//   wrong by a factor of two.
//   In return one element wrong by d in an otherwise right row is found for certain once d exceeds
//   the threshold plus the band's own noise. The bands are as wide as that threshold stays below
//   half a per cent of s_i, so an error of one per cent of the row's scale is found wherever it is.
//   Their number is capped, which shows beyond 4096^3, and of e4m3 everywhere: from its errors one
//   wrong element stands out once it is off by 5 % of s_i at 1024^3, by 80 % at 4096^3 and by 4.5
//   s_i at 8192^3. The report says what is found. Elements that are checked one by one, rows, edges
//   and tile corners, are held to 32 e: 10 % of s_i at k = 4096.
//
//   Measured on an H100 (all variants, cuBLAS included, up to 4096 x 4096 x 16384): 1.0 of the
//   model for f32, 0.1 to 0.4 for the tensor cores, no element beyond 0.4 of its
//   allowance.
#pragma once

#include <cstdint>
#include <string>

#include "gemm/problem.hpp"

namespace gemm {

// Allowed of a checked element, in expected rms errors.
inline constexpr double kElementRms = 32.0;

// Frobenius and elementwise tolerance of the type.
double tolerance(Dtype dtype);

// Expected rms of the accumulation error of one element, relative to its row's scale.
double accumulation_error(Dtype dtype, int k);

struct CheckReport {
    bool passed = false;
    std::string detail;           // what was checked, or the first thing that is wrong
    double relative_error = 0.0;  // Frobenius; over all elements, or estimated from the bands
    double worst_share = 0.0;     // largest error of a checked element or band over its allowance
    double surely_found = 0.0;    // least error of a single element, over its row's scale, that
                                  // is found wherever it is
};

// a, b: the inputs widened to f32 (every type's values are), c: the output. `seed` draws the
// sampled rows and the signs. threads 0: one per core.
CheckReport check_product(const Problem& problem, const float* a, const float* b, const float* c,
                          std::uint64_t seed, unsigned threads = 0);

// The same for the inputs that fill_host makes from `input_seed`.
CheckReport check_product_of_seed(const Problem& problem, std::uint64_t input_seed, const float* c,
                                  unsigned threads = 0);

}  // namespace gemm

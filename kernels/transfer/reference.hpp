// SPDX-License-Identifier: Apache-2.0
// The computation on the host, and saying whether an output is right.
#pragma once

#include <cstdint>
#include <string>

#include "transfer/problem.hpp"

namespace transfer {

// In float64, step by step, one rounding at the end.
void run_reference(const Problem& problem, const float* in, float* out);

void fill_input(const Problem& problem, std::uint64_t seed, float* in);

struct CheckReport {
    bool passed = false;
    std::string detail;
    double worst_share = 0.0;  // largest error over what is allowed
};

// Whether `out` is what the seed's input becomes, every element, against the closed form
// 1/2 + kFactor^steps (x - 1/2) in float64. A step of f32 rounds a number below 1 once, which is at
// most 2^-25, and later steps shrink it: all errors together stay below
// 2^-25 min(steps, 1 / (1 - kFactor)). One unit is allowed on top.
CheckReport check_result(const Problem& problem, std::uint64_t seed, const float* out);

}  // namespace transfer

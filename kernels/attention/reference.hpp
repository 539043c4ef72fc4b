// SPDX-License-Identifier: Apache-2.0
// Attention in float64, a query at a time: what every variant is compared with, and the host
// variant.
#pragma once

#include <cstdint>
#include <vector>

#include "attention/problem.hpp"

namespace attention {

// One query's view of its keys. `scores` are scaled; `weights` are their softmax: positive, with
// sum 1.
struct Attended {
    std::vector<double> scores;
    std::vector<double> weights;
    std::vector<double> output;  // head_size elements
};

// query: head_size elements; keys and values: key_count rows of them. At least one key.
void attend(const float* query, const float* keys, const float* values, int key_count,
            int head_size, double scale, Attended& result);

// All of it, in one thread; operands and output are bf16 bits.
void attend_all(const Problem&, const std::uint16_t* q, const std::uint16_t* k,
                const std::uint16_t* v, std::uint16_t* o);

}  // namespace attention

// SPDX-License-Identifier: Apache-2.0
// The CUDA variants, out = softmax(in), and their input.
#pragma once

#include <cstdint>

#include "common/cuda.hpp"
#include "softmax/problem.hpp"

namespace softmax {

common::Launch prepare_three_pass(const Problem&, const void* in, void* out);
common::Launch prepare_online(const Problem&, const void* in, void* out);

// Fills the input on the device with the values of fill_logits, on the default stream.
void fill_logits_device(const Problem&, std::uint64_t seed, void* in);

}  // namespace softmax

// SPDX-License-Identifier: Apache-2.0
// The kernels that the variants launch.
#pragma once

#include <cstdint>

#include "common/cuda.hpp"
#include "launch/problem.hpp"

namespace launch {

// Enqueues kernel number `kernel` of the chain. The first reads `in`, the others what stands in
// `out`, so that a launch leaves its input as it was.
void enqueue_step(const Problem&, int kernel, const std::uint32_t* in, std::uint32_t* out,
                  cudaStream_t);

// Fills the input on the device with the values of fill_input, on the default stream; the key is of
// stream_key.
void fill_input_device(const Problem&, std::uint64_t key, std::uint32_t* in);

}  // namespace launch

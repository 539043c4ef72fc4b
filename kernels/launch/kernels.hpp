// SPDX-License-Identifier: Apache-2.0
// The kernels that the variants launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "launch/problem.hpp"

namespace launch {

// Enqueues kernel number `kernel` of the chain. The first reads `in`, the others what stands in
// `out`, so that a launch leaves its input as it was.
cudaError_t enqueue_step(const Problem&, int kernel, const std::uint32_t* in, std::uint32_t* out,
                         cudaStream_t);

// Fills the input on the device with the values of fill_input; the key is of stream_key.
cudaError_t fill_input_device(const Problem&, std::uint64_t key, std::uint32_t* in, cudaStream_t);

}  // namespace launch

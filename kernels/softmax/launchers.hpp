// SPDX-License-Identifier: Apache-2.0
// The CUDA variants behind one signature.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "softmax/problem.hpp"

namespace softmax {

// Enqueues out = softmax(in) on the stream.
using Launcher = cudaError_t (*)(const Problem&, const void* in, void* out, cudaStream_t);

cudaError_t launch_three_pass(const Problem&, const void* in, void* out, cudaStream_t);
cudaError_t launch_online(const Problem&, const void* in, void* out, cudaStream_t);

// Fills the input on the device with the values of fill_logits.
cudaError_t fill_logits_device(const Problem&, std::uint64_t seed, void* storage, cudaStream_t);

}  // namespace softmax

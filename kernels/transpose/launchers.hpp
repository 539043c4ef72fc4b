// SPDX-License-Identifier: Apache-2.0
// The CUDA variants behind one signature.
#pragma once

#include <cuda_runtime_api.h>

#include "transpose/problem.hpp"

namespace transpose {

// Enqueues out = transpose(in) on the stream.
using Launcher = cudaError_t (*)(const Problem&, const void* in, void* out, cudaStream_t);

cudaError_t launch_naive(const Problem&, const void* in, void* out, cudaStream_t);
cudaError_t launch_shared(const Problem&, const void* in, void* out, cudaStream_t);
cudaError_t launch_padded(const Problem&, const void* in, void* out, cudaStream_t);
cudaError_t launch_swizzled(const Problem&, const void* in, void* out, cudaStream_t);

}  // namespace transpose

// SPDX-License-Identifier: Apache-2.0
// The device's side behind plain functions. Views hold device memory here.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "render_backward/splat.hpp"

namespace render_backward {

// Fills what a View says that the forward pass left (range: lidar only).
cudaError_t render_forward(const View&, float* light, float* range, std::uint32_t* walked,
                           cudaStream_t);

// Adds the gradients of the view, kFields for each Gaussian, to what is there.
using Backward = cudaError_t (*)(const View&, float* gradients, cudaStream_t);

cudaError_t backward_monolithic(const View&, float* gradients, cudaStream_t);
cudaError_t backward_split(const View&, float* gradients, cudaStream_t);

// What backward_split wants to be told to the device, once.
cudaError_t prepare_split();

}  // namespace render_backward

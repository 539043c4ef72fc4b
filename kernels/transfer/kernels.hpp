// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace transfer {

// Enqueues `steps` steps of each of count elements.
cudaError_t enqueue_compute(std::size_t count, int steps, const float* in, float* out,
                            cudaStream_t stream);

}  // namespace transfer

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "common/cuda.hpp"

namespace transfer {

// Enqueues `steps` steps of each of count elements.
void enqueue_compute(std::size_t count, int steps, const float* in, float* out, cudaStream_t);

}  // namespace transfer

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <array>

#include "interpolate/problem.hpp"

namespace interpolate {

// Where each field's frames are read and its result is written.
struct Buffers {
    const float* times;
    std::array<const float*, kFields> frames;
    std::array<float*, kFields> result;
};

// Enqueues all of it as one kernel.
void interpolate_fused(const Problem&, const Buffers&, float time, cudaStream_t);

}  // namespace interpolate

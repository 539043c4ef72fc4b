// SPDX-License-Identifier: Apache-2.0
#pragma once

__device__ __forceinline__ float loaded_and_squared(const float* x) {
    const float value = x[threadIdx.x];
    return value * value + 2;
}

template <int N>
__global__ void of_the_header(float* y) {  // begins: _Z13of_the_headerILi3EEvPf
    y[threadIdx.x] = loaded_and_squared(y) * N;
}

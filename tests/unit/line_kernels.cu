// SPDX-License-Identifier: Apache-2.0
// Kernels whose line table line_table_test reads. "begins:" marks where it must say that they
// begin.
#include "../unit/line_kernels.cuh"

__device__ __noinline__ float own_function(float x) {
    return x * x * 5 + 1;
}

extern "C" __global__ void begins_inlined(float* y, const float* x) {  // begins: begins_inlined
    y[threadIdx.x] = loaded_and_squared(x);
}

// Its section has the function's code, too, whose lines come before.
extern "C" __global__ void calls(float* y) {  // begins: calls
    y[threadIdx.x] = own_function(y[threadIdx.x]);
}

template __global__ void of_the_header<3>(float*);

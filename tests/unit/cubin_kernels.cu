// SPDX-License-Identifier: Apache-2.0
// Kernels whose machine code cubin_test compares: built several times with other definitions.

#ifndef FACTOR
#define FACTOR 2
#endif
#ifndef HELPER_FACTOR
#define HELPER_FACTOR 5
#endif

__device__ __noinline__ float helper(float x) {
    return x * x * HELPER_FACTOR + 1;
}

extern "C" __global__ void scale(float* y, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) y[i] *= FACTOR;
}

extern "C" __global__ void through_helper(float* y, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) y[i] = helper(y[i]);
}

#ifdef SECOND_KERNEL
#ifndef SECOND_TABLE
#define SECOND_TABLE 0
#endif
__constant__ double second_table[16] = {SECOND_TABLE};

extern "C" __global__ void a_second_kernel(double* y, int n) {
    __shared__ double staged[128];
    staged[threadIdx.x] = y[threadIdx.x] * second_table[threadIdx.x % 16] * 3.14159265358979;
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < n) y[threadIdx.x] = staged[127 - threadIdx.x];
}
#endif

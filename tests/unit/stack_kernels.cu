// SPDX-License-Identifier: Apache-2.0
// Kernels with stacks, whose sizes stack_size_test compares with what compiler and linker say.

template <int N>
__device__ __forceinline__ float shuffled(float* y, int n) {
    float a[N];
    for (int i = 0; i < N; ++i) a[i] = y[i];
    for (int i = 0; i < n; ++i) a[(i * 7) % N] += a[n % N] + i;
    return a[n % N];
}

__device__ __noinline__ float with_stack(float* y, int n) {
    return shuffled<32>(y, n);
}

__device__ __noinline__ int recursive(int* y, int n) {
    return n < 2 ? y[n] : recursive(y, n - 1) + recursive(y, n - 2) * y[n];
}

extern "C" __global__ void no_stack(float* y) {
    y[threadIdx.x] *= 2;
}

extern "C" __global__ void own_stack(float* y, int n) {
    y[threadIdx.x] = shuffled<64>(y, n);
}

extern "C" __global__ void own_and_called_stack(float* y, int n) {
    y[threadIdx.x] = shuffled<64>(y, n) + with_stack(y, n);
}

extern "C" __global__ void unknown_if_linked(int* y, int n) {
    y[threadIdx.x] = recursive(y, n);
}

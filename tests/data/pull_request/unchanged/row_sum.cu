// SPDX-License-Identifier: Apache-2.0
// The sum of each row: a block a row, a float4 a step, then shuffles.
#include "kernels.hpp"

namespace camera {
namespace {

constexpr int kThreads = 256;

__device__ float sum_warp(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    }
    return value;
}

__global__ void __launch_bounds__(kThreads)
    row_sum_kernel(const float* __restrict__ in, float* __restrict__ out, int cols) {
    __shared__ float totals[kThreads / 32];
    const auto* row = reinterpret_cast<const float4*>(in + std::int64_t{blockIdx.x} * cols);
    float sum = 0;
    for (int i = threadIdx.x; i < cols / 4; i += kThreads) {
        const float4 v = row[i];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    sum = sum_warp(sum);
    if (threadIdx.x % 32 == 0) totals[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    sum = sum_warp(threadIdx.x < kThreads / 32 ? totals[threadIdx.x] : 0);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

}  // namespace

cudaError_t row_sum(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
    row_sum_kernel<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(in, out, cols);
    return cudaGetLastError();
}

}  // namespace camera

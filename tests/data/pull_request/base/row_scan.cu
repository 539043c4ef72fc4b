// SPDX-License-Identifier: Apache-2.0
// Running sums along rows, the first pass of an integral image. A thread sums 4 values, a warp its
// threads' sums by shuffles, the block its warps' sums through shared memory.
#include "kernels.hpp"

namespace camera {
namespace {

constexpr int kThreads = kScanTile / 4;
constexpr int kWarps = kThreads / 32;

/// The sum of the values of the lanes up to this one.
__device__ float scan_warp(float value, int lane) {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const float other = __shfl_up_sync(0xffffffffu, value, distance);
        if (lane >= distance) value += other;
    }
    return value;
}

__global__ void __launch_bounds__(kThreads)
    row_scan_kernel(const float* __restrict__ in, float* __restrict__ out, int cols) {
    __shared__ float totals[2][kWarps];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const std::int64_t row = std::int64_t{blockIdx.x} * cols;
    float carry = 0;
    // The totals change places, so that one barrier a tile is enough.
    for (int tile = 0, turn = 0; tile < cols; tile += kScanTile, turn ^= 1) {
        float4 v = reinterpret_cast<const float4*>(in + row + tile)[threadIdx.x];
        v.y += v.x;
        v.z += v.y;
        v.w += v.z;
        const float upto = scan_warp(v.w, lane);
        if (lane == 31) totals[turn][warp] = upto;
        __syncthreads();
        float before = carry;
#pragma unroll
        for (int w = 0; w < kWarps; ++w) {
            if (w < warp) before += totals[turn][w];
            carry += totals[turn][w];
        }
        before += upto - v.w;
        reinterpret_cast<float4*>(out + row + tile)[threadIdx.x] =
            make_float4(before + v.x, before + v.y, before + v.z, before + v.w);
    }
}

}  // namespace

cudaError_t row_scan(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
    row_scan_kernel<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(in, out, cols);
    return cudaGetLastError();
}

}  // namespace camera

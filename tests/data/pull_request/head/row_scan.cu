// SPDX-License-Identifier: Apache-2.0
// Running sums along rows, the first pass of an integral image. A block scans its tile in shared
// memory: in each step every value adds the one that lies twice as far back as in the step before.
#include "kernels.hpp"

namespace camera {
namespace {

constexpr int kThreads = kScanTile / 4;

__global__ void __launch_bounds__(kThreads)
    row_scan_kernel(const float* __restrict__ in, float* __restrict__ out, int cols) {
    __shared__ float4 storage[2][kThreads];
    const std::int64_t row = std::int64_t{blockIdx.x} * cols;
    float carry = 0;
    for (int tile = 0; tile < cols; tile += kScanTile) {
        storage[0][threadIdx.x] = reinterpret_cast<const float4*>(in + row + tile)[threadIdx.x];
        __syncthreads();
        int turn = 0;
        for (int distance = 1; distance < kScanTile; distance *= 2, turn ^= 1) {
            const auto* from = reinterpret_cast<const float*>(storage[turn]);
            auto* to = reinterpret_cast<float*>(storage[turn ^ 1]);
            for (int i = threadIdx.x; i < kScanTile; i += kThreads) {
                to[i] = i < distance ? from[i] : from[i] + from[i - distance];
            }
            __syncthreads();
        }
        const float4 v = storage[turn][threadIdx.x];
        reinterpret_cast<float4*>(out + row + tile)[threadIdx.x] =
            make_float4(carry + v.x, carry + v.y, carry + v.z, carry + v.w);
        carry += storage[turn][kThreads - 1].w;
        __syncthreads();
    }
}

}  // namespace

cudaError_t row_scan(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
    row_scan_kernel<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(in, out, cols);
    return cudaGetLastError();
}

}  // namespace camera

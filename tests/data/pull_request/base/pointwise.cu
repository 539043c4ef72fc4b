// SPDX-License-Identifier: Apache-2.0
// A 1x1 convolution from 64 features to 64, then bias and SiLU on what is still in registers. A
// block makes 64 pixels, a thread 4 features of 4 of them.
#include "kernels.hpp"

namespace camera {
namespace {

constexpr int kThreads = 256;
// Rows of x begin in different banks.
constexpr int kPitch = kFeatures + 4;

__device__ float silu(float x) {
    return x / (1.0f + __expf(-x));
}

__global__ void __launch_bounds__(kThreads)
    pointwise_kernel(const float* __restrict__ x, const float* __restrict__ weights,
                     const float* __restrict__ bias, float* __restrict__ out) {
    __shared__ float pixels[kPixelTile * kPitch];
    __shared__ float4 rows[kFeatures * kFeatures / 4];
    constexpr int vectors = kFeatures / 4;
    const std::int64_t first = std::int64_t{blockIdx.x} * kPixelTile;
    const auto* tile = reinterpret_cast<const float4*>(x + first * kFeatures);
#pragma unroll
    for (int i = threadIdx.x; i < kPixelTile * vectors; i += kThreads) {
        *reinterpret_cast<float4*>(pixels + i / vectors * kPitch + i % vectors * 4) = tile[i];
    }
#pragma unroll
    for (int i = threadIdx.x; i < kFeatures * vectors; i += kThreads) {
        rows[i] = reinterpret_cast<const float4*>(weights)[i];
    }
    __syncthreads();

    const int column = threadIdx.x % vectors;
    const int pixel = threadIdx.x / vectors * 4;
    float4 sums[4] = {};
#pragma unroll 4
    for (int k = 0; k < kFeatures; ++k) {
        const float4 w = rows[k * vectors + column];
#pragma unroll
        for (int p = 0; p < 4; ++p) {
            const float value = pixels[(pixel + p) * kPitch + k];
            sums[p].x += value * w.x;
            sums[p].y += value * w.y;
            sums[p].z += value * w.z;
            sums[p].w += value * w.w;
        }
    }
    const float4 b = reinterpret_cast<const float4*>(bias)[column];
#pragma unroll
    for (int p = 0; p < 4; ++p) {
        reinterpret_cast<float4*>(out)[(first + pixel + p) * vectors + column] =
            make_float4(silu(sums[p].x + b.x), silu(sums[p].y + b.y), silu(sums[p].z + b.z),
                        silu(sums[p].w + b.w));
    }
}

}  // namespace

cudaError_t pointwise(const float* x, const float* weights, const float* bias, float* out,
                      std::int64_t pixels, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(pixels / kPixelTile);
    pointwise_kernel<<<blocks, kThreads, 0, stream>>>(x, weights, bias, out);
    return cudaGetLastError();
}

}  // namespace camera

// SPDX-License-Identifier: Apache-2.0
// A 1x1 convolution from 64 features to 64, and bias and SiLU as a stage of its own, which other
// layers can use. A block makes 64 pixels, a thread 4 features of 4 of them.
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
                     float* __restrict__ out) {
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
#pragma unroll
    for (int p = 0; p < 4; ++p) {
        reinterpret_cast<float4*>(out)[(first + pixel + p) * vectors + column] = sums[p];
    }
}

__global__ void bias_silu_kernel(float* __restrict__ values, const float* __restrict__ bias,
                                 std::int64_t vectors) {
    const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= vectors) return;
    const float4 v = reinterpret_cast<float4*>(values)[i];
    const float4 b = reinterpret_cast<const float4*>(bias)[i % (kFeatures / 4)];
    reinterpret_cast<float4*>(values)[i] =
        make_float4(silu(v.x + b.x), silu(v.y + b.y), silu(v.z + b.z), silu(v.w + b.w));
}

}  // namespace

cudaError_t pointwise(const float* x, const float* weights, const float* bias, float* out,
                      std::int64_t pixels, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(pixels / kPixelTile);
    pointwise_kernel<<<blocks, kThreads, 0, stream>>>(x, weights, out);
    if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
    const std::int64_t vectors = pixels * kFeatures / 4;
    bias_silu_kernel<<<static_cast<unsigned>((vectors + kThreads - 1) / kThreads), kThreads, 0,
                       stream>>>(out, bias, vectors);
    return cudaGetLastError();
}

}  // namespace camera

// SPDX-License-Identifier: Apache-2.0
// Sixteen filters over one signal: a thread keeps 4 positions of every filter in registers, and
// signal and taps lie in shared memory.
#include "kernels.hpp"

namespace camera {
namespace {

constexpr int kThreads = 256;
// Blocks that should share a processor: half of its warps.
constexpr int kResident = 4;
constexpr int kPositions = kFilterTile / kThreads;

__global__ void __launch_bounds__(kThreads, kResident)
    filter_bank_kernel(const float* __restrict__ signal, const float* __restrict__ taps,
                       float* __restrict__ out, std::int64_t n) {
    __shared__ float samples[kFilterTile + kTaps];
    __shared__ float4 coefficients[kTaps * kFilters / 4];
    const std::int64_t start = std::int64_t{blockIdx.x} * kFilterTile;
    for (int i = threadIdx.x; i < kFilterTile + kTaps - 1; i += kThreads) {
        samples[i] = signal[start + i];
    }
    for (int i = threadIdx.x; i < kTaps * kFilters / 4; i += kThreads) {
        coefficients[i] = reinterpret_cast<const float4*>(taps)[i];
    }
    __syncthreads();

    float sums[kFilters][kPositions] = {};
    for (int tap = 0; tap < kTaps; ++tap) {
        float window[kPositions];
#pragma unroll
        for (int p = 0; p < kPositions; ++p) window[p] = samples[p * kThreads + threadIdx.x + tap];
#pragma unroll
        for (int f = 0; f < kFilters; f += 4) {
            const float4 c = coefficients[(tap * kFilters + f) / 4];
#pragma unroll
            for (int p = 0; p < kPositions; ++p) {
                sums[f][p] += c.x * window[p];
                sums[f + 1][p] += c.y * window[p];
                sums[f + 2][p] += c.z * window[p];
                sums[f + 3][p] += c.w * window[p];
            }
        }
    }
#pragma unroll
    for (int f = 0; f < kFilters; ++f) {
#pragma unroll
        for (int p = 0; p < kPositions; ++p) {
            out[f * n + start + p * kThreads + threadIdx.x] = sums[f][p];
        }
    }
}

}  // namespace

cudaError_t filter_bank(const float* signal, const float* taps, float* out, std::int64_t n,
                        cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(n / kFilterTile);
    filter_bank_kernel<<<blocks, kThreads, 0, stream>>>(signal, taps, out, n);
    return cudaGetLastError();
}

}  // namespace camera

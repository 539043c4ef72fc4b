// SPDX-License-Identifier: Apache-2.0
// Cross-fades two 8-bit images. A crop may begin anywhere, so nothing is assumed of alignment.
#include "kernels.hpp"

namespace camera {
namespace {

constexpr int kThreads = 256;

__global__ void blend_kernel(const std::uint8_t* __restrict__ a, const std::uint8_t* __restrict__ b,
                             std::uint8_t* __restrict__ out, std::int64_t n, unsigned weight) {
    const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= n) return;
    out[i] = static_cast<std::uint8_t>((a[i] * weight + b[i] * (256 - weight) + 128) >> 8);
}

}  // namespace

cudaError_t blend(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* out, std::int64_t n,
                  unsigned weight, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>((n + kThreads - 1) / kThreads);
    blend_kernel<<<blocks, kThreads, 0, stream>>>(a, b, out, n, weight);
    return cudaGetLastError();
}

}  // namespace camera

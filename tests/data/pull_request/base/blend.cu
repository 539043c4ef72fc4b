// SPDX-License-Identifier: Apache-2.0
// Cross-fades two 8-bit images, 16 pixels a thread.
#include "kernels.hpp"

namespace camera {
namespace {

constexpr int kThreads = 256;
constexpr int kPerThread = sizeof(uint4);

/// Two of the word's pixels at once, each in 16 bits of its own: 255 * 256 + 128 fits.
__device__ unsigned blend_pair(unsigned a, unsigned b, unsigned weight) {
    constexpr unsigned pixels = 0x00ff00ff, half = 0x00800080;
    return (((a & pixels) * weight + (b & pixels) * (256 - weight) + half) >> 8) & pixels;
}

__device__ unsigned blend_word(unsigned a, unsigned b, unsigned weight) {
    return blend_pair(a, b, weight) | blend_pair(a >> 8, b >> 8, weight) << 8;
}

__global__ void blend_kernel(const std::uint8_t* __restrict__ a, const std::uint8_t* __restrict__ b,
                             std::uint8_t* __restrict__ out, std::int64_t n, unsigned weight) {
    const std::int64_t first = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kPerThread;
    if (first + kPerThread <= n) {
        const uint4 x = *reinterpret_cast<const uint4*>(a + first);
        const uint4 y = *reinterpret_cast<const uint4*>(b + first);
        *reinterpret_cast<uint4*>(out + first) =
            make_uint4(blend_word(x.x, y.x, weight), blend_word(x.y, y.y, weight),
                       blend_word(x.z, y.z, weight), blend_word(x.w, y.w, weight));
        return;
    }
    for (std::int64_t i = first; i < n; ++i) {
        out[i] = static_cast<std::uint8_t>((a[i] * weight + b[i] * (256 - weight) + 128) >> 8);
    }
}

}  // namespace

cudaError_t blend(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* out, std::int64_t n,
                  unsigned weight, cudaStream_t stream) {
    constexpr std::int64_t per_block = std::int64_t{kThreads} * kPerThread;
    const auto blocks = static_cast<unsigned>((n + per_block - 1) / per_block);
    blend_kernel<<<blocks, kThreads, 0, stream>>>(a, b, out, n, weight);
    return cudaGetLastError();
}

}  // namespace camera

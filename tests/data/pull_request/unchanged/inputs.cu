// SPDX-License-Identifier: Apache-2.0
// Integer inputs, made where they are used; the host's checks make the same values.
#include "common/random.hpp"
#include "kernels.hpp"

namespace camera {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void fill_kernel(T* out, std::int64_t n, unsigned mask, std::uint64_t key) {
    const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < n) {
        out[i] = static_cast<T>(common::random_bits(key, static_cast<std::uint64_t>(i)) & mask);
    }
}

template <class T>
cudaError_t fill(T* out, std::int64_t n, unsigned mask, std::uint64_t key, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>((n + kThreads - 1) / kThreads);
    fill_kernel<<<blocks, kThreads, 0, stream>>>(out, n, mask, key);
    return cudaGetLastError();
}

}  // namespace

cudaError_t fill_codes(std::uint16_t* out, std::int64_t n, unsigned mask, std::uint64_t key,
                       cudaStream_t stream) {
    return fill(out, n, mask, key, stream);
}

cudaError_t fill_bytes(std::uint8_t* out, std::int64_t n, std::uint64_t key, cudaStream_t stream) {
    return fill(out, n, 0xff, key, stream);
}

}  // namespace camera

// SPDX-License-Identifier: Apache-2.0
// Mean and deviation to 0 and 1, four values a thread.
#include "kernels.hpp"

namespace camera {
namespace {

constexpr int kThreads = 256;

__global__ void normalize_kernel(const float4* __restrict__ in, float4* __restrict__ out,
                                 std::int64_t vectors, float mean, float inverse_deviation) {
    const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= vectors) return;
    const float4 v = in[i];
    out[i] = make_float4((v.x - mean) * inverse_deviation, (v.y - mean) * inverse_deviation,
                         (v.z - mean) * inverse_deviation, (v.w - mean) * inverse_deviation);
}

}  // namespace

cudaError_t normalize(const float* in, float* out, std::int64_t n, float mean,
                      float inverse_deviation, cudaStream_t stream) {
    const std::int64_t vectors = n / 4;
    const auto blocks = static_cast<unsigned>((vectors + kThreads - 1) / kThreads);
    normalize_kernel<<<blocks, kThreads, 0, stream>>>(reinterpret_cast<const float4*>(in),
                                                      reinterpret_cast<float4*>(out), vectors, mean,
                                                      inverse_deviation);
    return cudaGetLastError();
}

}  // namespace camera

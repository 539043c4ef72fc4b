// SPDX-License-Identifier: Apache-2.0
// Sensor values to linear light. All curves lie in shared memory (48 KiB, so that four blocks share
// a processor), and blocks stay for the whole image.
#include "kernels.hpp"

namespace camera {
namespace {

// Small blocks end sooner one by one: less waits for the last of them.
constexpr int kThreads = 64;

__global__ void tone_curve_kernel(const std::uint16_t* __restrict__ raw,
                                  const float* __restrict__ curves, float* __restrict__ out,
                                  std::int64_t pixels) {
    __shared__ float table[kPlanes * kCodes];
    for (int i = threadIdx.x; i < kPlanes * kCodes; i += kThreads) table[i] = curves[i];
    __syncthreads();

    const std::int64_t stride = std::int64_t{gridDim.x} * kThreads;
    for (int plane = 0; plane < kPlanes; ++plane) {
        const std::int64_t start = plane * pixels;
        for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < pixels;
             i += stride) {
            out[start + i] = table[plane * kCodes + raw[start + i]];
        }
    }
}

}  // namespace

cudaError_t tone_curve(const std::uint16_t* raw, const float* curves, float* out,
                       std::int64_t pixels, cudaStream_t stream) {
    int device = 0, processors = 0, blocks = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess) {
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    }
    if (error == cudaSuccess) {
        error =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tone_curve_kernel, kThreads, 0);
    }
    if (error != cudaSuccess) return error;
    tone_curve_kernel<<<processors * blocks, kThreads, 0, stream>>>(raw, curves, out, pixels);
    return cudaGetLastError();
}

}  // namespace camera

// SPDX-License-Identifier: Apache-2.0
// The work between the copies. Its length is the suite's choice: `steps` dependent multiply-adds
// per element, with enough warps resident to hide their latency.
#include "transfer/kernels.hpp"
#include "transfer/problem.hpp"

namespace transfer {
namespace {

constexpr unsigned kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    transfer_compute(std::size_t count, int steps, const float* __restrict__ in,
                     float* __restrict__ out) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i >= count) return;
    float x = in[i];
    for (int step = 0; step < steps; ++step) x = fmaf(kFactor, x, kTerm);
    out[i] = x;
}

}  // namespace

void enqueue_compute(std::size_t count, int steps, const float* in, float* out,
                     cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
    transfer_compute<<<blocks, kThreads, 0, stream>>>(count, steps, in, out);
    common::check(cudaGetLastError(), "launch");
}

}  // namespace transfer

// SPDX-License-Identifier: Apache-2.0
#include "launch/kernels.hpp"

namespace launch {
namespace {

constexpr int kThreads = 256;

unsigned blocks_for(const Problem& problem) {
    return static_cast<unsigned>((problem.elements + kThreads - 1) / kThreads);
}

__global__ void __launch_bounds__(kThreads)
    launch_step(int elements, std::uint32_t kernel, const std::uint32_t* in, std::uint32_t* out) {
    const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
    if (i < elements) out[i] = next_value(in[i], kernel);
}

__global__ void __launch_bounds__(kThreads)
    launch_fill(int elements, std::uint64_t key, std::uint32_t* in) {
    const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
    if (i < elements) in[i] = first_value(key, static_cast<std::uint64_t>(i));
}

}  // namespace

void enqueue_step(const Problem& problem, int kernel, const std::uint32_t* in, std::uint32_t* out,
                  cudaStream_t stream) {
    launch_step<<<blocks_for(problem), kThreads, 0, stream>>>(
        problem.elements, static_cast<std::uint32_t>(kernel), kernel == 0 ? in : out, out);
    common::check(cudaGetLastError(), "launch");
}

void fill_input_device(const Problem& problem, std::uint64_t key, std::uint32_t* in) {
    launch_fill<<<blocks_for(problem), kThreads>>>(problem.elements, key, in);
    common::check(cudaGetLastError(), "filling the input");
}

}  // namespace launch

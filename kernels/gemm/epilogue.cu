// SPDX-License-Identifier: Apache-2.0
// The epilogue as an eager framework runs it: kernels of their own over C, each reading and writing
// all of it. What fusing saves is measured against them.
#include <algorithm>

#include "common/cuda.hpp"
#include "gemm/epilogue.hpp"
#include "gemm/launchers.hpp"

namespace gemm {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kMostBlocks = 4096;

// kWidth elements at a time, which n is a multiple of.
template <int kWidth>
struct alignas(kWidth * sizeof(float)) Vector {
    float value[kWidth];
};

template <int kWidth>
__global__ void __launch_bounds__(kThreads)
    gemm_add_bias(int n, std::size_t count, const float* __restrict__ bias, float* __restrict__ c) {
    const std::size_t step = std::size_t{gridDim.x} * kThreads * kWidth;
    for (std::size_t i = (std::size_t{blockIdx.x} * kThreads + threadIdx.x) * kWidth; i < count;
         i += step) {
        auto values = *reinterpret_cast<Vector<kWidth>*>(c + i);
        const auto add = *reinterpret_cast<const Vector<kWidth>*>(bias + i % n);
#pragma unroll
        for (int j = 0; j < kWidth; ++j) values.value[j] += add.value[j];
        *reinterpret_cast<Vector<kWidth>*>(c + i) = values;
    }
}

template <int kWidth>
__global__ void __launch_bounds__(kThreads)
    gemm_apply_gelu(std::size_t count, float* __restrict__ c) {
    const std::size_t step = std::size_t{gridDim.x} * kThreads * kWidth;
    for (std::size_t i = (std::size_t{blockIdx.x} * kThreads + threadIdx.x) * kWidth; i < count;
         i += step) {
        auto values = *reinterpret_cast<Vector<kWidth>*>(c + i);
#pragma unroll
        for (int j = 0; j < kWidth; ++j) values.value[j] = gelu_fast(values.value[j]);
        *reinterpret_cast<Vector<kWidth>*>(c + i) = values;
    }
}

template <int kWidth>
Launch launcher(const Problem& p, const Operands& o) {
    const std::size_t wanted = (p.c_count() / kWidth + kThreads - 1) / kThreads;
    const auto blocks = static_cast<unsigned>(std::min<std::size_t>(wanted, kMostBlocks));
    return [=](cudaStream_t stream) {
        gemm_add_bias<kWidth><<<blocks, kThreads, 0, stream>>>(p.n, p.c_count(), o.bias, o.c);
        common::check(cudaGetLastError(), "launch of the bias");
        if (p.epilogue != Epilogue::kBiasGelu) return;
        gemm_apply_gelu<kWidth><<<blocks, kThreads, 0, stream>>>(p.c_count(), o.c);
        common::check(cudaGetLastError(), "launch of GELU");
    };
}

}  // namespace

Launch prepare_epilogue(const Problem& problem, const Operands& operands) {
    return problem.n % 4 == 0 ? launcher<4>(problem, operands) : launcher<1>(problem, operands);
}

}  // namespace gemm

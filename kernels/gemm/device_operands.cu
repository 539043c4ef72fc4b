// SPDX-License-Identifier: Apache-2.0
#include "gemm/device_operands.hpp"

#include "common/device_inputs.hpp"
#include "common/element.hpp"
#include "common/random.hpp"

namespace gemm {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kMostBlocks = 4096;

// The elements of the row-major matrix, each in its place of the one stored by columns.
__global__ void __launch_bounds__(kThreads)
    fill_by_columns(std::uint8_t* values, std::uint64_t key, std::size_t rows, std::size_t cols) {
    const std::size_t step = std::size_t{gridDim.x} * kThreads;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < rows * cols;
         i += step) {
        values[i] =
            common::Element<Dtype::kE4m3>::from(common::uniform(key, i % rows * cols + i / rows));
    }
}

}  // namespace

void fill_operands(const Problem& p, std::uint64_t seed, void* a, void* b, float* bias) {
    common::fill_device(a, p.dtype, Operand::kA, seed, p.a_count());
    if (p.b_by_columns()) {
        fill_by_columns<<<kMostBlocks, kThreads>>>(
            static_cast<std::uint8_t*>(b), common::stream_key(seed, Operand::kB),
            static_cast<std::size_t>(p.k), static_cast<std::size_t>(p.n));
        common::check(cudaGetLastError(), "filling B");
    } else {
        common::fill_device(b, p.dtype, Operand::kB, seed, p.b_count());
    }
    if (bias) {
        common::fill_device(bias, Dtype::kF32, Operand::kBias, seed, static_cast<std::size_t>(p.n));
    }
}

}  // namespace gemm

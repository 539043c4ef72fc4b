// SPDX-License-Identifier: Apache-2.0
// The logits where they are used: the same inline functions run on the host.
#include "common/element.hpp"
#include "softmax/launchers.hpp"

namespace softmax {
namespace {

constexpr unsigned kThreads = 256;
constexpr int kMostBlocks = 4096;

template <class E>
__global__ void __launch_bounds__(kThreads)
    softmax_fill(typename E::Storage* values, Logits logits, int rows, int width) {
    for (int row = static_cast<int>(blockIdx.x); row < rows; row += static_cast<int>(gridDim.x)) {
        for (int col = static_cast<int>(threadIdx.x); col < width; col += kThreads) {
            values[static_cast<std::size_t>(row) * width + col] =
                E::from(logits.at(static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(col),
                                  static_cast<std::uint64_t>(width)));
        }
    }
}

}  // namespace

void fill_logits_device(const Problem& p, std::uint64_t seed, void* in) {
    const int blocks = p.rows < kMostBlocks ? p.rows : kMostBlocks;
    common::with_element(p.dtype, [&](auto element) {
        using E = decltype(element);
        softmax_fill<E><<<blocks, kThreads>>>(static_cast<typename E::Storage*>(in), Logits(seed),
                                              p.rows, p.width);
    });
    common::check(cudaGetLastError(), "filling the input");
}

}  // namespace softmax

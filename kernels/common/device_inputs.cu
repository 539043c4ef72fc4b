// SPDX-License-Identifier: Apache-2.0
#include "common/device_inputs.hpp"

#include "common/element.hpp"
#include "common/random.hpp"

namespace common {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kMostBlocks = 4096;

template <class E>
__global__ void __launch_bounds__(kThreads)
    fill_inputs(typename E::Storage* values, std::uint64_t key, std::size_t count) {
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * kThreads;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x; i < count;
         i += step) {
        values[i] = E::from(uniform(key, i));
    }
}

}  // namespace

void fill_device(void* storage, Dtype dtype, std::uint64_t operand, std::uint64_t seed,
                 std::size_t count, cudaStream_t stream) {
    const std::uint64_t key = stream_key(seed, operand);
    const std::size_t wanted = (count + kThreads - 1) / kThreads;
    const unsigned blocks = wanted < kMostBlocks ? static_cast<unsigned>(wanted) : kMostBlocks;
    with_element(dtype, [&](auto element) {
        using E = decltype(element);
        fill_inputs<E><<<blocks, kThreads, 0, stream>>>(static_cast<typename E::Storage*>(storage),
                                                        key, count);
    });
    check(cudaGetLastError(), "filling inputs");
}

}  // namespace common

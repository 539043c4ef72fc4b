// SPDX-License-Identifier: Apache-2.0
// Fills A and B where they are used. The same inline functions run on the host (inputs.hpp).
#include "gemm/launchers.hpp"

namespace gemm {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kMostBlocks = 4096;

template <class E>
__global__ void __launch_bounds__(kThreads)
    gemm_fill(typename E::Storage* values, std::uint64_t key, std::size_t count) {
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * kThreads;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x; i < count;
         i += step) {
        values[i] = E::from(uniform(key, i));
    }
}

}  // namespace

cudaError_t fill_device(void* storage, Dtype dtype, Operand operand, std::uint64_t seed,
                        std::size_t count, cudaStream_t stream) {
    const std::uint64_t key = stream_key(seed, operand);
    const std::size_t wanted = (count + kThreads - 1) / kThreads;
    const unsigned blocks = wanted < kMostBlocks ? static_cast<unsigned>(wanted) : kMostBlocks;
    with_element(dtype, [&](auto element) {
        using E = decltype(element);
        gemm_fill<E><<<blocks, kThreads, 0, stream>>>(static_cast<typename E::Storage*>(storage),
                                                      key, count);
    });
    return cudaGetLastError();
}

DeviceLimits current_device_limits() {
    int device = 0;
    DeviceLimits limits;
    require(cudaGetDevice(&device), "cudaGetDevice");
    require(cudaDeviceGetAttribute(&limits.multiprocessors, cudaDevAttrMultiProcessorCount, device),
            "cudaDeviceGetAttribute");
    return limits;
}

}  // namespace gemm

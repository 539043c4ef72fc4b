// SPDX-License-Identifier: Apache-2.0
// f16, bf16 and tf32 GEMM on the tensor cores, one tile of C a block (mma_loop.cuh).
#include <stdexcept>

#include "common/cuda.hpp"
#include "gemm/mma_loop.cuh"

namespace gemm {
namespace {

template <class S, bool kVector, Epilogue kEpilogue>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    gemm_tensor_core(int m, int n, int k, const typename S::Storage* __restrict__ a,
                     const typename S::Storage* __restrict__ b, const float* __restrict__ bias,
                     float* __restrict__ c) {
    extern __shared__ __align__(128) unsigned char shared[];
    const unsigned first_stage = shared_address(shared);
    const unsigned last_stage = first_stage + (S::kStages - 1) * S::kBytesStage;
    const auto after = [&](unsigned stage) {
        return stage == last_stage ? first_stage : stage + S::kBytesStage;
    };
    const FragmentReader<S> reader;
    const TileOrigin tile = raster_tile<S::kTileM, S::kTileN>(m, n);
    Loader<S, kVector> loader(n, k);
    loader.begin(tile, m, n, k, a, b);
    constexpr int kLoads = Loader<S, kVector>::kLoads;
    const int tiles = (k + S::kTileK - 1) / S::kTileK;
#pragma unroll
    for (int stage = 0; stage < S::kStages - 1; ++stage) {
        if (stage < tiles) {
#pragma unroll
            for (int load = 0; load < kLoads; ++load) {
                loader.load(load, first_stage + stage * S::kBytesStage);
            }
            loader.next(n);
        }
        commit_copies();
    }
    wait_for_copies<S::kStages - 2>();
    __syncthreads();

    Sums<S> sum = {};
    Fragments<S> fragments[2];
    unsigned read = first_stage;
    unsigned write = last_stage;
#pragma unroll
    for (int part = 0; part < S::kMmaRows; ++part) reader.read(fragments[0], read, 0, part);
    for (int t = 0; t < tiles; ++t) {
        // The tile kStages - 1 ahead overwrites the one before this, whose last read lies before
        // the last barrier.
        const bool fetching = t + S::kStages - 1 < tiles;
        multiply_tile<S, kLoads>(
            sum, fragments, reader, read,
            [&](int load) {
                if (fetching) loader.load(load, write);
            },
            [&] {
                commit_copies();  // even an empty group: waiting counts groups
                loader.next(n);
                write = after(write);
            },
            [&] {
                wait_for_copies<S::kStages - 2>();
                __syncthreads();
                return after(read);
            });
    }
    store_sums<S, kVector, kEpilogue>(sum, reader, tile, m, n, bias, c);
}

template <class S, bool kVector, Epilogue kEpilogue>
Launch launcher(const Problem& p, const Operands& o) {
    using Storage = typename S::Storage;
    const auto kernel = gemm_tensor_core<S, kVector, kEpilogue>;
    // Beyond 48 KB a kernel must ask.
    common::check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::kBytes),
        "shared memory for gemm/tensor_core");
    return [=](cudaStream_t stream) {
        kernel<<<raster_blocks<S::kTileM, S::kTileN>(p.m, p.n), S::kThreads, S::kBytes, stream>>>(
            p.m, p.n, p.k, static_cast<const Storage*>(o.a), static_cast<const Storage*>(o.b),
            o.bias, o.c);
        common::check(cudaGetLastError(), "launch");
    };
}

template <class S>
Launch choose_width(const Problem& problem, const Operands& operands) {
    // cp.async moves 16 aligned bytes: rows of A and of B must begin on 16 bytes.
    const bool aligned = problem.k % S::kChunk == 0 && problem.n % S::kChunk == 0;
    return with_epilogue(problem.epilogue, [&](auto epilogue) {
        return aligned ? launcher<S, true, decltype(epilogue)::value>(problem, operands)
                       : launcher<S, false, decltype(epilogue)::value>(problem, operands);
    });
}

template <Dtype dtype>
Launch choose(const Problem& problem, const Operands& operands, const DeviceLimits& device) {
    constexpr int kWide = 32 / static_cast<int>(element_bytes(dtype));  // elements in 32 bytes
    using Large = TensorShape<dtype, 256, 128, 2 * kWide, 64, 64, 4, 1>;
    using Small = TensorShape<dtype, 64, 64, 4 * kWide, 32, 32, 4, 3>;
    const bool fills_device = fills<Large::kTileM, Large::kTileN>(problem, device);
    return fills_device ? choose_width<Large>(problem, operands)
                        : choose_width<Small>(problem, operands);
}

}  // namespace

Launch prepare_tensor_core(const Problem& problem, const Operands& operands,
                           const DeviceLimits& device) {
    switch (problem.dtype) {
        case Dtype::kF16:
            return choose<Dtype::kF16>(problem, operands, device);
        case Dtype::kBf16:
            return choose<Dtype::kBf16>(problem, operands, device);
        case Dtype::kTf32:
            return choose<Dtype::kTf32>(problem, operands, device);
        case Dtype::kF32:
        case Dtype::kE4m3:
            break;
    }
    throw std::invalid_argument("gemm/tensor_core has no dtype but tf32, f16 and bf16");
}

}  // namespace gemm

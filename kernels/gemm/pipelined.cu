// SPDX-License-Identifier: Apache-2.0
// f16 and bf16 GEMM by the main loop of tensor_core.cu (mma_loop.cuh), arranged so that neither the
// ring nor the tensor cores drain. From compute capability 9.0 on large products are
// pipelined_boxes.cu's, of the same arrangement, where no thread copies. Blocks stay and walk over
// their tiles of C without a break: while one tile's results are written the first stages of the
// next are on their way. And no barrier stops the whole block: two mbarriers a stage say when all
// its copies have come and when all warps have read it, so that warps drift apart by a stage and
// one multiplies while another writes C.
#include <algorithm>
#include <stdexcept>

#include "common/cuda.hpp"
#include "gemm/mma_loop.cuh"
#include "gemm/ring.cuh"

namespace gemm {
namespace {

__device__ __forceinline__ void barrier_init(unsigned barrier, int arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;\n" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void barrier_arrive(unsigned barrier) {
    asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}\n" ::"r"(barrier)
                 : "memory");
}

// Arrives once all copies that the thread has issued are in shared memory.
__device__ __forceinline__ void barrier_arrive_after_copies(unsigned barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];\n" ::"r"(barrier) : "memory");
}

// Waits until the phase of this parity has ended. Of a fresh barrier the phase before the first, of
// parity 1, counts as ended.
__device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity) {
    unsigned ended;
    do {
        asm volatile(
            "{\n"
            ".reg .pred ended;\n"
            "mbarrier.test_wait.parity.shared.b64 ended, [%1], %2;\n"
            "selp.b32 %0, 1, 0, ended;\n"
            "}\n"
            : "=r"(ended)
            : "r"(barrier), "r"(parity)
            : "memory");
    } while (!ended);
}

template <class S, bool kVector, Epilogue kEpilogue>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    gemm_pipelined(int m, int n, int k, int tiles, const typename S::Storage* __restrict__ a,
                   const typename S::Storage* __restrict__ b, const float* __restrict__ bias,
                   float* __restrict__ c) {
    extern __shared__ __align__(128) unsigned char shared[];
    Place<S> read{shared_address(shared)};
    Place<S> write{read.first};
    if (threadIdx.x == 0) {
        for (Place<S> place = read; place.parity() == 0; place.next()) {
            barrier_init(place.full(), S::kThreads);
            barrier_init(place.empty(), S::kThreads / 32);
        }
    }
    __syncthreads();

    const FragmentReader<S> reader;
    Loader<S, kVector> loader(n, k);
    constexpr int kLoads = Loader<S, kVector>::kLoads;
    const int step = static_cast<int>(gridDim.x);
    // Loading is ahead of multiplying, into the next tile of C. It stays a stage short of coming
    // round to the one that the slowest warps read.
    constexpr int kAhead = S::kStages - 2;
    int loading = static_cast<int>(blockIdx.x);
    loader.begin(raster_tile<S::kTileM, S::kTileN>(m, n, loading), m, n, k, a, b);
    const auto loaded = [&] {
        if (kVector) {
            barrier_arrive_after_copies(write.full());
        } else {
            barrier_arrive(write.full());
        }
        write.next();
        loader.next(n);
        if (loader.k_left > 0) return;
        loading += step;
        if (loading < tiles) {
            loader.begin(raster_tile<S::kTileM, S::kTileN>(m, n, loading), m, n, k, a, b);
        }
    };
    for (int stage = 0; stage < kAhead && loading < tiles; ++stage) {
#pragma unroll
        for (int load = 0; load < kLoads; ++load) loader.load(load, write.address());
        loaded();
    }

    Fragments<S> fragments[2];
    unsigned stage = read.address();
    barrier_wait(read.full(), 0);
#pragma unroll
    for (int part = 0; part < S::kMmaRows; ++part) reader.read(fragments[0], stage, 0, part);
    for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += step) {
        Sums<S> sum = {};
        for (int k0 = 0; k0 < k; k0 += S::kTileK) {
            const bool fetching = loading < tiles;
            if (fetching) barrier_wait(write.empty(), write.parity() ^ 1);
            multiply_tile<S, kLoads>(
                sum, fragments, reader, stage,
                [&](int load) {
                    if (fetching) loader.load(load, write.address());
                },
                [&] {
                    if (fetching) loaded();
                },
                [&] {
                    __syncwarp();
                    if (reader.lane == 0) barrier_arrive(read.empty());
                    read.next();
                    // After the last tile no stage is on its way: what is read then goes unused.
                    if (k0 + S::kTileK < k || tile + step < tiles) {
                        barrier_wait(read.full(), read.parity());
                    }
                    return read.address();
                });
        }
        store_sums<S, kVector, kEpilogue>(
            sum, reader, raster_tile<S::kTileM, S::kTileN>(m, n, tile), m, n, bias, c);
    }
}

template <class S, bool kVector, Epilogue kEpilogue>
Launch launcher(const Problem& p, const Operands& o, const DeviceLimits& device) {
    using Storage = typename S::Storage;
    const auto kernel = gemm_pipelined<S, kVector, kEpilogue>;
    common::check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, ring_bytes<S>),
        "shared memory for gemm/pipelined");
    const unsigned tiles = raster_blocks<S::kTileM, S::kTileN>(p.m, p.n);
    const unsigned blocks =
        std::min(tiles, static_cast<unsigned>(device.multiprocessors * S::kBlocksPerSm));
    return [=](cudaStream_t stream) {
        kernel<<<blocks, S::kThreads, ring_bytes<S>, stream>>>(
            p.m, p.n, p.k, static_cast<int>(tiles), static_cast<const Storage*>(o.a),
            static_cast<const Storage*>(o.b), o.bias, o.c);
        common::check(cudaGetLastError(), "launch");
    };
}

template <Dtype dtype>
Launch choose(const Problem& p, const Operands& operands, const DeviceLimits& device) {
    using Large = TensorShape<dtype, 256, 128, 32, 64, 64, 6, 1>;
    using Small = TensorShape<dtype, 64, 64, 64, 32, 32, 4, 3>;
    return with_epilogue(p.epilogue, [&](auto epilogue) {
        constexpr Epilogue kEpilogue = decltype(epilogue)::value;
        // Element by element nothing is gained from large tiles.
        if (p.k % Small::kChunk != 0 || p.n % Small::kChunk != 0) {
            return launcher<Small, false, kEpilogue>(p, operands, device);
        }
        if (ring_bytes < Large >> device.shared_bytes ||
            !fills<Large::kTileM, Large::kTileN>(p, device)) {
            return launcher<Small, true, kEpilogue>(p, operands, device);
        }
        if (device.compute_capability >= 90) return prepare_pipelined_boxes(p, operands, device);
        return launcher<Large, true, kEpilogue>(p, operands, device);
    });
}

}  // namespace

Launch prepare_pipelined(const Problem& problem, const Operands& operands,
                         const DeviceLimits& device) {
    if (problem.dtype == Dtype::kF16) return choose<Dtype::kF16>(problem, operands, device);
    if (problem.dtype == Dtype::kBf16) return choose<Dtype::kBf16>(problem, operands, device);
    throw std::invalid_argument("gemm/pipelined has no dtype but f16 and bf16");
}

}  // namespace gemm

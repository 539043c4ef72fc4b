// SPDX-License-Identifier: Apache-2.0
// gemm/pipelined from compute capability 9.0 on, for products that fill the device. An asynchronous
// copy by threads costs issue slots, an address and a pass through the load unit for every 16
// bytes, and mma.sync is fast enough there to wait for that. So one thread asks the copy engine
// (TMA) for whole boxes of A and B, and the warps do nothing but read fragments and multiply.
//
// A stage holds A's tile, kTileK long lines, and then B's in boxes of 64 columns, lines of 128
// bytes. The copy engine permutes the chunks of 16 bytes as TensorShape does.
#include <algorithm>

#include "common/cuda.hpp"
#include "common/hopper.cuh"
#include "gemm/matrix_map.hpp"
#include "gemm/mma_loop.cuh"
#include "gemm/ring.cuh"

namespace gemm {

// Of external linkage: for other architectures all of it goes unused, which nvcc reports of members
// of an unnamed namespace.
namespace boxes {

inline constexpr int kLineBytes = 128;
inline constexpr int kBoxCols = 64;
inline constexpr int kAlignment = 1024;  // of what the copy engine permutes

template <class S>
constexpr int kSharedBytes = ring_bytes<S> + kAlignment;

// As FragmentReader, but for where B lies.
template <class S>
struct Reader : FragmentReader<S> {
    unsigned b_line;
    int b_first;

    __device__ Reader() {
        b_line = S::kBytesA + this->warp_col / kBoxCols * S::kTileK * kLineBytes +
                 this->lane % 16 * kLineBytes;
        b_first = S::permute_b(this->lane, this->warp_col % kBoxCols / S::kChunk + this->lane / 16);
    }

    __device__ void read(Fragments<S>& to, unsigned base, int step, int part) const {
        load_matrices(to.a[part], base + this->a_line + (this->a_first ^ (step * 2)) * kChunkBytes +
                                      part * kMmaM * S::kChunksA * kChunkBytes);
        constexpr int kPairs = S::kMmaCols / 2 / S::kMmaRows;
#pragma unroll
        for (int j = part * kPairs; j < (part + 1) * kPairs; ++j) {
            unsigned words[4];
            load_matrices_transposed(words, base + b_line + step * S::kMmaK * kLineBytes +
                                                (b_first ^ (j * 2)) * kChunkBytes);
            to.b[2 * j][0] = words[0], to.b[2 * j][1] = words[1];
            to.b[2 * j + 1][0] = words[2], to.b[2 * j + 1][1] = words[3];
        }
    }
};

// The loading thread's walk along k and from tile to tile of C, a stage a step.
template <class S>
struct Walk {
    Place<S> write;
    int tile;
    int k_done = 0;
    TileOrigin origin;

    __device__ Walk(unsigned first_stage, int m, int n)
        : write{first_stage},
          tile(static_cast<int>(blockIdx.x)),
          origin(raster_tile<S::kTileM, S::kTileN>(m, n, tile)) {}

    // Fills the next stage once all warps have read what it holds.
    __device__ void fill(const CUtensorMap* map_a, const CUtensorMap* map_b, int m, int n, int k,
                         int tiles) {
        if (tile >= tiles) return;
        common::barrier_wait(write.empty(), write.parity() ^ 1);
        common::barrier_expect(write.full(), S::kBytesStage);
        common::copy_box(write.address(), map_a, k_done, origin.row, write.full());
#pragma unroll
        for (int box = 0; box < S::kTileN / kBoxCols; ++box) {
            common::copy_box(write.address() + S::kBytesA + box * S::kTileK * kLineBytes, map_b,
                             origin.col + box * kBoxCols, k_done, write.full());
        }
        write.next();
        k_done += S::kTileK;
        if (k_done < k) return;
        k_done = 0;
        tile += static_cast<int>(gridDim.x);
        if (tile < tiles) origin = raster_tile<S::kTileM, S::kTileN>(m, n, tile);
    }
};

template <class S, Epilogue kEpilogue>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    gemm_pipelined_boxes(const __grid_constant__ CUtensorMap map_a,
                         const __grid_constant__ CUtensorMap map_b, int m, int n, int k, int tiles,
                         const float* __restrict__ bias, float* __restrict__ c) {
#if __CUDA_ARCH__ >= 900
    extern __shared__ unsigned char shared[];
    const unsigned first_stage =
        (shared_address(shared) + kAlignment - 1) / kAlignment * kAlignment;
    Place<S> read{first_stage};
    const bool loads = threadIdx.x == 0;
    if (loads) {
        common::prefetch_map(&map_a);
        common::prefetch_map(&map_b);
        for (Place<S> place = read; place.parity() == 0; place.next()) {
            common::barrier_init(place.full(), 1);
            common::barrier_init(place.empty(), S::kThreads / 32);
        }
        common::barrier_init_fence();
    }
    __syncthreads();

    Walk<S> walk(first_stage, m, n);
    if (loads) {
        for (int stage = 0; stage < S::kStages - 1; ++stage) {
            walk.fill(&map_a, &map_b, m, n, k, tiles);
        }
    }
    __syncwarp();

    const Reader<S> reader;
    Fragments<S> fragments[2];
    unsigned stage = read.address();
    common::barrier_wait(read.full(), 0);
#pragma unroll
    for (int part = 0; part < S::kMmaRows; ++part) reader.read(fragments[0], stage, 0, part);
    const int step = static_cast<int>(gridDim.x);
    for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += step) {
        Sums<S> sum = {};
        for (int k0 = 0; k0 < k; k0 += S::kTileK) {
            // The stage before this one, which other warps may still read.
            if (loads) walk.fill(&map_a, &map_b, m, n, k, tiles);
            __syncwarp();
            multiply_tile<S, 0>(
                sum, fragments, reader, stage, [](int) {}, [] {},
                [&] {
                    __syncwarp();
                    if (reader.lane == 0) common::barrier_arrive(read.empty());
                    read.next();
                    // After the last tile no stage is on its way: what is read then goes unused.
                    if (k0 + S::kTileK < k || tile + step < tiles) {
                        common::barrier_wait(read.full(), read.parity());
                    }
                    return read.address();
                });
        }
        store_sums<S, true, kEpilogue>(sum, reader, raster_tile<S::kTileM, S::kTileN>(m, n, tile),
                                       m, n, bias, c);
    }
#endif
}

template <class S, Epilogue kEpilogue>
Launch launcher(const Problem& p, const Operands& o, const DeviceLimits& device) {
    const auto kernel = gemm_pipelined_boxes<S, kEpilogue>;
    common::check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes<S>),
        "shared memory for gemm/pipelined");
    static_assert(S::kChunksA * kChunkBytes == kLineBytes, "A's lines are those of a box");
    const CUtensorMap map_a = matrix_map(o.a, p.dtype, p.m, p.k, S::kTileM);
    const CUtensorMap map_b = matrix_map(o.b, p.dtype, p.k, p.n, S::kTileK);
    const unsigned tiles = raster_blocks<S::kTileM, S::kTileN>(p.m, p.n);
    const unsigned blocks =
        std::min(tiles, static_cast<unsigned>(device.multiprocessors * S::kBlocksPerSm));
    return [=](cudaStream_t stream) {
        kernel<<<blocks, S::kThreads, kSharedBytes<S>, stream>>>(
            map_a, map_b, p.m, p.n, p.k, static_cast<int>(tiles), o.bias, o.c);
        common::check(cudaGetLastError(), "launch");
    };
}

template <Dtype dtype>
Launch choose(const Problem& p, const Operands& operands, const DeviceLimits& device) {
    using Shape = TensorShape<dtype, 256, 128, 64, 64, 64, 4, 1>;
    return with_epilogue(p.epilogue, [&](auto epilogue) {
        return launcher<Shape, decltype(epilogue)::value>(p, operands, device);
    });
}

}  // namespace boxes

Launch prepare_pipelined_boxes(const Problem& problem, const Operands& operands,
                               const DeviceLimits& device) {
    if (problem.dtype == Dtype::kF16) return boxes::choose<Dtype::kF16>(problem, operands, device);
    return boxes::choose<Dtype::kBf16>(problem, operands, device);
}

}  // namespace gemm

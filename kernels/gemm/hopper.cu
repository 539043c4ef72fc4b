// SPDX-License-Identifier: Apache-2.0
// f16, bf16 and e4m3 GEMM for compute capability 9.0. One block per SM stays for the whole
// product. Its producer, one thread, has the copy engine (TMA) bring tiles of A and B into a ring
// of shared-memory stages; its two consumers, four warps each, multiply them by wgmma straight from
// there. Two mbarriers a stage pass it to and fro: `full` counts bytes, `empty` counts warps that
// are done with it.
//
// A stage is a tile of A, kTileM lines of 128 bytes along k, then one of B. B's lines run along n
// for the 16-bit types, as B does in memory: a box of 64 columns is kTileK such lines, and the tile
// is a row of boxes. wgmma takes 8-bit types only with both operands along k, so that B is stored
// by columns then and its tile is kTileN lines along k. The copy engine permutes the 16-byte chunks
// of every eight lines (the 128-byte swizzle), and wgmma undoes it: neither meets a bank conflict.
//
//     block tile of C, 128 x 256 (the large shape)    a stage of the ring, of which there are four
//     +-------------------------------+               A: 128 lines of 128 bytes of k
//     | consumer 0: 64 rows, 4 warps  |                  +--------+
//     |   warp 0: rows 0 to 15        |                  | k ->   | row 0
//     |   warp 1: rows 16 to 31 ...   |                  |        | ... row 127
//     +-------------------------------+                  +--------+
//     | consumer 1: 64 rows, 4 warps  |               B, 16 bits: 4 boxes of 64 columns
//     +-------------------------------+                  +------+------+------+------+
//                                                        | n -> |      |      |      | 64 lines
//     a thread's sums of one wgmma, 64 x 256:            +------+------+------+------+
//     sum[4 j + 2 h + i] is row lane / 4 + 8 h        B, 8 bits, by columns: 256 lines of 128
//     of its warp's, column 8 j + 2 (lane % 4) + i    bytes of k
#include <algorithm>
#include <stdexcept>

#include "common/cuda.hpp"
#include "gemm/epilogue.hpp"
#include "gemm/hopper_ptx.cuh"
#include "gemm/matrix_map.hpp"
#include "gemm/raster.cuh"

namespace gemm {
namespace {

constexpr int kLineBytes = 128;
constexpr int kSwizzleBytes = 8 * kLineBytes;
constexpr int kWarpgroup = 128;  // threads
constexpr int kWarps = 4;        // in a warpgroup
constexpr int kConsumers = 2;    // warpgroups
constexpr int kThreads = (1 + kConsumers) * kWarpgroup;
constexpr int kMmaM = 64;
constexpr int kMmaBytes = 32;       // of k in one wgmma
constexpr unsigned kOnePanel = 16;  // ignored
// Of the 168 registers that each of 384 threads begins with the producer gives up what the
// consumers take.
constexpr int kProducerRegisters = 24;
constexpr int kConsumerRegisters = 240;

// Each consumer has half of a tile's rows.
template <Dtype kDtype_, int kTileM_, int kTileN_, int kStages_, int kBand_>
struct HopperShape {
    static constexpr Dtype kDtype = kDtype_;
    static constexpr int kTileM = kTileM_, kTileN = kTileN_;
    static constexpr int kStages = kStages_, kBand = kBand_;
    static constexpr int kElementBytes = static_cast<int>(element_bytes(kDtype));
    static constexpr bool kByColumns = kElementBytes == 1;  // B in memory
    static constexpr int kTileK = kLineBytes / kElementBytes;
    static constexpr int kSteps = kLineBytes / kMmaBytes;
    static constexpr int kConsumerM = kTileM / kConsumers;
    static constexpr int kMmaRows = kConsumerM / kMmaM;
    static constexpr int kSums = kMmaM * kTileN / kWarpgroup;  // of one wgmma, in a thread
    static constexpr int kBytesA = kTileM * kLineBytes;
    static constexpr int kBytesB = kTileN * kLineBytes;
    static constexpr int kBytesStage = kBytesA + kBytesB;
    static constexpr int kBytes = kStages * (kBytesStage + 16) + kSwizzleBytes;
    static constexpr int kBoxCols = kByColumns ? kTileN : kLineBytes / kElementBytes;
    static constexpr int kBoxes = kTileN / kBoxCols;
    static constexpr int kBoxBytes = kBoxCols * kLineBytes;

    static_assert(kConsumerM % kMmaM == 0 && (kTileN == 128 || kTileN == 256));
    static_assert(kMmaRows * kSums <= 128, "an accumulator of more registers would be spilled");
    static_assert(kBoxes >= 1 && kBoxes * kBoxCols == kTileN);
    static_assert(kBytes <= 227 * 1024);
};

// A position in the ring: the stage and how often the ring has gone round. As common::RingPlace,
// but for what the compiler makes of it.
template <class S>
struct RingPlace {
    int stage = 0;
    unsigned round = 0;

    __device__ void next() {
        if (++stage == S::kStages) stage = 0, ++round;
    }
};

// Addresses in shared memory.
template <class S>
struct Ring {
    unsigned stages;
    unsigned barriers;

    __device__ unsigned a(int stage) const { return stages + stage * S::kBytesStage; }
    __device__ unsigned b(int stage) const { return a(stage) + S::kBytesA; }
    __device__ unsigned full(int stage) const { return barriers + stage * 16; }
    __device__ unsigned empty(int stage) const { return barriers + stage * 16 + 8; }
};

template <class S>
__device__ __forceinline__ void produce(const Ring<S>& ring, const CUtensorMap* map_a,
                                        const CUtensorMap* map_b, int m, int n, int k, int tiles) {
    RingPlace<S> place;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const TileOrigin origin = raster_tile<S::kTileM, S::kTileN, S::kBand>(m, n, tile);
        for (int k0 = 0; k0 < k; k0 += S::kTileK, place.next()) {
            const int stage = place.stage;
            barrier_wait(ring.empty(stage), (place.round & 1) ^ 1);
            barrier_expect(ring.full(stage), S::kBytesStage);
            copy_box(ring.a(stage), map_a, k0, origin.row, ring.full(stage));
#pragma unroll
            for (int i = 0; i < S::kBoxes; ++i) {
                const int col = origin.col + i * S::kBoxCols;
                const int x = S::kByColumns ? k0 : col;
                const int y = S::kByColumns ? col : k0;
                copy_box(ring.b(stage) + i * S::kBoxBytes, map_b, x, y, ring.full(stage));
            }
        }
    }
}

// One stage's multiplications, enqueued.
template <class S>
__device__ __forceinline__ void multiply_stage(float (&sum)[S::kMmaRows][S::kSums], unsigned a,
                                               unsigned b, bool first) {
    multiply_begin();
#pragma unroll
    for (int step = 0; step < S::kSteps; ++step) {
        // Along n a line is 64 columns: the next ones are a box away, and 16 of k are 16 lines.
        const std::uint64_t describe_b =
            S::kByColumns ? describe_operand(b + step * kMmaBytes, kOnePanel)
                          : describe_operand(b + step * 16 * kLineBytes, S::kTileK * kLineBytes);
#pragma unroll
        for (int i = 0; i < S::kMmaRows; ++i) {
            const std::uint64_t describe_a =
                describe_operand(a + i * kMmaM * kLineBytes + step * kMmaBytes, kOnePanel);
            multiply<S::kDtype>(sum[i], describe_a, describe_b, !first || step > 0);
        }
    }
    multiply_commit();
}

// What the epilogue adds to a thread's columns: two neighbours of every 8.
template <class S>
struct BiasPairs {
    float2 value[S::kTileN / 8] = {};

    __device__ void load(const float* bias, int first_col, int n) {
#pragma unroll
        for (int j = 0; j < S::kTileN / 8; ++j) {
            if (first_col + j * 8 < n) {  // n is even: the neighbour is inside too
                value[j] = __ldg(reinterpret_cast<const float2*>(bias + first_col + j * 8));
            }
        }
    }
};

__device__ __forceinline__ int column_in_tile() {
    return static_cast<int>(threadIdx.x) % 4 * 2;
}

// A thread's sums: two neighbours in row lane / 4 of its warp's 16 and two in the row 8 further
// down, for every 8 columns. All are finished before any is stored: with eight warps an SM
// only many of them at once hide what the special function unit takes.
template <class S, Epilogue kEpilogue>
__device__ __forceinline__ void finish_sums(float (&sum)[S::kMmaRows][S::kSums],
                                            const BiasPairs<S>& bias) {
#pragma unroll
    for (int i = 0; i < S::kMmaRows; ++i) {
#pragma unroll
        for (int j = 0; j < S::kSums; ++j) {
            const float2 add = bias.value[j / 4];
            const float value = sum[i][j] + (j % 2 == 0 ? add.x : add.y);
            sum[i][j] = kEpilogue == Epilogue::kBiasGelu ? gelu_tanh(value) : value;
        }
    }
}

// Four threads fill a sector of 32 bytes. C is not read again: it should not drive A and B out of
// the L2 cache.
template <class S, bool kInside>
__device__ __forceinline__ void store_sums(const float (&sum)[S::kMmaRows][S::kSums], float* c,
                                           int m, int n, int row, int first_col) {
    const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
    const int first_row = row + thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
    for (int i = 0; i < S::kMmaRows; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int r = first_row + i * kMmaM + half * 8;
            if (!kInside && r >= m) continue;
            float* out = c + static_cast<size_t>(r) * n + first_col;
#pragma unroll
            for (int j = 0; j < S::kTileN / 8; ++j) {
                if (kInside || first_col + j * 8 < n) {
                    __stcs(reinterpret_cast<float2*>(out + j * 8),
                           make_float2(sum[i][j * 4 + half * 2], sum[i][j * 4 + half * 2 + 1]));
                }
            }
        }
    }
}

template <class S, Epilogue kEpilogue>
__device__ __forceinline__ void consume(const Ring<S>& ring, float* c, const float* bias, int m,
                                        int n, int k, int tiles, int consumer) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int own_rows = consumer * S::kConsumerM;
    RingPlace<S> place;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        float sum[S::kMmaRows][S::kSums];
        int previous = 0;
        for (int k0 = 0; k0 < k; k0 += S::kTileK, place.next()) {
            barrier_wait(ring.full(place.stage), place.round & 1);
            multiply_stage<S>(sum, ring.a(place.stage) + own_rows * kLineBytes, ring.b(place.stage),
                              k0 == 0);
            // One stage's multiplications stay in flight while the one before is handed back.
            multiply_wait<1>();
            if (k0 > 0 && lane == 0) barrier_arrive(ring.empty(previous));
            previous = place.stage;
        }
        // While the last multiplications run.
        const TileOrigin origin = raster_tile<S::kTileM, S::kTileN, S::kBand>(m, n, tile);
        const int first_col = origin.col + column_in_tile();
        BiasPairs<S> pairs;
        if constexpr (kEpilogue != Epilogue::kNone) pairs.load(bias, first_col, n);
        multiply_wait<0>();
        if (lane == 0) barrier_arrive(ring.empty(previous));
#pragma unroll
        for (int i = 0; i < S::kMmaRows; ++i) pin(sum[i]);
        if constexpr (kEpilogue != Epilogue::kNone) finish_sums<S, kEpilogue>(sum, pairs);
        if (origin.row + S::kTileM <= m && origin.col + S::kTileN <= n) {
            store_sums<S, true>(sum, c, m, n, origin.row + own_rows, first_col);
        } else {
            store_sums<S, false>(sum, c, m, n, origin.row + own_rows, first_col);
        }
    }
}

template <class S, Epilogue kEpilogue>
__global__ void __launch_bounds__(kThreads, 1)
    gemm_hopper(const __grid_constant__ CUtensorMap map_a,
                const __grid_constant__ CUtensorMap map_b, int m, int n, int k,
                const float* __restrict__ bias, float* __restrict__ c) {
    extern __shared__ unsigned char shared[];
    const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    const unsigned aligned = (base + kSwizzleBytes - 1) / kSwizzleBytes * kSwizzleBytes;
    const Ring<S> ring{aligned, aligned + S::kStages * S::kBytesStage};
    const int tiles = (m + S::kTileM - 1) / S::kTileM * ((n + S::kTileN - 1) / S::kTileN);
    if (threadIdx.x == 0) {
        prefetch_map(&map_a);
        prefetch_map(&map_b);
        for (int stage = 0; stage < S::kStages; ++stage) {
            barrier_init(ring.full(stage), 1);
            barrier_init(ring.empty(stage), kWarps * kConsumers);
        }
        barrier_init_fence();
    }
    __syncthreads();

    const int warpgroup = static_cast<int>(threadIdx.x) / kWarpgroup;
    if (warpgroup == 0) {
        give_registers<kProducerRegisters>();
        if (threadIdx.x == 0) produce<S>(ring, &map_a, &map_b, m, n, k, tiles);
        __syncwarp();
    } else {
        take_registers<kConsumerRegisters>();
        consume<S, kEpilogue>(ring, c, bias, m, n, k, tiles, warpgroup - 1);
    }
}

template <class S, Epilogue kEpilogue>
Launch launcher(const Problem& p, const Operands& o, const DeviceLimits& device) {
    const auto kernel = gemm_hopper<S, kEpilogue>;
    common::check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::kBytes),
        "shared memory for gemm/hopper");
    const CUtensorMap map_a = matrix_map(o.a, p.dtype, p.m, p.k, S::kTileM);
    const CUtensorMap map_b = S::kByColumns ? matrix_map(o.b, p.dtype, p.n, p.k, S::kBoxCols)
                                            : matrix_map(o.b, p.dtype, p.k, p.n, S::kTileK);
    const unsigned blocks = std::min(raster_blocks<S::kTileM, S::kTileN>(p.m, p.n),
                                     static_cast<unsigned>(device.multiprocessors));
    return [=](cudaStream_t stream) {
        kernel<<<blocks, kThreads, S::kBytes, stream>>>(map_a, map_b, p.m, p.n, p.k, o.bias, o.c);
        common::check(cudaGetLastError(), "launch of gemm/hopper");
    };
}

template <Dtype dtype>
Launch choose(const Problem& problem, const Operands& operands, const DeviceLimits& device) {
    using Large = HopperShape<dtype, 128, 256, 4, 16>;
    using Small = HopperShape<dtype, 128, 128, 6, 16>;
    return with_epilogue(problem.epilogue, [&](auto epilogue) {
        constexpr Epilogue kEpilogue = decltype(epilogue)::value;
        return fills<Large::kTileM, Large::kTileN>(problem, device)
                   ? launcher<Large, kEpilogue>(problem, operands, device)
                   : launcher<Small, kEpilogue>(problem, operands, device);
    });
}

}  // namespace

Launch prepare_hopper(const Problem& problem, const Operands& operands,
                      const DeviceLimits& device) {
    // 9.0a code runs on no later generation.
    if (device.compute_capability != 90) {
        throw perfgate::sdk::Unsupported(
            "gemm/hopper is made of instructions that compute capability 9.0 alone has");
    }
    switch (problem.dtype) {
        case Dtype::kF16:
            return choose<Dtype::kF16>(problem, operands, device);
        case Dtype::kBf16:
            return choose<Dtype::kBf16>(problem, operands, device);
        case Dtype::kE4m3:
            return choose<Dtype::kE4m3>(problem, operands, device);
        case Dtype::kF32:
        case Dtype::kTf32:
            break;
    }
    throw std::invalid_argument("gemm/hopper has no dtype but f16, bf16 and e4m3");
}

}  // namespace gemm

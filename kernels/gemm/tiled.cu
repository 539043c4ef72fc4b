// SPDX-License-Identifier: Apache-2.0
// f32 GEMM on the CUDA cores: tiles of A and B in shared memory, a block of C in each thread's
// registers, 128-bit loads, and the next tile on its way from memory while this one is multiplied.
//
//     block tile of C, 128 x 256 (the large shape)     a warp's part, 64 x 64: 8 x 4 threads, each
//     +--------+--------+--------+--------+            with 2 x 4 chunks of 4 x 4 elements
//     | warp 0 | warp 1 | warp 2 | warp 3 |              columns 0   4   8   12 | 16 ...
//     |64 x 64 |        |        |        |            row 0  [ 0][ 1][ 2][ 3] | [ 0] ...
//     +--------+--------+--------+--------+                4  [ 4][ 5][ 6][ 7] | [ 4] ...
//     | warp 4 | warp 5 | warp 6 | warp 7 |               ..     numbers of threads
//     +--------+--------+--------+--------+               28  [28][29][30][31] | ...
//                                                         32  [ 0][ 1] ...
//
//     A's tile, 128 x 16, transposed: 16 lines of      B's tile, 16 x 256, as in memory
//     128 rows. Each thread brings 2 vectors of 4      Each thread brings 4 vectors of 4
#include "common/cuda.hpp"
#include "gemm/epilogue.hpp"
#include "gemm/raster.cuh"

namespace gemm {
namespace {

// A warp is 8 x 4 threads. Each thread owns chunks of 4 x 4 elements, so that both operands come
// out of shared memory in 128-bit reads, and neighbouring threads read neighbouring chunks.
constexpr int kLaneRows = 8;
constexpr int kLaneCols = 4;
constexpr int kChunk = 4;

struct alignas(16) Vector4 {
    float x, y, z, w;
};

// gelu_fast() by intrinsics: with its instructions spelled out the registers of this kernel, all of
// which are taken, fall otherwise, and the loop before it takes 8 % longer (2048 x 4096 x 2048,
// H100).
template <Epilogue kEpilogue>
__device__ __forceinline__ float finish_here(float value, float bias) {
    if constexpr (kEpilogue != Epilogue::kBiasGelu) return finish<kEpilogue>(value, bias);
    const float x = value + bias;
    const float y = x * fmaf(static_cast<float>(kGeluScale * kGeluCubic), x * x,
                             static_cast<float>(kGeluScale));
    return __fdividef(x, 1.0f + __expf(-2.0f * y));
}

template <int kTileM_, int kTileN_, int kTileK_, int kWarpM_, int kWarpN_, int kBlocksPerSm_>
struct TiledShape {
    static constexpr int kTileM = kTileM_, kTileN = kTileN_, kTileK = kTileK_;
    static constexpr int kWarpM = kWarpM_, kWarpN = kWarpN_;
    static constexpr int kBlocksPerSm = kBlocksPerSm_;
    static constexpr int kWarpCols = kTileN / kWarpN;
    static constexpr int kThreads = (kTileM / kWarpM) * kWarpCols * 32;
    static constexpr int kRowChunks = kWarpM / (kLaneRows * kChunk);
    static constexpr int kColChunks = kWarpN / (kLaneCols * kChunk);
    static constexpr int kVectorsPerRowA = kTileK / 4;
    static constexpr int kVectorsPerRowB = kTileN / 4;
    static constexpr int kLoadsA = kTileM * kVectorsPerRowA / kThreads;
    static constexpr int kLoadsB = kTileK * kVectorsPerRowB / kThreads;
    static constexpr int kRowStepA = kThreads / kVectorsPerRowA;
    static constexpr int kRowStepB = kThreads / kVectorsPerRowB;
    static constexpr int kRows = kRowChunks * kChunk;
    static constexpr int kCols = kColChunks * kChunk;
    static_assert(kLoadsA * kThreads == kTileM * kVectorsPerRowA);
    static_assert(kLoadsB * kThreads == kTileK * kVectorsPerRowB);
    static_assert(kTileK == 8 || kTileK == 16);
};

// Where row `row` of A's tile lies in the transposed tile's line for column 4 * quad + (0..3). The
// exclusive or spreads the transposing stores of a warp over all 32 banks; it leaves each chunk of
// four rows together, so the reads stay 128 bits wide.
template <class S>
__device__ __forceinline__ int transposed_row(int row, int quad) {
    return row ^ (quad * (128 / S::kTileK));
}

// Four elements of one row from column `col` on, zero beyond the matrix.
template <bool kVector>
__device__ __forceinline__ Vector4 load4(const float* row, int col, int cols, bool row_inside) {
    Vector4 value{0.0f, 0.0f, 0.0f, 0.0f};
    if (kVector) {  // cols is a multiple of 4 here: inside or outside as a whole
        if (row_inside && col < cols) value = *reinterpret_cast<const Vector4*>(row + col);
    } else if (row_inside) {
        if (col + 0 < cols) value.x = row[col + 0];
        if (col + 1 < cols) value.y = row[col + 1];
        if (col + 2 < cols) value.z = row[col + 2];
        if (col + 3 < cols) value.w = row[col + 3];
    }
    return value;
}

// In shared memory, A's transposed, and a thread's elements of C in registers.
template <class S>
using TileA = float[S::kTileK][S::kTileM];
template <class S>
using TileB = float[S::kTileK][S::kTileN];
template <class S>
using Sums = float[S::kRows][S::kCols];

// The thread's part of a tile of A (kTileM x kTileK), from memory to registers: kLoadsA vectors,
// kRowStepA rows apart, from (row, col) on, which lies at `source`.
template <class S, bool kVector>
__device__ __forceinline__ void fetch_a(Vector4 (&next)[S::kLoadsA], const float* source,
                                        size_t step, int row, int col, int m, int k) {
#pragma unroll
    for (int i = 0; i < S::kLoadsA; ++i) {
        next[i] = load4<kVector>(source + i * step, col, k, row + i * S::kRowStepA < m);
    }
}

// The same of a tile of B (kTileK x kTileN).
template <class S, bool kVector>
__device__ __forceinline__ void fetch_b(Vector4 (&next)[S::kLoadsB], const float* source,
                                        size_t step, int row, int col, int n, int k) {
#pragma unroll
    for (int i = 0; i < S::kLoadsB; ++i) {
        next[i] = load4<kVector>(source + i * step, col, n, row + i * S::kRowStepB < k);
    }
}

// From registers to shared memory. The thread's vectors of A are columns 4 quad to 4 quad + 3,
// which become lines; those of B lie from (row, col) on.
template <class S>
__device__ __forceinline__ void stage_a(TileA<S>& tile, const Vector4 (&next)[S::kLoadsA], int row,
                                        int quad) {
#pragma unroll
    for (int i = 0; i < S::kLoadsA; ++i) {
        const int at = transposed_row<S>(row + i * S::kRowStepA, quad);
        tile[quad * 4 + 0][at] = next[i].x;
        tile[quad * 4 + 1][at] = next[i].y;
        tile[quad * 4 + 2][at] = next[i].z;
        tile[quad * 4 + 3][at] = next[i].w;
    }
}

template <class S>
__device__ __forceinline__ void stage_b(TileB<S>& tile, const Vector4 (&next)[S::kLoadsB], int row,
                                        int col) {
#pragma unroll
    for (int i = 0; i < S::kLoadsB; ++i) {
        *reinterpret_cast<Vector4*>(&tile[row + i * S::kRowStepB][col]) = next[i];
    }
}

// Column kk of A's tile in the rows of the thread's chunks, the first of which begins at `row`.
template <class S>
__device__ __forceinline__ void read_a(float (&fa)[S::kRows], const TileA<S>& tile, int kk,
                                       int row) {
#pragma unroll
    for (int r = 0; r < S::kRowChunks; ++r) {
        const int at = transposed_row<S>(row, kk / 4) + r * kLaneRows * kChunk;
        const auto v = *reinterpret_cast<const Vector4*>(&tile[kk][at]);
        fa[r * 4 + 0] = v.x, fa[r * 4 + 1] = v.y, fa[r * 4 + 2] = v.z, fa[r * 4 + 3] = v.w;
    }
}

// Row kk of B's tile in the columns of the thread's chunks.
template <class S>
__device__ __forceinline__ void read_b(float (&fb)[S::kCols], const TileB<S>& tile, int kk,
                                       int col) {
#pragma unroll
    for (int s = 0; s < S::kColChunks; ++s) {
        const int at = col + s * kLaneCols * kChunk;
        const auto v = *reinterpret_cast<const Vector4*>(&tile[kk][at]);
        fb[s * 4 + 0] = v.x, fb[s * 4 + 1] = v.y, fb[s * 4 + 2] = v.z, fb[s * 4 + 3] = v.w;
    }
}

// sum (kRows x kCols) += A (kRows x kTileK) * B (kTileK x kCols), an outer product at a time.
template <class S>
__device__ __forceinline__ void multiply_tile(Sums<S>& sum, const TileA<S>& a, const TileB<S>& b,
                                              int row, int col) {
#pragma unroll
    for (int kk = 0; kk < S::kTileK; ++kk) {
        float fa[S::kRows];
        float fb[S::kCols];
        read_a<S>(fa, a, kk, row);
        read_b<S>(fb, b, kk, col);
#pragma unroll
        for (int i = 0; i < S::kRows; ++i) {
#pragma unroll
            for (int j = 0; j < S::kCols; ++j) sum[i][j] = fmaf(fa[i], fb[j], sum[i][j]);
        }
    }
}

// Bias and function, in a pass of its own before the stores: with their addresses alive as well
// sums would be spilled.
template <class S, Epilogue kEpilogue>
__device__ __forceinline__ void finish_sums(Sums<S>& sum, const float* bias, int first_col, int n) {
#pragma unroll
    for (int j = 0; j < S::kCols; ++j) {
        const int col = first_col + j / kChunk * kLaneCols * kChunk + j % kChunk;
        const float add = col < n ? __ldg(bias + col) : 0.0f;
#pragma unroll
        for (int i = 0; i < S::kRows; ++i) sum[i][j] = finish_here<kEpilogue>(sum[i][j], add);
    }
}

// Chunk (r, s) goes to row first_row + 32 r, column first_col + 16 s of C.
template <class S, bool kVector>
__device__ __forceinline__ void store_sums(const Sums<S>& sum, int first_row, int first_col, int m,
                                           int n, float* c) {
#pragma unroll
    for (int i = 0; i < S::kRows; ++i) {
        const int row = first_row + i / kChunk * kLaneRows * kChunk + i % kChunk;
        if (row >= m) continue;
        float* out = c + static_cast<size_t>(row) * n;
#pragma unroll
        for (int s = 0; s < S::kColChunks; ++s) {
            const int col = first_col + s * kLaneCols * kChunk;
            if (kVector) {
                if (col < n) {
                    *reinterpret_cast<Vector4*>(out + col) = {sum[i][s * 4], sum[i][s * 4 + 1],
                                                              sum[i][s * 4 + 2], sum[i][s * 4 + 3]};
                }
            } else {
#pragma unroll
                for (int j = 0; j < kChunk; ++j) {
                    if (col + j < n) out[col + j] = sum[i][s * 4 + j];
                }
            }
        }
    }
}

template <class S, bool kVector, Epilogue kEpilogue>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    gemm_tiled(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b,
               const float* __restrict__ bias, float* __restrict__ c) {
    __shared__ alignas(16) TileA<S> tile_a[2];
    __shared__ alignas(16) TileB<S> tile_b[2];

    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % 32;
    const int warp = thread / 32;
    const TileOrigin tile = raster_tile<S::kTileM, S::kTileN>(m, n);

    // Where this thread's vectors begin that it carries to shared memory.
    const int a_row = thread / S::kVectorsPerRowA;
    const int a_quad = thread % S::kVectorsPerRowA;
    const int b_row = thread / S::kVectorsPerRowB;
    const int b_col = thread % S::kVectorsPerRowB * 4;
    const float* a_source = a + static_cast<size_t>(tile.row + a_row) * k;
    const float* b_source = b + static_cast<size_t>(b_row) * n;
    const size_t a_step = static_cast<size_t>(S::kRowStepA) * k;
    const size_t b_step = static_cast<size_t>(S::kRowStepB) * n;
    Vector4 a_next[S::kLoadsA];
    Vector4 b_next[S::kLoadsB];

    auto fetch = [&](int k0) {
        fetch_a<S, kVector>(a_next, a_source, a_step, tile.row + a_row, k0 + a_quad * 4, m, k);
        fetch_b<S, kVector>(b_next, b_source + k0 * static_cast<size_t>(n), b_step, k0 + b_row,
                            tile.col + b_col, n, k);
    };
    auto stage = [&](int buffer) {
        stage_a<S>(tile_a[buffer], a_next, a_row, a_quad);
        stage_b<S>(tile_b[buffer], b_next, b_row, b_col);
    };

    // Where the first of this thread's chunks of C lies in the tile.
    const int row = warp / S::kWarpCols * S::kWarpM + lane / kLaneCols * kChunk;
    const int col = warp % S::kWarpCols * S::kWarpN + lane % kLaneCols * kChunk;
    Sums<S> sum = {};

    fetch(0);
    stage(0);
    __syncthreads();
    int buffer = 0;
    for (int k0 = S::kTileK; k0 < k; k0 += S::kTileK) {
        fetch(k0);
        multiply_tile<S>(sum, tile_a[buffer], tile_b[buffer], row, col);
        buffer ^= 1;
        stage(buffer);  // last read before the previous barrier
        __syncthreads();
    }
    multiply_tile<S>(sum, tile_a[buffer], tile_b[buffer], row, col);

    if constexpr (kEpilogue != Epilogue::kNone) {
        finish_sums<S, kEpilogue>(sum, bias, tile.col + col, n);
    }
    store_sums<S, kVector>(sum, tile.row + row, tile.col + col, m, n, c);
}

template <class S, bool kVector, Epilogue kEpilogue>
Launch launcher(const Problem& p, const Operands& o) {
    return [=](cudaStream_t stream) {
        gemm_tiled<S, kVector, kEpilogue>
            <<<raster_blocks<S::kTileM, S::kTileN>(p.m, p.n), S::kThreads, 0, stream>>>(
                p.m, p.n, p.k, static_cast<const float*>(o.a), static_cast<const float*>(o.b),
                o.bias, o.c);
        common::check(cudaGetLastError(), "launch");
    };
}

template <class S>
Launch choose_width(const Problem& problem, const Operands& operands) {
    // Rows of A are k long, rows of B and C n: all begin on 16 bytes only if both divide by 4.
    const bool aligned = problem.k % 4 == 0 && problem.n % 4 == 0;
    return with_epilogue(problem.epilogue, [&](auto epilogue) {
        return aligned ? launcher<S, true, decltype(epilogue)::value>(problem, operands)
                       : launcher<S, false, decltype(epilogue)::value>(problem, operands);
    });
}

}  // namespace

Launch prepare_tiled(const Problem& problem, const Operands& operands, const DeviceLimits& device) {
    using Large = TiledShape<128, 256, 16, 64, 64, 1>;
    using Small = TiledShape<64, 64, 16, 32, 16, 2>;
    const bool fills_device = fills<Large::kTileM, Large::kTileN>(problem, device);
    return fills_device ? choose_width<Large>(problem, operands)
                        : choose_width<Small>(problem, operands);
}

}  // namespace gemm

// SPDX-License-Identifier: Apache-2.0
// f32 GEMM on the CUDA cores: tiles of A and B in shared memory, a block of C in each thread's
// registers, 128-bit loads, and the next tile on its way from memory while this one is multiplied.
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

template <class S, bool kVector, Epilogue kEpilogue>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    gemm_tiled(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b,
               const float* __restrict__ bias, float* __restrict__ c) {
    __shared__ alignas(16) float tile_a[2][S::kTileK][S::kTileM];  // transposed
    __shared__ alignas(16) float tile_b[2][S::kTileK][S::kTileN];

    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % 32;
    const int warp = thread / 32;
    const TileOrigin tile = raster_tile<S::kTileM, S::kTileN>(m, n);

    // Which elements this thread carries from memory to shared memory.
    constexpr int kRowStepA = S::kThreads / S::kVectorsPerRowA;
    constexpr int kRowStepB = S::kThreads / S::kVectorsPerRowB;
    const int a_row = thread / S::kVectorsPerRowA;
    const int a_quad = thread % S::kVectorsPerRowA;
    const int b_row = thread / S::kVectorsPerRowB;
    const int b_col = thread % S::kVectorsPerRowB * 4;
    const float* a_source = a + static_cast<size_t>(tile.row + a_row) * k;
    const float* b_source = b + static_cast<size_t>(b_row) * n;
    const size_t a_step = static_cast<size_t>(kRowStepA) * k;
    const size_t b_step = static_cast<size_t>(kRowStepB) * n;
    Vector4 a_next[S::kLoadsA];
    Vector4 b_next[S::kLoadsB];

    auto fetch = [&](int k0) {
#pragma unroll
        for (int i = 0; i < S::kLoadsA; ++i) {
            a_next[i] = load4<kVector>(a_source + i * a_step, k0 + a_quad * 4, k,
                                       tile.row + a_row + i * kRowStepA < m);
        }
#pragma unroll
        for (int i = 0; i < S::kLoadsB; ++i) {
            b_next[i] = load4<kVector>(b_source + k0 * static_cast<size_t>(n) + i * b_step,
                                       tile.col + b_col, n, k0 + b_row + i * kRowStepB < k);
        }
    };
    auto stage = [&](int buffer) {
#pragma unroll
        for (int i = 0; i < S::kLoadsA; ++i) {
            const int row = transposed_row<S>(a_row + i * kRowStepA, a_quad);
            tile_a[buffer][a_quad * 4 + 0][row] = a_next[i].x;
            tile_a[buffer][a_quad * 4 + 1][row] = a_next[i].y;
            tile_a[buffer][a_quad * 4 + 2][row] = a_next[i].z;
            tile_a[buffer][a_quad * 4 + 3][row] = a_next[i].w;
        }
#pragma unroll
        for (int i = 0; i < S::kLoadsB; ++i) {
            *reinterpret_cast<Vector4*>(&tile_b[buffer][b_row + i * kRowStepB][b_col]) = b_next[i];
        }
    };

    // Which elements of C this thread computes: chunk r, s begins at row + r * 32, col + s * 16.
    const int row = warp / S::kWarpCols * S::kWarpM + lane / kLaneCols * kChunk;
    const int col = warp % S::kWarpCols * S::kWarpN + lane % kLaneCols * kChunk;
    constexpr int kRows = S::kRowChunks * kChunk;
    constexpr int kCols = S::kColChunks * kChunk;
    float sum[kRows][kCols] = {};

    auto multiply = [&](int buffer) {
#pragma unroll
        for (int kk = 0; kk < S::kTileK; ++kk) {
            float fa[kRows];
            float fb[kCols];
#pragma unroll
            for (int r = 0; r < S::kRowChunks; ++r) {
                const int at = transposed_row<S>(row, kk / 4) + r * kLaneRows * kChunk;
                const auto v = *reinterpret_cast<const Vector4*>(&tile_a[buffer][kk][at]);
                fa[r * 4 + 0] = v.x, fa[r * 4 + 1] = v.y, fa[r * 4 + 2] = v.z, fa[r * 4 + 3] = v.w;
            }
#pragma unroll
            for (int s = 0; s < S::kColChunks; ++s) {
                const int at = col + s * kLaneCols * kChunk;
                const auto v = *reinterpret_cast<const Vector4*>(&tile_b[buffer][kk][at]);
                fb[s * 4 + 0] = v.x, fb[s * 4 + 1] = v.y, fb[s * 4 + 2] = v.z, fb[s * 4 + 3] = v.w;
            }
#pragma unroll
            for (int i = 0; i < kRows; ++i) {
#pragma unroll
                for (int j = 0; j < kCols; ++j) sum[i][j] = fmaf(fa[i], fb[j], sum[i][j]);
            }
        }
    };

    fetch(0);
    stage(0);
    __syncthreads();
    int buffer = 0;
    for (int k0 = S::kTileK; k0 < k; k0 += S::kTileK) {
        fetch(k0);
        multiply(buffer);
        buffer ^= 1;
        stage(buffer);  // last read before the previous barrier
        __syncthreads();
    }
    multiply(buffer);

    // In a pass of its own: with the addresses of the stores alive as well sums would be spilled.
    if constexpr (kEpilogue != Epilogue::kNone) {
#pragma unroll
        for (int j = 0; j < kCols; ++j) {
            const int c_col = tile.col + col + j / kChunk * kLaneCols * kChunk + j % kChunk;
            const float add = c_col < n ? __ldg(bias + c_col) : 0.0f;
#pragma unroll
            for (int i = 0; i < kRows; ++i) sum[i][j] = finish_here<kEpilogue>(sum[i][j], add);
        }
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const int c_row = tile.row + row + i / kChunk * kLaneRows * kChunk + i % kChunk;
        if (c_row >= m) continue;
        float* out = c + static_cast<size_t>(c_row) * n;
#pragma unroll
        for (int s = 0; s < S::kColChunks; ++s) {
            const int c_col = tile.col + col + s * kLaneCols * kChunk;
            if (kVector) {
                if (c_col < n) {
                    *reinterpret_cast<Vector4*>(out + c_col) = {
                        sum[i][s * 4], sum[i][s * 4 + 1], sum[i][s * 4 + 2], sum[i][s * 4 + 3]};
                }
            } else {
#pragma unroll
                for (int j = 0; j < kChunk; ++j) {
                    if (c_col + j < n) out[c_col + j] = sum[i][s * 4 + j];
                }
            }
        }
    }
}

template <class S, bool kVector, Epilogue kEpilogue>
Launcher launcher(const Problem& p, const Operands& o) {
    return [=](cudaStream_t stream) {
        gemm_tiled<S, kVector, kEpilogue>
            <<<raster_blocks<S::kTileM, S::kTileN>(p.m, p.n), S::kThreads, 0, stream>>>(
                p.m, p.n, p.k, static_cast<const float*>(o.a), static_cast<const float*>(o.b),
                o.bias, o.c);
        common::check(cudaGetLastError(), "launch");
    };
}

template <class S>
Launcher choose_width(const Problem& problem, const Operands& operands) {
    // Rows of A are k long, rows of B and C n: all begin on 16 bytes only if both divide by 4.
    const bool aligned = problem.k % 4 == 0 && problem.n % 4 == 0;
    return with_epilogue(problem.epilogue, [&](auto epilogue) {
        return aligned ? launcher<S, true, decltype(epilogue)::value>(problem, operands)
                       : launcher<S, false, decltype(epilogue)::value>(problem, operands);
    });
}

}  // namespace

Launcher prepare_tiled(const Problem& problem, const Operands& operands,
                       const DeviceLimits& device) {
    using Large = TiledShape<128, 256, 16, 64, 64, 1>;
    using Small = TiledShape<64, 64, 16, 32, 16, 2>;
    const bool fills_device = fills<Large::kTileM, Large::kTileN>(problem, device);
    return fills_device ? choose_width<Large>(problem, operands)
                        : choose_width<Small>(problem, operands);
}

}  // namespace gemm

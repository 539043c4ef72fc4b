// SPDX-License-Identifier: Apache-2.0
// f16, bf16 and tf32 GEMM by mma.sync (compute capability 8.0 and up), the part that tensor_core.cu
// and pipelined.cu share: tiles of A and B come through a ring of shared-memory stages filled by
// cp.async; warps read fragments with ldmatrix and multiply them, accumulating in f32.
//
// A stage holds A's tile row by row (kTileK long) and then B's (kTileN long). All of it is
// addressed in chunks of 16 bytes, the unit of cp.async and of an ldmatrix row. Chunks are permuted
// within their row by an exclusive or with the row's number, so that the eight rows of an 8 x 16
// byte matrix lie in different banks without padding.
#pragma once

#include "common/element.hpp"
#include "common/tensor_core.cuh"
#include "gemm/epilogue.hpp"
#include "gemm/raster.cuh"

namespace gemm {

using common::commit_copies;
using common::copy_async;
using common::kChunkBytes;
using common::load_matrices;
using common::load_matrices_transposed;
using common::shared_address;
using common::wait_for_copies;

constexpr int kMmaM = 16;
constexpr int kMmaN = 8;

__device__ __forceinline__ void store_shared(unsigned target, const unsigned (&words)[4]) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};\n" ::"r"(target), "r"(words[0]),
                 "r"(words[1]), "r"(words[2]), "r"(words[3])
                 : "memory");
}

__device__ __forceinline__ unsigned load_word(unsigned address) {
    unsigned word;
    asm volatile("ld.shared.b32 %0, [%1];\n" : "=r"(word) : "r"(address) : "memory");
    return word;
}

template <Dtype dtype>
__device__ __forceinline__ void multiply_accumulate(float (&c)[4], const unsigned (&a)[4],
                                                    const unsigned (&b)[2]) {
    if constexpr (dtype == Dtype::kF16) {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    } else if constexpr (dtype == Dtype::kBf16) {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    } else {
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
}

template <Dtype kDtype_, int kTileM_, int kTileN_, int kTileK_, int kWarpM_, int kWarpN_,
          int kStages_, int kBlocksPerSm_>
struct TensorShape {
    static constexpr Dtype kDtype = kDtype_;
    static constexpr int kTileM = kTileM_, kTileN = kTileN_, kTileK = kTileK_;
    static constexpr int kWarpM = kWarpM_, kWarpN = kWarpN_;
    static constexpr int kStages = kStages_, kBlocksPerSm = kBlocksPerSm_;
    using Storage = typename common::Element<kDtype>::Storage;

    static constexpr int kWarpCols = kTileN / kWarpN;
    static constexpr int kThreads = kTileM / kWarpM * kWarpCols * 32;
    static constexpr int kChunk = kChunkBytes / static_cast<int>(sizeof(Storage));
    static constexpr int kMmaK = 2 * kChunk;  // 16 elements of 2 bytes, 8 of 4
    static constexpr int kSteps = kTileK / kMmaK;
    static constexpr int kChunksA = kTileK / kChunk;  // in a row
    static constexpr int kChunksB = kTileN / kChunk;
    static constexpr int kRowStepA = kThreads / kChunksA;
    static constexpr int kRowStepB = kThreads / kChunksB;
    static constexpr int kLoadsA = kTileM / kRowStepA;
    static constexpr int kLoadsB = kTileK / kRowStepB;
    static constexpr int kBytesA = kTileM * kChunksA * kChunkBytes;
    static constexpr int kBytesStage = kBytesA + kTileK * kChunksB * kChunkBytes;
    static constexpr int kBytes = kStages * kBytesStage;
    static constexpr int kMmaRows = kWarpM / kMmaM;
    static constexpr int kMmaCols = kWarpN / kMmaN;

    static_assert(kChunksA == 4 || kChunksA == 8);
    static_assert(kChunksB >= 8 && kThreads % kChunksB == 0);
    // A thread's chunks lie whole multiples of 8 rows apart: one permutation serves them all.
    static_assert(kRowStepA % 8 == 0 && (kRowStepB % 8 == 0 || kLoadsB * kRowStepB == kTileK));
    static_assert(kLoadsA * kRowStepA == kTileM && kLoadsB * kRowStepB == kTileK);
    // Two sets of fragments take turns and must begin every tile alike.
    static_assert(kSteps >= 2 && kSteps % 2 == 0 && kStages >= 3);
    // Fragments are loaded in kMmaRows equal parts, those of B two columns of mma at a time.
    static_assert(kMmaCols % (2 * kMmaRows) == 0);

    // Rows of A are 64 or 128 bytes: of 64-byte rows two share a line of all banks.
    __device__ static int permute_a(int row, int chunk) {
        return chunk ^ (kChunksA == 8 ? row & 7 : (row >> 1) & 3);
    }
    // 16-bit fragments of B are read as ldmatrix rows, tf32 ones word by word: four rows of two
    // chunks each.
    __device__ static int permute_b(int row, int chunk) {
        return chunk ^ (sizeof(Storage) == 2 ? row & 7 : (row & 3) * 2);
    }
};

// One chunk from global to shared memory, of which the first `inside` elements exist; the rest is
// zero. Where rows do not begin on 16 bytes the elements come one by one.
template <bool kVector, class Storage, int kChunk>
__device__ __forceinline__ void copy_chunk(unsigned target, const Storage* source, int inside) {
    if constexpr (kVector) {  // rows are whole chunks here
        copy_async(target, source, inside > 0);
    } else {
        unsigned words[4] = {};
#pragma unroll
        for (int i = 0; i < kChunk; ++i) {
            if (i >= inside) continue;
            const Storage value = source[i];
            if constexpr (sizeof(Storage) == 2) {
                words[i / 2] |= static_cast<unsigned>(value) << (i % 2 * 16);
            } else {
                words[i] = common::float_bits(value);
            }
        }
        store_shared(target, words);
    }
}

// A thread's share of carrying tiles to shared memory. It walks along k, tile by tile.
template <class S, bool kVector>
struct Loader {
    using Storage = typename S::Storage;
    static constexpr int kLoads = S::kLoadsA + S::kLoadsB;

    const Storage* a_source;
    const Storage* b_source;
    size_t a_step, b_step;
    unsigned a_target;
    int a_chunk, b_row, b_chunk;
    int a_rows_left, b_cols_left, k_left;

    __device__ Loader(int n, int k) {
        const int thread = static_cast<int>(threadIdx.x);
        const int a_row = thread / S::kChunksA;
        a_chunk = thread % S::kChunksA;
        b_row = thread / S::kChunksB;
        b_chunk = thread % S::kChunksB;
        a_target = (a_row * S::kChunksA + S::permute_a(a_row, a_chunk)) * kChunkBytes;
        a_step = static_cast<size_t>(S::kRowStepA) * k;
        b_step = static_cast<size_t>(S::kRowStepB) * n;
    }

    __device__ void begin(TileOrigin tile, int m, int n, int k, const Storage* a,
                          const Storage* b) {
        const int a_row = static_cast<int>(threadIdx.x) / S::kChunksA;
        a_rows_left = m - tile.row - a_row;
        b_cols_left = n - tile.col - b_chunk * S::kChunk;
        a_source = a + static_cast<size_t>(tile.row + a_row) * k + a_chunk * S::kChunk;
        b_source = b + static_cast<size_t>(b_row) * n + tile.col + b_chunk * S::kChunk;
        k_left = k;
    }

    // Carries one of kLoads chunks to the stage at `base`.
    __device__ void load(int index, unsigned base) const {
        if (index < S::kLoadsA) {
            const bool row_inside = index * S::kRowStepA < a_rows_left;
            copy_chunk<kVector, Storage, S::kChunk>(
                base + a_target + index * S::kRowStepA * S::kChunksA * kChunkBytes,
                a_source + index * a_step, row_inside ? k_left - a_chunk * S::kChunk : 0);
        } else {
            const int i = index - S::kLoadsA;
            const int row = b_row + i * S::kRowStepB;
            const unsigned target =
                S::kBytesA + (row * S::kChunksB + S::permute_b(row, b_chunk)) * kChunkBytes;
            copy_chunk<kVector, Storage, S::kChunk>(base + target, b_source + i * b_step,
                                                    row < k_left ? b_cols_left : 0);
        }
    }

    __device__ void next(int n) {
        a_source += S::kTileK;
        b_source += static_cast<size_t>(S::kTileK) * n;
        k_left -= S::kTileK;
    }
};

// What a warp multiplies in one step along k.
template <class S>
struct Fragments {
    unsigned a[S::kMmaRows][4];
    unsigned b[S::kMmaCols][2];
};

// Where a thread reads its fragments in a stage. ldmatrix takes the address of row lane % 16 of two
// chunks.
template <class S>
struct FragmentReader {
    int lane;
    int warp_row, warp_col;
    unsigned a_line;
    int a_first;

    __device__ FragmentReader() {
        const int thread = static_cast<int>(threadIdx.x);
        lane = thread % 32;
        warp_row = thread / 32 / S::kWarpCols * S::kWarpM;
        warp_col = thread / 32 % S::kWarpCols * S::kWarpN;
        const int row = warp_row + lane % 16;
        a_line = row * S::kChunksA * kChunkBytes;
        a_first = S::permute_a(row, lane / 16);
    }

    // One of kMmaRows equal parts of a step's fragments, from the stage at `base`.
    __device__ void read(Fragments<S>& to, unsigned base, int step, int part) const {
        load_matrices(to.a[part], base + a_line + (a_first ^ (step * 2)) * kChunkBytes +
                                      part * kMmaM * S::kChunksA * kChunkBytes);
        const unsigned b_base = base + S::kBytesA;
        if constexpr (sizeof(typename S::Storage) == 2) {
            constexpr int kPairs = S::kMmaCols / 2 / S::kMmaRows;
            const int row = step * S::kMmaK + lane % 16;
            const int first = S::permute_b(row, warp_col / S::kChunk + lane / 16);
#pragma unroll
            for (int j = part * kPairs; j < (part + 1) * kPairs; ++j) {
                unsigned words[4];
                load_matrices_transposed(
                    words, b_base + (row * S::kChunksB + (first ^ (j * 2))) * kChunkBytes);
                to.b[2 * j][0] = words[0], to.b[2 * j][1] = words[1];
                to.b[2 * j + 1][0] = words[2], to.b[2 * j + 1][1] = words[3];
            }
        } else {
            constexpr int kCols = S::kMmaCols / S::kMmaRows;
            const int row = step * S::kMmaK + lane % 4;
            const int first = S::permute_b(row, warp_col / S::kChunk + lane / 16);
            const unsigned in_chunk = (lane / 4 % 4) * 4;
#pragma unroll
            for (int j = part * kCols; j < (part + 1) * kCols; ++j) {
                const unsigned at =
                    b_base + (row * S::kChunksB + (first ^ (j * 2))) * kChunkBytes + in_chunk;
                to.b[j][0] = load_word(at);
                to.b[j][1] = load_word(at + 4 * S::kChunksB * kChunkBytes);
            }
        }
    }
};

template <class S>
using Sums = float[S::kMmaRows][S::kMmaCols][4];

// Multiplies the tile in the stage at `read`, whose first fragments are loaded, and loads the first
// fragments of the next. Between the multiplications of a step its successor's fragments are
// loaded. At the first step fetch(load) is called for each of kLoads loads of a later tile, and
// fetched() after the last. At the last step, when all of this stage is read, advance() says where
// the next stage is, once that may be read.
template <class S, int kLoads, class Reader, class Fetch, class Fetched, class Advance>
__device__ __forceinline__ void multiply_tile(Sums<S>& sum, Fragments<S> (&fragments)[2],
                                              const Reader& reader, unsigned& read,
                                              const Fetch& fetch, const Fetched& fetched,
                                              const Advance& advance) {
#pragma unroll
    for (int step = 0; step < S::kSteps; ++step) {
        if (step == S::kSteps - 1) read = advance();
#pragma unroll
        for (int part = 0; part < S::kMmaRows; ++part) {
            reader.read(fragments[(step + 1) % 2], read, (step + 1) % S::kSteps, part);
            if (step == 0) {
#pragma unroll
                for (int load = part; load < kLoads; load += S::kMmaRows) fetch(load);
            }
#pragma unroll
            for (int i = 0; i < S::kMmaCols; ++i) {
                // To and fro: the last fragment of one row is the first of the next.
                const int j = part % 2 == 0 ? i : S::kMmaCols - 1 - i;
                multiply_accumulate<S::kDtype>(sum[part][j], fragments[step % 2].a[part],
                                               fragments[step % 2].b[j]);
            }
        }
        if (step == 0) fetched();
    }
}

// A thread holds two neighbours in row lane / 4 and two in the row 8 further down, of every column
// of mma. Of a pair of these columns a thread of even lane gives the right one's to its neighbour
// and takes the left one's: each then has four neighbours, which are one store of 16 bytes.
template <class S, Epilogue kEpilogue>
__device__ __forceinline__ void store_sums_by_16(const Sums<S>& sum,
                                                 const FragmentReader<S>& reader, TileOrigin tile,
                                                 int m, int n, const float* bias, float* c) {
    const bool odd = reader.lane % 2 == 1;
    const int first_row = tile.row + reader.warp_row + reader.lane / 4;
    const int first_col = tile.col + reader.warp_col + (odd ? kMmaN : 0) + reader.lane % 4 / 2 * 4;
#pragma unroll
    for (int j = 0; j < S::kMmaCols; j += 2) {
        const int col = first_col + j * kMmaN;
        float4 add = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if constexpr (kEpilogue != Epilogue::kNone) {
            if (col < n) add = __ldg(reinterpret_cast<const float4*>(bias + col));
        }
#pragma unroll
        for (int i = 0; i < S::kMmaRows; ++i) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int row = first_row + i * kMmaM + half * 8;
                const float* const left = &sum[i][j][half * 2];
                const float* const right = &sum[i][j + 1][half * 2];
                const float x = __shfl_xor_sync(0xffffffffu, odd ? left[0] : right[0], 1);
                const float y = __shfl_xor_sync(0xffffffffu, odd ? left[1] : right[1], 1);
                if (row >= m || col >= n) continue;
                *reinterpret_cast<float4*>(c + static_cast<size_t>(row) * n + col) =
                    make_float4(finish<kEpilogue>(odd ? x : left[0], add.x),
                                finish<kEpilogue>(odd ? y : left[1], add.y),
                                finish<kEpilogue>(odd ? right[0] : x, add.z),
                                finish<kEpilogue>(odd ? right[1] : y, add.w));
            }
        }
    }
}

// The same, element by element, for rows of C that do not begin on 16 bytes.
template <class S, Epilogue kEpilogue>
__device__ __forceinline__ void store_sums_by_4(const Sums<S>& sum, const FragmentReader<S>& reader,
                                                TileOrigin tile, int m, int n, const float* bias,
                                                float* c) {
    const int first_row = tile.row + reader.warp_row + reader.lane / 4;
    const int first_col = tile.col + reader.warp_col + reader.lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < S::kMmaRows; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = first_row + i * kMmaM + half * 8;
            if (row >= m) continue;
            float* out = c + static_cast<size_t>(row) * n;
#pragma unroll
            for (int j = 0; j < S::kMmaCols; ++j) {
#pragma unroll
                for (int k = 0; k < 2; ++k) {
                    const int col = first_col + j * kMmaN + k;
                    if (col >= n) continue;
                    float add = 0.0f;
                    if constexpr (kEpilogue != Epilogue::kNone) add = __ldg(bias + col);
                    out[col] = finish<kEpilogue>(sum[i][j][half * 2 + k], add);
                }
            }
        }
    }
}

// Writes a warp's part of the tile.
template <class S, bool kVector, Epilogue kEpilogue>
__device__ __forceinline__ void store_sums(const Sums<S>& sum, const FragmentReader<S>& reader,
                                           TileOrigin tile, int m, int n, const float* bias,
                                           float* c) {
    if constexpr (kVector) {
        store_sums_by_16<S, kEpilogue>(sum, reader, tile, m, n, bias, c);
    } else {
        store_sums_by_4<S, kEpilogue>(sum, reader, tile, m, n, bias, c);
    }
}

}  // namespace gemm

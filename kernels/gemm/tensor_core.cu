// SPDX-License-Identifier: Apache-2.0
// f16, bf16 and tf32 GEMM on the tensor cores, accumulating in f32. Tiles of A and B come through a
// ring of shared-memory stages filled by cp.async; warps read fragments with ldmatrix and multiply
// them with mma.sync (compute capability 8.0 and up).
//
// A stage holds A's tile row by row (kTileK long) and then B's (kTileN long). All of it is
// addressed in chunks of 16 bytes, the unit of cp.async and of an ldmatrix row. Chunks are permuted
// within their row by an exclusive or with the row's number, so that the eight rows of an 8 x 16
// byte matrix lie in different banks without padding.
#include "common/cuda.hpp"
#include "common/element.hpp"
#include "gemm/launchers.hpp"
#include "gemm/raster.cuh"

namespace gemm {
namespace {

constexpr int kChunkBytes = 16;
constexpr int kMmaM = 16;
constexpr int kMmaN = 8;

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Copies 16 bytes, or writes 16 zero bytes and reads nothing.
__device__ __forceinline__ void copy_async(unsigned target, const void* source, bool inside) {
    const int bytes = inside ? kChunkBytes : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(target), "l"(source),
                 "r"(bytes)
                 : "memory");
}

__device__ __forceinline__ void commit_copies() {
    asm volatile("cp.async.commit_group;\n" ::: "memory");
}

template <int kPending>
__device__ __forceinline__ void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;\n" ::"n"(kPending) : "memory");
}

__device__ __forceinline__ void store_shared(unsigned target, const unsigned (&words)[4]) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};\n" ::"r"(target), "r"(words[0]),
                 "r"(words[1]), "r"(words[2]), "r"(words[3])
                 : "memory");
}

__device__ __forceinline__ void load_matrices(unsigned (&words)[4], unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
}

__device__ __forceinline__ void load_matrices_transposed(unsigned (&words)[4], unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
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

template <class S, bool kVector>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    gemm_tensor_core(int m, int n, int k, const typename S::Storage* __restrict__ a,
                     const typename S::Storage* __restrict__ b, float* __restrict__ c) {
    using Storage = typename S::Storage;
    extern __shared__ __align__(128) unsigned char shared[];
    const unsigned ring = shared_address(shared);

    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % 32;
    const int warp = thread / 32;
    const TileOrigin tile = raster_tile<S::kTileM, S::kTileN>(m, n);

    // Which chunks this thread carries to shared memory; the pointers move on tile by tile.
    const int a_row = thread / S::kChunksA;
    const int a_chunk = thread % S::kChunksA;
    const int b_row = thread / S::kChunksB;
    const int b_chunk = thread % S::kChunksB;
    const int a_rows_left = m - tile.row - a_row;
    const int b_cols_left = n - tile.col - b_chunk * S::kChunk;
    const unsigned a_target = (a_row * S::kChunksA + S::permute_a(a_row, a_chunk)) * kChunkBytes;
    const Storage* a_source = a + static_cast<size_t>(tile.row + a_row) * k + a_chunk * S::kChunk;
    const Storage* b_source = b + static_cast<size_t>(b_row) * n + tile.col + b_chunk * S::kChunk;
    const size_t a_step = static_cast<size_t>(S::kRowStepA) * k;
    const size_t b_step = static_cast<size_t>(S::kRowStepB) * n;
    int k_left = k;

    auto fetch_one = [&](int load, unsigned base) {
        if (load < S::kLoadsA) {
            const bool row_inside = load * S::kRowStepA < a_rows_left;
            copy_chunk<kVector, Storage, S::kChunk>(
                base + a_target + load * S::kRowStepA * S::kChunksA * kChunkBytes,
                a_source + load * a_step, row_inside ? k_left - a_chunk * S::kChunk : 0);
        } else {
            const int i = load - S::kLoadsA;
            const int row = b_row + i * S::kRowStepB;
            const unsigned target =
                S::kBytesA + (row * S::kChunksB + S::permute_b(row, b_chunk)) * kChunkBytes;
            copy_chunk<kVector, Storage, S::kChunk>(base + target, b_source + i * b_step,
                                                    row < k_left ? b_cols_left : 0);
        }
    };
    auto next_tile = [&] {
        a_source += S::kTileK;
        b_source += static_cast<size_t>(S::kTileK) * n;
        k_left -= S::kTileK;
    };
    constexpr int kLoads = S::kLoadsA + S::kLoadsB;

    // Which fragments this thread reads. ldmatrix takes the address of row lane % 16 of two chunks.
    const int warp_row = warp / S::kWarpCols * S::kWarpM;
    const int warp_col = warp % S::kWarpCols * S::kWarpN;
    const int fragment_row = warp_row + lane % 16;
    const unsigned a_line = fragment_row * S::kChunksA * kChunkBytes;
    const int a_first = S::permute_a(fragment_row, lane / 16);

    struct Fragments {
        unsigned a[S::kMmaRows][4];
        unsigned b[S::kMmaCols][2];
    };
    // One of kMmaRows equal parts of a step's fragments.
    auto load_part = [&](Fragments& to, unsigned base, int step, int part) {
        load_matrices(to.a[part], base + a_line + (a_first ^ (step * 2)) * kChunkBytes +
                                      part * kMmaM * S::kChunksA * kChunkBytes);
        const unsigned b_base = base + S::kBytesA;
        if constexpr (sizeof(Storage) == 2) {
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
    };

    float sum[S::kMmaRows][S::kMmaCols][4] = {};
    Fragments fragments[2];

    const int tiles = (k + S::kTileK - 1) / S::kTileK;
#pragma unroll
    for (int stage = 0; stage < S::kStages - 1; ++stage) {
        if (stage < tiles) {
#pragma unroll
            for (int load = 0; load < kLoads; ++load) {
                fetch_one(load, ring + stage * S::kBytesStage);
            }
            next_tile();
        }
        commit_copies();
    }
    wait_for_copies<S::kStages - 2>();
    __syncthreads();
    unsigned read_stage = ring;
    unsigned write_stage = ring + (S::kStages - 1) * S::kBytesStage;
    const unsigned last_stage = write_stage;
#pragma unroll
    for (int part = 0; part < S::kMmaRows; ++part) load_part(fragments[0], ring, 0, part);

    for (int t = 0; t < tiles; ++t) {
        const bool fetching = t + S::kStages - 1 < tiles;
#pragma unroll
        for (int step = 0; step < S::kSteps; ++step) {
            if (step == S::kSteps - 1) {
                wait_for_copies<S::kStages - 2>();
                __syncthreads();
                read_stage = read_stage == last_stage ? ring : read_stage + S::kBytesStage;
            }
            // Between the multiplications of this step its successor's fragments are loaded, at the
            // last step from the next stage, and at the first one the tile that is kStages - 1
            // ahead is requested. It overwrites the stage of tile t - 1, whose last read lies
            // before the last barrier.
#pragma unroll
            for (int part = 0; part < S::kMmaRows; ++part) {
                load_part(fragments[(step + 1) % 2], read_stage, (step + 1) % S::kSteps, part);
                if (step == 0 && fetching) {
#pragma unroll
                    for (int load = part; load < kLoads; load += S::kMmaRows) {
                        fetch_one(load, write_stage);
                    }
                }
#pragma unroll
                for (int j = 0; j < S::kMmaCols; ++j) {
                    multiply_accumulate<S::kDtype>(sum[part][j], fragments[step % 2].a[part],
                                                   fragments[step % 2].b[j]);
                }
            }
            if (step == 0) {
                commit_copies();  // even an empty group: waiting counts groups
                next_tile();
                write_stage = write_stage == last_stage ? ring : write_stage + S::kBytesStage;
            }
        }
    }

    // A thread holds two neighbours in row lane / 4 and two in the row 8 further down; four threads
    // fill a sector of 32 bytes.
#pragma unroll
    for (int i = 0; i < S::kMmaRows; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = tile.row + warp_row + i * kMmaM + half * 8 + lane / 4;
            if (row >= m) continue;
            float* out = c + static_cast<size_t>(row) * n;
#pragma unroll
            for (int j = 0; j < S::kMmaCols; ++j) {
                const int col = tile.col + warp_col + j * kMmaN + lane % 4 * 2;
                const float x = sum[i][j][half * 2];
                const float y = sum[i][j][half * 2 + 1];
                if (kVector) {
                    if (col < n) *reinterpret_cast<float2*>(out + col) = make_float2(x, y);
                } else {
                    if (col < n) out[col] = x;
                    if (col + 1 < n) out[col + 1] = y;
                }
            }
        }
    }
}

template <class S, bool kVector>
cudaError_t launch(const Problem& p, const void* a, const void* b, float* c, cudaStream_t stream) {
    using Storage = typename S::Storage;
    gemm_tensor_core<S, kVector>
        <<<raster_blocks<S::kTileM, S::kTileN>(p.m, p.n), S::kThreads, S::kBytes, stream>>>(
            p.m, p.n, p.k, static_cast<const Storage*>(a), static_cast<const Storage*>(b), c);
    return cudaGetLastError();
}

template <class S, bool kVector>
Launcher prepare() {
    // Beyond 48 KB a kernel must ask.
    common::check(cudaFuncSetAttribute(gemm_tensor_core<S, kVector>,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize, S::kBytes),
                  "shared memory for gemm/tensor_core");
    return launch<S, kVector>;
}

template <class S>
Launcher launcher(const Problem& p) {
    // cp.async moves 16 aligned bytes: rows of A and of B must begin on 16 bytes.
    const bool aligned = p.k % S::kChunk == 0 && p.n % S::kChunk == 0;
    return aligned ? prepare<S, true>() : prepare<S, false>();
}

template <Dtype dtype>
Launcher choose(const Problem& problem, const DeviceLimits& device) {
    constexpr int kWide = 32 / static_cast<int>(element_bytes(dtype));  // elements in 32 bytes
    using Large = TensorShape<dtype, 256, 128, 2 * kWide, 64, 64, 4, 1>;
    using Small = TensorShape<dtype, 64, 64, 4 * kWide, 32, 32, 4, 3>;
    const bool fills_device = fills<Large::kTileM, Large::kTileN>(problem, device);
    return fills_device ? launcher<Large>(problem) : launcher<Small>(problem);
}

}  // namespace

Launcher choose_tensor_core(const Problem& problem, const DeviceLimits& device) {
    switch (problem.dtype) {
        case Dtype::kF16:
            return choose<Dtype::kF16>(problem, device);
        case Dtype::kBf16:
            return choose<Dtype::kBf16>(problem, device);
        case Dtype::kTf32:
            return choose<Dtype::kTf32>(problem, device);
        case Dtype::kF32:
            break;
    }
    throw std::invalid_argument("gemm/tensor_core has no dtype f32; use tf32, f16 or bf16");
}

}  // namespace gemm

// SPDX-License-Identifier: Apache-2.0
// Attention in one kernel for compute capability 8.0 and up. A block owns 128 queries of a head and
// walks over the keys, 64 at a time: scores = Q K^T on the tensor cores, softmax in the registers
// that hold them, O += weights * V on the tensor cores again. No score ever reaches memory.
//
//     block: 128 queries, 4 warps          for each tile of 64 keys
//     Q 128 x head      K 64 x head        scores 128 x 64             V 64 x head    O 128 x head
//     +--------+ 0      +--------+         +----------------+          +--------+     +--------+
//     | warp 0 |        |        |         | 32 x 64, in    |          |        |     | 32 x   |
//     +--------+ 32     |  tile  |  Q K^T  | registers      | softmax, |  tile  |  +  | head,  |
//     | warp 1 |   x    |        |  ---->  +----------------+    x     |        | --> | in     |
//     +--------+ 64     +--------+         | 32 x 64        |          +--------+     | regs   |
//     | ...    |        a ring of two      +----------------+          a ring of two  +--------+
//
// A fragment of scores after mma.sync (16 rows; a warp has two, one below the other): lane L holds,
// of every 8 keys, two neighbours in row L / 4 and two in row L / 4 + 8:
//
//     keys     0  1   2  3   4  5   6  7 |  8  9 ...       element 4 j + e of the lane's array:
//     row 0   [ 0 ]  [ 1 ]  [ 2 ]  [ 3 ] | [ 0 ]  ...      key 8 j + 2 (L % 4) + e % 2,
//     row 1   [ 4 ]  [ 5 ]  [ 6 ]  [ 7 ] | [ 4 ]  ...      row L / 4 + 8 (e / 2)
//     ...                    numbers of lanes
//     row 8   [ 0 ]  [ 1 ]  [ 2 ]  [ 3 ] | ...             That is also how mma.sync takes its left
//     ...                                                  operand: packed to bf16, weights of 16
//                                                          keys multiply V without being moved.
//
// Softmax goes along without having seen the keys to come: each row keeps the largest score so far
// and the sum of its weights, and when the maximum has grown by more than kLagLog2, what was summed
// up before is scaled down once.
//
// Tiles lie in shared memory row by row, in chunks of 16 bytes that are permuted by an exclusive or
// with the row's number: neither cp.async nor ldmatrix nor its transposing form meets a bank
// conflict.
#include "attention/launchers.hpp"
#include "attention/online_softmax.cuh"
#include "attention/tensor_core.cuh"
#include "common/cuda.hpp"

namespace attention {
namespace {

template <int kHeadSize_, bool kCausal_>
struct FlashShape {
    static constexpr int kHeadSize = kHeadSize_;
    static constexpr bool kCausal = kCausal_;
    static constexpr int kQueries = 128, kKeys = 64, kStages = 2, kBlocksPerSm = 2;
    // 32 queries a warp: with 16 each fragment of K and V would be read for half as much work, and
    // shared memory, not the tensor cores, would set the pace.
    static constexpr int kWarpRows = 32;
    static constexpr int kThreads = kQueries / kWarpRows * 32;
    static constexpr int kMmaRows = kWarpRows / 16;

    static constexpr int kChunks = kHeadSize / kChunk;  // in a row
    static constexpr int kRowBytes = kChunks * kChunkBytes;
    static constexpr int kRowStep = kThreads / kChunks;  // rows that the block copies at once
    static constexpr int kBytesQ = kQueries * kRowBytes;
    static constexpr int kBytesTile = kKeys * kRowBytes;
    static constexpr int kBytes = kBytesQ + 2 * kStages * kBytesTile;
    static_assert(kRowStep % 8 == 0, "one permutation serves all chunks of a thread");
};

// Where chunk `chunk` of row `row` lies.
template <class S>
__device__ __forceinline__ unsigned chunk_at(int row, int chunk) {
    return static_cast<unsigned>(row * S::kRowBytes + (chunk ^ (row & 7)) * kChunkBytes);
}

// Requests kRows rows; those from rows_left on are zeros.
template <class S, int kRows>
__device__ __forceinline__ void fetch(unsigned target, const std::uint16_t* source, int rows_left) {
    const int row = static_cast<int>(threadIdx.x) / S::kChunks;
    const int chunk = static_cast<int>(threadIdx.x) % S::kChunks;
    target += chunk_at<S>(row, chunk);
    source += row * S::kHeadSize + chunk * kChunk;
#pragma unroll
    for (int i = 0; i < kRows; i += S::kRowStep) {
        copy_async(target + i * S::kRowBytes, source + i * S::kHeadSize, row + i < rows_left);
    }
}

// What a warp has in registers, fragment by fragment of 16 rows: 32 queries x 64 keys of scores,
// and 32 queries x head of output.
template <class S>
using Scores = float[S::kMmaRows][S::kKeys / 2];
template <class S>
using Output = float[S::kMmaRows][S::kHeadSize / 2];

// Requests tile `tile` of K and of V, 64 keys x head each, into its stage.
template <class S>
__device__ __forceinline__ void fetch_tile(unsigned shared_k, unsigned shared_v,
                                           const std::uint16_t* k, const std::uint16_t* v, int tile,
                                           int sequence) {
    const int first = tile * S::kKeys;
    const unsigned stage = tile % S::kStages * S::kBytesTile;
    const size_t at = static_cast<size_t>(first) * S::kHeadSize;
    fetch<S, S::kKeys>(shared_k + stage, k + at, sequence - first);
    fetch<S, S::kKeys>(shared_v + stage, v + at, sequence - first);
}

// Operands, 16 x 16 a fragment. `lane`: where this lane's row of the first fragment begins. Other
// chunks of the row are found by an exclusive or, since tiles begin on whole rows.
//
// Queries 16 i on of the warp, all i; elements of the head from 16 step on.
template <class S>
__device__ __forceinline__ void load_queries(unsigned (&words)[S::kMmaRows][4], unsigned lane,
                                             int step) {
#pragma unroll
    for (int i = 0; i < S::kMmaRows; ++i) {
        load_matrices(words[i], (lane ^ (step * 2 * kChunkBytes)) + i * 16 * S::kRowBytes);
    }
}
// Keys from 16 pair on, elements of the head from 16 step on.
template <class S>
__device__ __forceinline__ void load_keys(unsigned (&words)[4], unsigned lane, int step, int pair) {
    load_matrices(words, (lane ^ (step * 2 * kChunkBytes)) + pair * 16 * S::kRowBytes);
}
// Keys from 16 step on, elements of the head from 16 pair on.
template <class S>
__device__ __forceinline__ void load_values(unsigned (&words)[4], unsigned lane, int step,
                                            int pair) {
    load_matrices_transposed(words, (lane ^ (pair * 2 * kChunkBytes)) + step * 16 * S::kRowBytes);
}

// Columns from 16 pair on of the warp's accumulator: c (32 x 16) += a (32 x 16) * b (16 x 16)
template <class S, int kCount>
__device__ __forceinline__ void multiply_pair(float (&c)[S::kMmaRows][kCount], int pair,
                                              const unsigned (&a)[S::kMmaRows][4],
                                              const unsigned (&b)[4]) {
#pragma unroll
    for (int i = 0; i < S::kMmaRows; ++i) {
        multiply_accumulate(c[i], 8 * pair, a[i], b[0], b[1]);
        multiply_accumulate(c[i], 8 * pair + 4, a[i], b[2], b[3]);
    }
}

// Scores (32 x 64) of keys that a query must not see become -infinity.
template <class S>
__device__ __forceinline__ void mask_scores(Scores<S>& score, int first_key, int sequence,
                                            int first_query, int warp_row, int lane) {
    const int last_key = first_key + S::kKeys - 1;
    if (last_key >= sequence || (S::kCausal && last_key > first_query + warp_row)) {
#pragma unroll
        for (int i = 0; i < S::kMmaRows; ++i) {
            mask<S::kCausal>(score[i], first_key, sequence,
                             first_query + warp_row + i * 16 + lane / 4);
        }
    }
}

// Weights (32 x 64) as left operands: two neighbouring fragments of 8 keys are, packed, 16 keys.
template <class S>
__device__ __forceinline__ void pack_weights(unsigned (&words)[S::kKeys / 16][S::kMmaRows][4],
                                             const Scores<S>& weight) {
#pragma unroll
    for (int step = 0; step < S::kKeys / 16; ++step) {
#pragma unroll
        for (int i = 0; i < S::kMmaRows; ++i) {
#pragma unroll
            for (int w = 0; w < 4; ++w) {
                const int e = 8 * step + 2 * w;
                words[step][i][w] = pack(weight[i][e], weight[i][e + 1]);
            }
        }
    }
}

// Divides the warp's output (32 x head) by the sums of its rows and stores it in whole chunks, by
// way of the warp's own rows of Q, which no one reads any more. o: the head's first query.
template <class S>
__device__ __forceinline__ void store_output(const Output<S>& out, const Rows (&rows)[S::kMmaRows],
                                             unsigned shared_q, int warp_row, int lane,
                                             int first_query, int sequence, std::uint16_t* o) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < S::kMmaRows; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float inverse = 1.0f / quad_sum(rows[i].sum[half]);
            const int row = warp_row + i * 16 + half * 8 + lane / 4;
#pragma unroll
            for (int j = 0; j < S::kHeadSize / 8; ++j) {
                store_shared(shared_q + chunk_at<S>(row, j) + lane % 4 * 4,
                             pack(out[i][4 * j + 2 * half] * inverse,
                                  out[i][4 * j + 2 * half + 1] * inverse));
            }
        }
    }
    __syncwarp();
    const int chunk = lane % S::kChunks;
#pragma unroll
    for (int i = 0; i < S::kWarpRows; i += 32 / S::kChunks) {
        const int row = warp_row + i + lane / S::kChunks;
        if (first_query + row >= sequence) continue;
        const uint4 words = load_shared_chunk(shared_q + chunk_at<S>(row, chunk));
        *reinterpret_cast<uint4*>(o + static_cast<size_t>(first_query + row) * S::kHeadSize +
                                  chunk * kChunk) = words;
    }
}

template <class S>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    attention_flash(int sequence, float scale_log2, const std::uint16_t* __restrict__ q,
                    const std::uint16_t* __restrict__ k, const std::uint16_t* __restrict__ v,
                    std::uint16_t* __restrict__ o) {
    extern __shared__ __align__(1024) unsigned char shared[];
    const unsigned shared_q = shared_address(shared);
    const unsigned shared_k = shared_q + S::kBytesQ;
    const unsigned shared_v = shared_k + S::kStages * S::kBytesTile;

    const int lane = static_cast<int>(threadIdx.x) % 32;
    // Broadcast, so that the compiler knows it is one value for the warp.
    const int warp_row =
        __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0) * S::kWarpRows;
    // Causal blocks differ in length: the longest start first.
    const int block = static_cast<int>(S::kCausal ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
    const int first_query = block * S::kQueries;
    const size_t head = static_cast<size_t>(blockIdx.y) * sequence * S::kHeadSize;
    q += head + static_cast<size_t>(first_query) * S::kHeadSize;
    k += head;
    v += head;
    const int keys = S::kCausal ? min(sequence, first_query + S::kQueries) : sequence;
    const int tiles = (keys + S::kKeys - 1) / S::kKeys;

    fetch<S, S::kQueries>(shared_q, q, sequence - first_query);
    fetch_tile<S>(shared_k, shared_v, k, v, 0, sequence);
    commit_copies();

    Output<S> out = {};
    Rows rows[S::kMmaRows];

    // Where this lane's rows of the first fragments begin. The chunks of the others are found by an
    // exclusive or, since tiles begin on whole rows.
    const unsigned q_lane = shared_q + chunk_at<S>(warp_row + lane % 16, lane / 16);
    const unsigned k_lane = shared_k + chunk_at<S>(lane / 16 * 8 + lane % 8, lane / 8 % 2);
    const unsigned v_lane = shared_v + chunk_at<S>(lane % 16, lane / 16);
    const int last_row = first_query + warp_row + S::kWarpRows - 1;
    for (int tile = 0; tile < tiles; ++tile) {
        wait_for_copies<0>();
        __syncthreads();  // the tile is there, and the one before it is no longer read
        if (tile + 1 < tiles) {
            fetch_tile<S>(shared_k, shared_v, k, v, tile + 1, sequence);
            commit_copies();
        }
        const int first_key = tile * S::kKeys;
        if (S::kCausal && first_key > last_row) continue;  // this warp sees none of it
        const unsigned stage = tile % S::kStages * S::kBytesTile;

        // score (32 x 64) = Q (32 x head) * K^T (head x 64). The next fragment of K is on its way
        // while the last one is multiplied, here as of V below.
        Scores<S> score = {};
        {
            constexpr int kPairs = S::kKeys / 16;
            constexpr int kSteps = S::kHeadSize / 16;
            unsigned b[2][4];
            load_keys<S>(b[0], k_lane + stage, 0, 0);
#pragma unroll
            for (int step = 0; step < kSteps; ++step) {
                unsigned a[S::kMmaRows][4];
                load_queries<S>(a, q_lane, step);
#pragma unroll
                for (int pair = 0; pair < kPairs; ++pair) {
                    const int at = step * kPairs + pair;
                    if (at + 1 < kSteps * kPairs) {
                        load_keys<S>(b[(at + 1) % 2], k_lane + stage, (at + 1) / kPairs,
                                     (at + 1) % kPairs);
                    }
                    multiply_pair<S>(score, pair, a, b[at % 2]);
                }
            }
        }

        mask_scores<S>(score, first_key, sequence, first_query, warp_row, lane);
#pragma unroll
        for (int i = 0; i < S::kMmaRows; ++i) {
            float factor[2];
            if (online_softmax(score[i], rows[i], factor, scale_log2)) rescale(out[i], factor);
        }

        // out (32 x head) += weights (32 x 64) * V (64 x head)
        {
            constexpr int kPairs = S::kHeadSize / 16;
            constexpr int kSteps = S::kKeys / 16;
            unsigned a[kSteps][S::kMmaRows][4];
            pack_weights<S>(a, score);
            unsigned b[2][4];
            load_values<S>(b[0], v_lane + stage, 0, 0);
#pragma unroll
            for (int at = 0; at < kPairs * kSteps; ++at) {
                if (at + 1 < kPairs * kSteps) {
                    load_values<S>(b[(at + 1) % 2], v_lane + stage, (at + 1) % kSteps,
                                   (at + 1) / kSteps);
                }
                const int pair = at / kSteps;
                multiply_pair<S>(out, pair, a[at % kSteps], b[at % 2]);
            }
        }
    }
    store_output<S>(out, rows, shared_q, warp_row, lane, first_query, sequence, o + head);
}

template <class S>
Launch launch_of(const Problem& p, const Tensors& t) {
    common::check(cudaFuncSetAttribute(attention_flash<S>,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize, S::kBytes),
                  "shared memory for attention/flash");
    const dim3 grid((p.sequence + S::kQueries - 1) / S::kQueries, p.head_count());
    return [p, t, grid](cudaStream_t stream) {
        attention_flash<S><<<grid, S::kThreads, S::kBytes, stream>>>(p.sequence, p.scale() * kLog2E,
                                                                     t.q, t.k, t.v, t.o);
        common::check(cudaGetLastError(), "launching attention/flash");
    };
}

}  // namespace

Launch prepare_flash(const Problem& p, const Tensors& t) {
    if (p.head_size == 64) {
        return p.causal ? launch_of<FlashShape<64, true>>(p, t)
                        : launch_of<FlashShape<64, false>>(p, t);
    }
    return p.causal ? launch_of<FlashShape<128, true>>(p, t)
                    : launch_of<FlashShape<128, false>>(p, t);
}

}  // namespace attention

// SPDX-License-Identifier: Apache-2.0
// Attention in one kernel for compute capability 8.0 and up. A block owns 128 queries of a head and
// walks over the keys, 64 at a time: scores = Q K^T on the tensor cores, softmax in the registers
// that hold them, O += weights * V on the tensor cores again. No score ever reaches memory.
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

    auto fetch_tile = [&](int tile) {
        const int first = tile * S::kKeys;
        const unsigned stage = tile % S::kStages * S::kBytesTile;
        const size_t at = static_cast<size_t>(first) * S::kHeadSize;
        fetch<S, S::kKeys>(shared_k + stage, k + at, sequence - first);
        fetch<S, S::kKeys>(shared_v + stage, v + at, sequence - first);
    };
    fetch<S, S::kQueries>(shared_q, q, sequence - first_query);
    fetch_tile(0);
    commit_copies();

    float out[S::kMmaRows][S::kHeadSize / 2] = {};
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
            fetch_tile(tile + 1);
            commit_copies();
        }
        const int first_key = tile * S::kKeys;
        if (S::kCausal && first_key > last_row) continue;  // this warp sees none of it
        const unsigned stage = tile % S::kStages * S::kBytesTile;

        // Scores. The next fragment of K is on its way while the last one is multiplied.
        float score[S::kMmaRows][S::kKeys / 2] = {};
        {
            constexpr int kPairs = S::kKeys / 16;
            constexpr int kSteps = S::kHeadSize / 16;
            auto load_k = [&](unsigned(&words)[4], int at) {
                const int step = at / kPairs;
                const int pair = at % kPairs;
                load_matrices(words, ((k_lane + stage) ^ (step * 2 * kChunkBytes)) +
                                         pair * 16 * S::kRowBytes);
            };
            auto load_q = [&](unsigned(&words)[4], int step, int i) {
                load_matrices(words, (q_lane ^ (step * 2 * kChunkBytes)) + i * 16 * S::kRowBytes);
            };
            unsigned b[2][4];
            load_k(b[0], 0);
#pragma unroll
            for (int step = 0; step < kSteps; ++step) {
                unsigned a[S::kMmaRows][4];
#pragma unroll
                for (int i = 0; i < S::kMmaRows; ++i) load_q(a[i], step, i);
#pragma unroll
                for (int pair = 0; pair < kPairs; ++pair) {
                    const int at = step * kPairs + pair;
                    if (at + 1 < kSteps * kPairs) load_k(b[(at + 1) % 2], at + 1);
#pragma unroll
                    for (int i = 0; i < S::kMmaRows; ++i) {
                        multiply_accumulate(score[i], 8 * pair, a[i], b[at % 2][0], b[at % 2][1]);
                        multiply_accumulate(score[i], 8 * pair + 4, a[i], b[at % 2][2],
                                            b[at % 2][3]);
                    }
                }
            }
        }

        const int last_key = first_key + S::kKeys - 1;
        if (last_key >= sequence || (S::kCausal && last_key > first_query + warp_row)) {
#pragma unroll
            for (int i = 0; i < S::kMmaRows; ++i) {
                mask<S::kCausal>(score[i], first_key, sequence,
                                 first_query + warp_row + i * 16 + lane / 4);
            }
        }
#pragma unroll
        for (int i = 0; i < S::kMmaRows; ++i) {
            float factor[2];
            if (online_softmax(score[i], rows[i], factor, scale_log2)) {
#pragma unroll
                for (int e = 0; e < S::kHeadSize / 2; ++e) out[i][e] *= factor[e % 4 / 2];
            }
        }

        // Two neighbouring tiles of scores are, packed, the left operand of 16 keys.
        {
            constexpr int kPairs = S::kHeadSize / 16;
            constexpr int kSteps = S::kKeys / 16;
            unsigned a[kSteps][S::kMmaRows][4];
#pragma unroll
            for (int step = 0; step < kSteps; ++step) {
#pragma unroll
                for (int i = 0; i < S::kMmaRows; ++i) {
#pragma unroll
                    for (int w = 0; w < 4; ++w) {
                        const int e = 8 * step + 2 * w;
                        a[step][i][w] = pack(score[i][e], score[i][e + 1]);
                    }
                }
            }
            auto load_v = [&](unsigned(&words)[4], int at) {
                const int step = at % kSteps;
                const int pair = at / kSteps;
                load_matrices_transposed(words, ((v_lane + stage) ^ (pair * 2 * kChunkBytes)) +
                                                    step * 16 * S::kRowBytes);
            };
            unsigned b[2][4];
            load_v(b[0], 0);
#pragma unroll
            for (int at = 0; at < kPairs * kSteps; ++at) {
                if (at + 1 < kPairs * kSteps) load_v(b[(at + 1) % 2], at + 1);
                const int pair = at / kSteps;
#pragma unroll
                for (int i = 0; i < S::kMmaRows; ++i) {
                    multiply_accumulate(out[i], 8 * pair, a[at % kSteps][i], b[at % 2][0],
                                        b[at % 2][1]);
                    multiply_accumulate(out[i], 8 * pair + 4, a[at % kSteps][i], b[at % 2][2],
                                        b[at % 2][3]);
                }
            }
        }
    }

    // Through the warp's own rows of Q, which no one reads any more, to whole chunks.
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
        *reinterpret_cast<uint4*>(o + head + static_cast<size_t>(first_query + row) * S::kHeadSize +
                                  chunk * kChunk) = words;
    }
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

// SPDX-License-Identifier: Apache-2.0
// Attention for compute capability 9.0. Of a block's warpgroups one only loads: a single thread
// asks the copy engine (TMA) for tiles of K and V and waits for room. The others own 64 queries
// each and multiply with wgmma, whose operands K and V stay in shared memory; weights come from
// registers.
//
//     block, head size 128: 2 groups of 64 queries      per tile of 128 keys
//     (head size 64: 3 groups)
//     Q 128 x 128          K 128 x 128                  scores, 64 x 128 a group   V 128 x 128
//     +---------+ 0        +---------+  two panels of   +-------------+            +---------+
//     | group 0 |          | panel:  |  64 elements:    | registers,  |  softmax   |         |
//     +---------+ 64   x   | 128 B   |  128-byte lines, | 64 a thread |  ----> x   |  panels |
//     | group 1 |          | a line  |  swizzled        +-------------+            |         |
//     +---------+          +---------+                                             +---------+
//                          a ring of two stages         O, 64 x head a group,      a ring of two
//                                                       head / 2 registers a thread
//
// A thread's scores after wgmma, and its part of O, lie as after mma.sync (flash.cu): warp w of a
// group has rows 16 w to 16 w + 15, a thread rows lane / 4 and lane / 4 + 8 of these, two
// neighbours out of every 8 columns.
//
// wgmma runs on its own until it is waited for. So a warpgroup starts the scores of the next tile
// and the values of this one together, and computes the next tile's softmax while the values are
// still being multiplied. And the warpgroups take turns (named barriers): while one's softmax runs,
// the tensor cores belong to the other.
//
//     group 0   | scores 1, values 0 |  softmax 1  | scores 2, values 1 |  softmax 2  | ...
//     group 1   |     softmax 0      | scores 1, values 0 |  softmax 1  | scores 2, values 1 ...
#include <algorithm>
#include <string>

#include "attention/hopper.cuh"
#include "attention/launchers.hpp"
#include "attention/online_softmax.cuh"
#include "attention/tensor_core.cuh"
#include "common/cuda.hpp"
#include "common/ring.cuh"
#include "common/tensor_map.hpp"

namespace attention {

// Of external linkage: for other architectures most of it goes unused, which nvcc reports of
// members of an unnamed namespace.
namespace hopper {

constexpr int kWarpgroup = 128;
constexpr int kGroupQueries = 64;
constexpr int kPanel = 64;  // elements of a 128-byte line

template <int kHeadSize_, bool kCausal_>
struct Shape {
    static constexpr int kHeadSize = kHeadSize_;
    static constexpr bool kCausal = kCausal_;
    static constexpr int kGroups = kHeadSize == 64 ? 3 : 2;
    static constexpr int kQueries = kGroups * kGroupQueries;
    static constexpr int kKeys = 128, kStages = 2;
    static constexpr int kThreads = (kGroups + 1) * kWarpgroup;
    // Of the 64 Ki registers; in steps of 8.
    static constexpr int kLoaderRegisters = kGroups == 3 ? 32 : 24;
    static constexpr int kGroupRegisters = kGroups == 3 ? 160 : 240;

    static constexpr int kPanels = kHeadSize / kPanel;
    static constexpr int kPanelQ = kQueries * kPanel * 2;  // bytes
    static constexpr int kPanelKeys = kKeys * kPanel * 2;
    static constexpr int kBytesQ = kPanels * kPanelQ;
    static constexpr int kBytesTile = kPanels * kPanelKeys;
    static constexpr int kBytes = kBytesQ + 2 * kStages * kBytesTile;
};

}  // namespace hopper

namespace {

using namespace hopper;

template <int kStages>
struct Barriers {
    std::uint64_t q_full;
    std::uint64_t k_full[kStages], k_empty[kStages];
    std::uint64_t v_full[kStages], v_empty[kStages];
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// --- one warpgroup: 64 queries ---

// Starts score (64 x 128) = Q (64 x head) * K^T (head x 128), both in shared memory.
template <class S>
__device__ __forceinline__ void start_scores(float (&score)[S::kKeys / 2], unsigned group_q,
                                             unsigned keys) {
    pin(score);
    multiply_begin();
#pragma unroll
    for (int step = 0; step < S::kHeadSize / 16; ++step) {
        const int panel = step * 16 / kPanel;
        const unsigned in_line = step * 16 % kPanel * 2;
        multiply_scores(score, describe_operand(group_q + panel * S::kPanelQ + in_line, 0),
                        describe_operand(keys + panel * S::kPanelKeys + in_line, 0), step > 0);
    }
    multiply_commit();
}

// Starts out (64 x head) += weights (64 x 128, in registers) * V (128 x head, in shared memory).
template <class S>
__device__ __forceinline__ void start_values(float (&out)[S::kHeadSize / 2],
                                             const unsigned (&weights)[S::kKeys / 16][4],
                                             unsigned values) {
    pin(out);
    multiply_begin();
#pragma unroll
    for (int step = 0; step < S::kKeys / 16; ++step) {
        multiply_values(out, weights[step],
                        describe_operand(values + step * 16 * kPanel * 2, S::kPanelKeys));
    }
    multiply_commit();
}

// Scores (64 x 128) of keys that a query must not see become -infinity. row: the first of the
// thread's two.
template <class S>
__device__ __forceinline__ void mask_tile(float (&score)[S::kKeys / 2], int tile, int sequence,
                                          int group_query, int row) {
    const int first_key = tile * S::kKeys;
    const int last_key = first_key + S::kKeys - 1;
    if (last_key < sequence && (!S::kCausal || last_key <= group_query)) return;
    mask<S::kCausal>(score, first_key, sequence, group_query + row);
}

// Weights (64 x 128) as left operands, 16 keys each.
template <class S>
__device__ __forceinline__ void pack_weights(unsigned (&weights)[S::kKeys / 16][4],
                                             const float (&score)[S::kKeys / 2]) {
#pragma unroll
    for (int step = 0; step < S::kKeys / 16; ++step) {
#pragma unroll
        for (int w = 0; w < 4; ++w) {
            weights[step][w] = pack(score[8 * step + 2 * w], score[8 * step + 2 * w + 1]);
        }
    }
}

// Divides the group's output (64 x head) by the sums of its rows and puts it, in bf16, where
// chunk_at(row, chunk) says.
template <class S, class ChunkAt>
__device__ __forceinline__ void stage_output(const float (&out)[S::kHeadSize / 2], const Rows& rows,
                                             const ChunkAt& chunk_at, int row, int lane) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const float inverse = 1.0f / quad_sum(rows.sum[half]);
#pragma unroll
        for (int j = 0; j < S::kHeadSize / 8; ++j) {
            store_shared(
                chunk_at(row + 8 * half, j) + lane % 4 * 4,
                pack(out[4 * j + 2 * half] * inverse, out[4 * j + 2 * half + 1] * inverse));
        }
    }
}

// Copies it from there to o, whole chunks at a time; queries beyond the sequence are left out.
template <class S, class ChunkAt>
__device__ __forceinline__ void copy_output(std::uint16_t* o, const ChunkAt& chunk_at, int thread,
                                            int group_query, int sequence) {
    constexpr int kChunks = S::kHeadSize / kChunk;
#pragma unroll
    for (int i = thread; i < kGroupQueries * kChunks; i += kWarpgroup) {
        if (group_query + i / kChunks >= sequence) continue;
        reinterpret_cast<uint4*>(o)[i] = load_shared_chunk(chunk_at(i / kChunks, i % kChunks));
    }
}

// --- whose turn it is, and what may be overwritten ---

// The group whose turn it is starts multiplications; then it is the next one's.
__device__ __forceinline__ void await_turn(int group) {
    group_sync(1 + group, 2 * kWarpgroup);
}
template <class S>
__device__ __forceinline__ void pass_turn(int group, int tile, int tiles) {
    const int next = (group + 1) % S::kGroups;
    if (next != 0 || tile < tiles - 1) group_arrive(1 + next, 2 * kWarpgroup);
}

// This warp has read the stage.
__device__ __forceinline__ void release(const std::uint64_t& empty, int lane) {
    if (lane == 0) barrier_arrive(shared_address(&empty));
}

// --- the two roles ---

// The loading thread: Q once (kQueries x head), then tiles of K and V (128 keys x head) as stages
// become empty.
template <class S>
__device__ __forceinline__ void load_tiles(const CUtensorMap& q_map, const CUtensorMap& k_map,
                                           const CUtensorMap& v_map, int first_query, int head,
                                           int tiles, unsigned shared_q, unsigned shared_k,
                                           unsigned shared_v,
                                           const Barriers<S::kStages>& barriers) {
    const unsigned q_full = shared_address(&barriers.q_full);
    barrier_expect(q_full, S::kBytesQ);
    for (int panel = 0; panel < S::kPanels; ++panel) {
        copy_box(shared_q + panel * S::kPanelQ, q_map, panel * kPanel, first_query, head, q_full);
    }
    const auto load = [&](unsigned target, const CUtensorMap& map, int tile,
                          const std::uint64_t& full, const std::uint64_t& empty, unsigned parity) {
        barrier_wait(shared_address(&empty), parity ^ 1);
        const unsigned barrier = shared_address(&full);
        barrier_expect(barrier, S::kBytesTile);
        for (int panel = 0; panel < S::kPanels; ++panel) {
            copy_box(target + panel * S::kPanelKeys, map, panel * kPanel, tile * S::kKeys, head,
                     barrier);
        }
    };
    common::RingPlace<S::kStages> ring;
    for (int tile = 0; tile < tiles; ++tile, ring.next()) {
        const unsigned at = ring.stage * S::kBytesTile;
        load(shared_k + at, k_map, tile, barriers.k_full[ring.stage], barriers.k_empty[ring.stage],
             ring.parity);
        load(shared_v + at, v_map, tile, barriers.v_full[ring.stage], barriers.v_empty[ring.stage],
             ring.parity);
    }
}

// A warpgroup's walk over the keys: O (64 x head) of its queries.
template <class S>
__device__ __forceinline__ void attend_tiles(int sequence, float scale_log2, int first_query,
                                             int head, int tiles, unsigned shared_q,
                                             unsigned shared_k, unsigned shared_v,
                                             const Barriers<S::kStages>& barriers,
                                             std::uint16_t* o) {
    constexpr int kSteps = S::kKeys / 16;
    const int group = static_cast<int>(threadIdx.x) / kWarpgroup - 1;
    const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
    const int lane = thread % 32;
    const int group_query = first_query + group * kGroupQueries;
    const int row = thread / 32 * 16 + lane / 4;  // within the group; the other is 8 below

    const unsigned group_q = shared_q + group * kGroupQueries * kPanel * 2;
    float score[S::kKeys / 2];
    float out[S::kHeadSize / 2] = {};
    unsigned weights[kSteps][4];
    Rows rows;

    float factor[2];
    common::RingPlace<S::kStages> keys;
    common::RingPlace<S::kStages> values;
    if (group == S::kGroups - 1) group_arrive(1, 2 * kWarpgroup);  // group 0 begins
    barrier_wait(shared_address(&barriers.q_full), 0);
    barrier_wait(shared_address(&barriers.k_full[0]), 0);
    await_turn(group);
    start_scores<S>(score, group_q, shared_k);
    pass_turn<S>(group, 0, tiles);
    multiply_wait<0>();
    pin(score);
    release(barriers.k_empty[0], lane);
    keys.next();
    mask_tile<S>(score, 0, sequence, group_query, row);
    online_softmax(score, rows, factor, scale_log2);  // nothing is summed up yet
    pack_weights<S>(weights, score);

    for (int tile = 1; tile < tiles; ++tile) {
        barrier_wait(shared_address(&barriers.k_full[keys.stage]), keys.parity);
        await_turn(group);
        start_scores<S>(score, group_q, shared_k + keys.stage * S::kBytesTile);
        barrier_wait(shared_address(&barriers.v_full[values.stage]), values.parity);
        start_values<S>(out, weights, shared_v + values.stage * S::kBytesTile);
        pass_turn<S>(group, tile, tiles);
        multiply_wait<1>();
        pin(score);
        release(barriers.k_empty[keys.stage], lane);
        keys.next();
        mask_tile<S>(score, tile, sequence, group_query, row);
        const bool lags = online_softmax(score, rows, factor, scale_log2);
        multiply_wait<0>();
        pin(out);
        release(barriers.v_empty[values.stage], lane);
        values.next();
        if (lags) rescale(out, factor);
        pack_weights<S>(weights, score);
    }
    barrier_wait(shared_address(&barriers.v_full[values.stage]), values.parity);
    start_values<S>(out, weights, shared_v + values.stage * S::kBytesTile);
    multiply_wait<0>();
    pin(out);

    // Through the group's own queries, once all its warps have read them, to whole chunks.
    const int own_barrier = 1 + S::kGroups + group;
    group_sync(own_barrier, kWarpgroup);
    const auto chunk_at = [&](int chunk_row, int chunk) {
        constexpr int kPanelChunks = kPanel / kChunk;
        return group_q + chunk / kPanelChunks * S::kPanelQ + chunk_row * kPanel * 2 +
               ((chunk % kPanelChunks) ^ (chunk_row & 7)) * kChunkBytes;
    };
    stage_output<S>(out, rows, chunk_at, row, lane);
    group_sync(own_barrier, kWarpgroup);
    o += (static_cast<size_t>(head) * sequence + group_query) * S::kHeadSize;
    copy_output<S>(o, chunk_at, thread, group_query, sequence);
}

#endif

template <class S>
__global__ void __launch_bounds__(S::kThreads, 1)
    attention_flash_hopper(int sequence, float scale_log2, const __grid_constant__ CUtensorMap q,
                           const __grid_constant__ CUtensorMap k,
                           const __grid_constant__ CUtensorMap v, std::uint16_t* __restrict__ o) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    extern __shared__ __align__(1024) unsigned char shared[];
    __shared__ Barriers<S::kStages> barriers;
    const unsigned shared_q = shared_address(shared);
    const unsigned shared_k = shared_q + S::kBytesQ;
    const unsigned shared_v = shared_k + S::kStages * S::kBytesTile;

    // Causal blocks differ in length: the longest start first.
    const int block = static_cast<int>(S::kCausal ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
    const int first_query = block * S::kQueries;
    const int head = static_cast<int>(blockIdx.y);
    const int seen = S::kCausal ? min(sequence, first_query + S::kQueries) : sequence;
    const int tiles = (seen + S::kKeys - 1) / S::kKeys;

    if (threadIdx.x == 0) {
        constexpr int kWarps = S::kGroups * kWarpgroup / 32;
        barrier_init(shared_address(&barriers.q_full), 1);
        for (int stage = 0; stage < S::kStages; ++stage) {
            barrier_init(shared_address(&barriers.k_full[stage]), 1);
            barrier_init(shared_address(&barriers.v_full[stage]), 1);
            barrier_init(shared_address(&barriers.k_empty[stage]), kWarps);
            barrier_init(shared_address(&barriers.v_empty[stage]), kWarps);
        }
        barrier_init_fence();
    }
    __syncthreads();
    if (threadIdx.x < kWarpgroup) {
        give_registers<S::kLoaderRegisters>();
        if (threadIdx.x == 0) {
            load_tiles<S>(q, k, v, first_query, head, tiles, shared_q, shared_k, shared_v,
                          barriers);
        }
    } else {
        take_registers<S::kGroupRegisters>();
        attend_tiles<S>(sequence, scale_log2, first_query, head, tiles, shared_q, shared_k,
                        shared_v, barriers, o);
    }
#endif
}

// Boxes of 64 elements of `rows` rows of one head.
CUtensorMap map_of(const Problem& p, const std::uint16_t* tensor, int rows) {
    const auto size = static_cast<cuuint64_t>(p.head_size);
    const auto sequence = static_cast<cuuint64_t>(p.sequence);
    return common::tensor_map<3>(
        tensor, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        {size, sequence, static_cast<cuuint64_t>(p.head_count())}, {size * 2, size * sequence * 2},
        {kPanel, static_cast<cuuint32_t>(rows), 1}, CU_TENSOR_MAP_SWIZZLE_128B);
}

template <class S>
Launch launch_of(const Problem& p, const Tensors& t) {
    const auto kernel = attention_flash_hopper<S>;
    common::check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::kBytes),
        "shared memory for attention/flash_hopper");
    const CUtensorMap q = map_of(p, t.q, S::kQueries);
    const CUtensorMap k = map_of(p, t.k, S::kKeys);
    const CUtensorMap v = map_of(p, t.v, S::kKeys);
    const dim3 grid((p.sequence + S::kQueries - 1) / S::kQueries, p.head_count());
    return [=](cudaStream_t stream) {
        kernel<<<grid, S::kThreads, S::kBytes, stream>>>(p.sequence, p.scale() * kLog2E, q, k, v,
                                                         t.o);
        common::check(cudaGetLastError(), "launching attention/flash_hopper");
    };
}

}  // namespace

Launch prepare_flash_hopper(const Problem& p, const Tensors& t) {
    const int major = common::device_attribute(cudaDevAttrComputeCapabilityMajor);
    if (major != 9) {
        throw perfgate::sdk::Unsupported(
            "attention/flash_hopper is for compute capability 9.0 alone: wgmma left with it");
    }
    if (p.head_size == 64) {
        return p.causal ? launch_of<Shape<64, true>>(p, t) : launch_of<Shape<64, false>>(p, t);
    }
    return p.causal ? launch_of<Shape<128, true>>(p, t) : launch_of<Shape<128, false>>(p, t);
}

}  // namespace attention

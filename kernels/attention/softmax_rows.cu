// SPDX-License-Identifier: Apache-2.0
// The softmax of `unfused`: every score is read once and every weight written once, in place. A row
// is held in the registers of one warp (up to 1024 scores) or of a block, 16 bytes at a time.
#include "attention/launchers.hpp"
#include "attention/tensor_core.cuh"
#include "common/cuda.hpp"

namespace attention {
namespace {

constexpr int kWarp = 32;
constexpr int kBlockThreads = 128;  // at least; a block has several rows where a row takes less
constexpr int kChunksPerThread = 4;

__device__ __forceinline__ float warp_max(float x) {
    for (int lane = kWarp / 2; lane > 0; lane /= 2) {
        x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, lane));
    }
    return x;
}
__device__ __forceinline__ float warp_sum(float x) {
    for (int lane = kWarp / 2; lane > 0; lane /= 2) x += __shfl_xor_sync(0xffffffffu, x, lane);
    return x;
}

// Over the threads of a row: a warp, or the whole block by way of `partials`. Reducing `nothing`
// changes nothing.
template <int kThreads, class Reduce>
__device__ __forceinline__ float row_reduce(float x, float nothing, float* partials,
                                            Reduce&& reduce) {
    x = reduce(x);
    if constexpr (kThreads > kWarp) {
        const int lane = static_cast<int>(threadIdx.x) % kWarp;
        if (lane == 0) partials[threadIdx.x / kWarp] = x;
        __syncthreads();
        x = reduce(lane < kThreads / kWarp ? partials[lane] : nothing);
    }
    return x;
}

// kThreads hold a row of up to kThreads * 32 scores.
template <int kThreads, bool kCausal>
__global__ void __launch_bounds__(kThreads > kBlockThreads ? kThreads : kBlockThreads)
    attention_softmax(int sequence, size_t rows, std::uint16_t* __restrict__ scores,
                      size_t stride) {
    constexpr int kRowsPerBlock = kThreads > kBlockThreads ? 1 : kBlockThreads / kThreads;
    __shared__ float partials[2][kThreads / kWarp];
    const int thread = static_cast<int>(threadIdx.x) % kThreads;
    const size_t row = static_cast<size_t>(blockIdx.x) * kRowsPerBlock + threadIdx.x / kThreads;
    if (row >= rows) return;  // whole warps: where a block has several rows, a row is a warp
    const int keys = kCausal ? static_cast<int>(row % sequence) + 1 : sequence;
    auto* chunks = reinterpret_cast<uint4*>(scores + row * stride);

    float x[kChunksPerThread][kChunk];
    float largest = -INFINITY;
#pragma unroll
    for (int c = 0; c < kChunksPerThread; ++c) {
        const int first = (c * kThreads + thread) * kChunk;
        uint4 words{};
        if (first < keys) words = chunks[c * kThreads + thread];
        const unsigned pairs[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
        for (int i = 0; i < kChunk; ++i) {
            // A bf16 is the upper half of an f32.
            const unsigned bits = i % 2 ? pairs[i / 2] & 0xffff0000u : pairs[i / 2] << 16;
            x[c][i] = first + i < keys ? __uint_as_float(bits) : -INFINITY;
            largest = fmaxf(largest, x[c][i]);
        }
    }
    largest = row_reduce<kThreads>(largest, -INFINITY, partials[0], warp_max);
    const float shift = largest * kLog2E;
    float sum = 0.0f;
#pragma unroll
    for (int c = 0; c < kChunksPerThread; ++c) {
#pragma unroll
        for (int i = 0; i < kChunk; ++i) {
            x[c][i] = exp2_fast(fmaf(x[c][i], kLog2E, -shift));
            sum += x[c][i];
        }
    }
    const float inverse = 1.0f / row_reduce<kThreads>(sum, 0.0f, partials[1], warp_sum);
#pragma unroll
    for (int c = 0; c < kChunksPerThread; ++c) {
        if ((c * kThreads + thread) * kChunk >= sequence) continue;
        unsigned pairs[4];
#pragma unroll
        for (int w = 0; w < 4; ++w) {
            pairs[w] = pack(x[c][2 * w] * inverse, x[c][2 * w + 1] * inverse);
        }
        chunks[c * kThreads + thread] = {pairs[0], pairs[1], pairs[2], pairs[3]};
    }
}

template <int kThreads>
void launch(const Problem& p, std::uint16_t* scores, std::uint64_t stride, cudaStream_t stream) {
    constexpr int kRowsPerBlock = kThreads > kBlockThreads ? 1 : kBlockThreads / kThreads;
    const auto rows = static_cast<size_t>(p.head_count()) * static_cast<size_t>(p.sequence);
    const auto blocks = static_cast<unsigned>((rows + kRowsPerBlock - 1) / kRowsPerBlock);
    const auto kernel =
        p.causal ? attention_softmax<kThreads, true> : attention_softmax<kThreads, false>;
    kernel<<<blocks, kThreads * kRowsPerBlock, 0, stream>>>(p.sequence, rows, scores, stride);
    common::check(cudaGetLastError(), "launching the softmax of attention/unfused");
}

}  // namespace

void softmax_rows(const Problem& p, std::uint16_t* scores, std::uint64_t stride,
                  cudaStream_t stream) {
    constexpr int kPerThread = kChunksPerThread * kChunk;
    if (p.sequence <= 32 * kPerThread) return launch<32>(p, scores, stride, stream);
    if (p.sequence <= 128 * kPerThread) return launch<128>(p, scores, stride, stream);
    if (p.sequence <= 256 * kPerThread) return launch<256>(p, scores, stride, stream);
    launch<512>(p, scores, stride, stream);
}

}  // namespace attention

// SPDX-License-Identifier: Apache-2.0
// Softmax over keys that come tile by tile, on the scores that a thread holds after mma.sync or
// wgmma: of two rows, lane / 4 of its warp's and the eighth after it, two neighbours out of every 8
// columns.
#pragma once

#include "attention/tensor_core.cuh"

namespace attention {

// The four lanes of a quad share the rows of a fragment.
__device__ __forceinline__ float quad_max(float x) {
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}
__device__ __forceinline__ float quad_sum(float x) {
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

// The largest score so far is only there to keep exp2 in range, so it may lag behind: weights up to
// 2^8 are as exact as those up to 1, in bf16 as in f32. Rescaling the output is then rare.
inline constexpr float kLagLog2 = 8.0f;

// What a thread knows of its two rows: the largest score, in units of log2, and the sum of its own
// weights.
struct Rows {
    float largest[2] = {-INFINITY, -INFINITY};
    float sum[2] = {};
};

// Scores of keys from first_key on that the query must not see become -infinity. `query` is the
// first of the two rows.
template <bool kCausal, int kScores>
__device__ __forceinline__ void mask(float (&score)[kScores], int first_key, int sequence,
                                     int query) {
    const int key = first_key + static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
    for (int i = 0; i < kScores; ++i) {
        // The first key beyond what the row sees.
        const int end = kCausal ? min(sequence, query + i % 4 / 2 * 8 + 1) : sequence;
        if (key + i / 4 * 8 + i % 2 >= end) score[i] = -INFINITY;
    }
}

// Turns scores into weights that are not yet divided by their sum. What the output must be
// multiplied with first comes back in `factor`; false: by nothing.
template <int kScores>
__device__ __forceinline__ bool online_softmax(float (&score)[kScores], Rows& rows,
                                               float (&factor)[2], float scale_log2) {
    float grown[2];
    bool lags = false;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float most = -INFINITY;
#pragma unroll
        for (int i = 2 * half; i < kScores; i += 4) {
            most = fmaxf(most, fmaxf(score[i], score[i + 1]));
        }
        grown[half] = fmaxf(rows.largest[half], quad_max(most) * scale_log2);
        lags |= grown[half] - rows.largest[half] > kLagLog2;
    }
    lags = __any_sync(0xffffffffu, lags);
    if (lags) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            factor[half] = exp2_fast(rows.largest[half] - grown[half]);
            rows.largest[half] = grown[half];
            rows.sum[half] *= factor[half];
        }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int i = 2 * half; i < kScores; i += 4) {
#pragma unroll
            for (int e = i; e < i + 2; ++e) {
                score[e] = exp2_fast(fmaf(score[e], scale_log2, -rows.largest[half]));
                rows.sum[half] += score[e];
            }
        }
    }
    return lags;
}

// Multiplies the two rows of a thread's output by their factors.
template <int kCount>
__device__ __forceinline__ void rescale(float (&out)[kCount], const float (&factor)[2]) {
#pragma unroll
    for (int e = 0; e < kCount; ++e) out[e] *= factor[e % 4 / 2];
}

}  // namespace attention

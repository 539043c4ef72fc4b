// SPDX-License-Identifier: Apache-2.0
// Sums several values over a warp at once. Each step halves both the values that a lane carries and
// the lanes that it stands for, so that 9 values take 12 shuffles instead of 45, and end in
// different lanes: one atomic instruction can store them all.
#pragma once

namespace render_backward {

template <int kCount, int kStride = 16>
__device__ __forceinline__ void fold_lanes(float* values) {
    constexpr int kHalf = (kCount + 1) / 2;
    const bool upper = threadIdx.x & kStride;
#pragma unroll
    for (int i = 0; i < kHalf; ++i) {
        const float low = values[i];
        const float high = i + kHalf < kCount ? values[i + kHalf] : 0.0f;
        const float sent = upper ? low : high;
        values[i] = (upper ? high : low) + __shfl_xor_sync(0xffffffffu, sent, kStride);
    }
    if constexpr (kStride > 1) fold_lanes<kHalf, kStride / 2>(values);
}

// Which of kCount values this lane has after fold_lanes, in values[0]; -1: none.
template <int kCount>
__device__ __forceinline__ int folded_value() {
    int first = 0;
    int held = kCount;  // values from `first` on that this lane still stands for
    int most = kCount;  // the same for the lane that has most
#pragma unroll
    for (int stride = 16; stride > 0; stride /= 2) {
        const int half = (most + 1) / 2;
        const bool upper = threadIdx.x & stride;
        first += upper ? half : 0;
        held = upper ? held - half : min(held, half);
        most = half;
    }
    return held > 0 ? first : -1;
}

}  // namespace render_backward

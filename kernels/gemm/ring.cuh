// SPDX-License-Identifier: Apache-2.0
// A ring of shared-memory stages with two barriers each: `full` says that all its copies have come,
// `empty` that all warps have read it.
#pragma once

namespace gemm {

// A place in the ring, and the parity of the round that it is in.
template <class S>
struct Place {
    unsigned first;  // stage; the barriers lie behind the last one
    int stage = 0;
    unsigned parity = 0;

    __device__ unsigned address() const { return first + stage * S::kBytesStage; }
    __device__ unsigned full() const { return first + S::kBytes + stage * 16; }
    __device__ unsigned empty() const { return full() + 8; }
    __device__ void next() {
        if (++stage == S::kStages) stage = 0, parity ^= 1;
    }
};

template <class S>
inline constexpr int ring_bytes = S::kBytes + S::kStages * 16;

}  // namespace gemm

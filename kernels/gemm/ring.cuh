// SPDX-License-Identifier: Apache-2.0
// A ring of shared-memory stages with two barriers each: `full` says that all its copies have come,
// `empty` that all warps have read it.
#pragma once

#include "common/ring.cuh"

namespace gemm {

template <class S>
struct Place {
    unsigned first;  // stage; the barriers lie behind the last one
    common::RingPlace<S::kStages> at;

    __device__ unsigned address() const { return first + at.stage * S::kBytesStage; }
    __device__ unsigned full() const { return first + S::kBytes + at.stage * 16; }
    __device__ unsigned empty() const { return full() + 8; }
    __device__ unsigned parity() const { return at.parity; }
    __device__ void next() { at.next(); }
};

template <class S>
inline constexpr int ring_bytes = S::kBytes + S::kStages * 16;

}  // namespace gemm

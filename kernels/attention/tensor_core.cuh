// SPDX-License-Identifier: Apache-2.0
// The instructions that flash.cu has besides those of common/tensor_core.cuh, by name (compute
// capability 8.0 and up), and what both fused kernels do with a fragment of scores.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

#include "common/tensor_core.cuh"

namespace attention {

using common::commit_copies;
using common::copy_async;
using common::kChunkBytes;
using common::load_matrices;
using common::load_matrices_transposed;
using common::shared_address;
using common::wait_for_copies;

inline constexpr int kChunk = 8;  // elements

// c (16 x 8, elements `first` to first + 3 of its array) += a (16 x 16) * b (16 x 8)
template <int kCount>
__device__ __forceinline__ void multiply_accumulate(float (&c)[kCount], int first,
                                                    const unsigned (&a)[4], unsigned b0,
                                                    unsigned b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
        : "+f"(c[first]), "+f"(c[first + 1]), "+f"(c[first + 2]), "+f"(c[first + 3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void store_shared(unsigned target, unsigned word) {
    asm volatile("st.shared.b32 [%0], %1;\n" ::"r"(target), "r"(word) : "memory");
}

__device__ __forceinline__ uint4 load_shared_chunk(unsigned address) {
    uint4 chunk;
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(chunk.x), "=r"(chunk.y), "=r"(chunk.z), "=r"(chunk.w)
                 : "r"(address)
                 : "memory");
    return chunk;
}

// Two f32 as two bf16, the first in the low half, rounded to nearest even.
__device__ __forceinline__ unsigned pack(float low, float high) {
    unsigned word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;\n" : "=r"(word) : "f"(high), "f"(low));
    return word;
}

__device__ __forceinline__ float exp2_fast(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(y) : "f"(x));
    return y;
}

inline constexpr float kLog2E = 1.44269504088896340736f;

}  // namespace attention

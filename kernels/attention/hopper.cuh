// SPDX-License-Identifier: Apache-2.0
// The instructions that flash_hopper.cu has besides those of common/hopper.cuh, by name: they exist
// in compute capability 9.0 alone (sm_90a). Barriers and shared memory are given by their addresses
// in the shared window.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "common/hopper.cuh"

namespace attention {

using common::barrier_arrive;
using common::barrier_expect;
using common::barrier_init;
using common::barrier_init_fence;
using common::barrier_wait;
using common::describe_operand;
using common::give_registers;
using common::multiply_begin;
using common::multiply_commit;
using common::multiply_wait;
using common::pin;
using common::take_registers;

// --- named barriers, of some warps of the block ---

__device__ __forceinline__ void group_sync(int barrier, int threads) {
    asm volatile("bar.sync %0, %1;\n" ::"r"(barrier), "r"(threads) : "memory");
}

__device__ __forceinline__ void group_arrive(int barrier, int threads) {
    asm volatile("bar.arrive %0, %1;\n" ::"r"(barrier), "r"(threads) : "memory");
}

// --- tensor copies: the box of a head that begins at (column, row); zeros beyond the last row ---

__device__ __forceinline__ void copy_box(unsigned target, const CUtensorMap& map, int column,
                                         int row, int head, unsigned barrier) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4}], [%5];\n" ::"r"(target),
        "l"(&map), "r"(column), "r"(row), "r"(head), "r"(barrier)
        : "memory");
}

// --- wgmma ---

// clang-format off
#define ATTENTION_F8(c, i) "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3]), \
                           "+f"(c[i + 4]), "+f"(c[i + 5]), "+f"(c[i + 6]), "+f"(c[i + 7])
#define ATTENTION_F32(c, i) ATTENTION_F8(c, i), ATTENTION_F8(c, i + 8), ATTENTION_F8(c, i + 16), \
                            ATTENTION_F8(c, i + 24)
#define ATTENTION_LIST32 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, " \
    "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define ATTENTION_LIST64 ATTENTION_LIST32 ", " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, " \
    "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

// c (64 x 128) = a (64 x 16) * b (128 x 16)^T + (add ? c : 0), both operands in shared memory
__device__ __forceinline__ void multiply_scores(float (&c)[64], std::uint64_t a, std::uint64_t b,
                                                bool add) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.b32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" ATTENTION_LIST64 "}, "
        "%64, %65, p, 1, 1, 0, 0;\n"
        "}\n"
        : ATTENTION_F32(c, 0), ATTENTION_F32(c, 32)
        : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

// c (64 x 128 or 64) += a (64 x 16, in registers) * b (16 x 128 or 64, lines along the columns)
__device__ __forceinline__ void multiply_values(float (&c)[64], const unsigned (&a)[4],
                                                std::uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" ATTENTION_LIST64 "}, "
        "{%64, %65, %66, %67}, %68, 1, 1, 1, 1;\n"
        : ATTENTION_F32(c, 0), ATTENTION_F32(c, 32)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ __forceinline__ void multiply_values(float (&c)[32], const unsigned (&a)[4],
                                                std::uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" ATTENTION_LIST32 "}, "
        "{%32, %33, %34, %35}, %36, 1, 1, 1, 1;\n"
        : ATTENTION_F32(c, 0)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
#undef ATTENTION_F8
#undef ATTENTION_F32
#undef ATTENTION_LIST32
#undef ATTENTION_LIST64
// clang-format on

}  // namespace attention

// SPDX-License-Identifier: Apache-2.0
// The instructions of compute capability 9.0a that hopper.cu has besides those of
// common/hopper.cuh: warpgroup multiplication (wgmma). Shared memory is addressed by its 32-bit
// window address.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "common/hopper.cuh"
#include "gemm/problem.hpp"

namespace gemm {

using common::barrier_arrive;
using common::barrier_expect;
using common::barrier_init;
using common::barrier_init_fence;
using common::barrier_wait;
using common::copy_box;
using common::describe_operand;
using common::give_registers;
using common::multiply_begin;
using common::multiply_commit;
using common::multiply_wait;
using common::pin;
using common::prefetch_map;
using common::take_registers;

// clang-format off
#define GEMM_NAMES_64                                                                      \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "               \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "     \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "     \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define GEMM_NAMES_128                                                                     \
    GEMM_NAMES_64 ", "                                                                     \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "     \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "     \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, "     \
    "%110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, " \
    "%124, %125, %126, %127"
#define GEMM_SUMS_8(i)                                                           \
    "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3]),          \
    "+f"(sum[i + 4]), "+f"(sum[i + 5]), "+f"(sum[i + 6]), "+f"(sum[i + 7])
#define GEMM_SUMS_64(i)                                                          \
    GEMM_SUMS_8(i), GEMM_SUMS_8(i + 8), GEMM_SUMS_8(i + 16), GEMM_SUMS_8(i + 24), \
    GEMM_SUMS_8(i + 32), GEMM_SUMS_8(i + 40), GEMM_SUMS_8(i + 48), GEMM_SUMS_8(i + 56)
#define GEMM_WGMMA_128(shape, types, layout)                                     \
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"                \
        "wgmma.mma_async.sync.aligned.m64n128" shape ".f32." types " "           \
        "{" GEMM_NAMES_64 "}, %64, %65, add, 1, 1" layout ";\n}\n"               \
        : GEMM_SUMS_64(0) : "l"(a), "l"(b), "r"(add))
#define GEMM_WGMMA_256(shape, types, layout)                                     \
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %130, 0;\n"               \
        "wgmma.mma_async.sync.aligned.m64n256" shape ".f32." types " "           \
        "{" GEMM_NAMES_128 "}, %128, %129, add, 1, 1" layout ";\n}\n"            \
        : GEMM_SUMS_64(0), GEMM_SUMS_64(64) : "l"(a), "l"(b), "r"(add))
// clang-format on

// sum = A B + (add ? sum : 0) for 64 rows of A and 128 columns of B, 32 bytes of k deep. A's lines
// run along k. Those of B run along n for 16-bit types; 8-bit ones must run along k too.
template <Dtype kDtype>
__device__ __forceinline__ void multiply(float (&sum)[64], std::uint64_t a, std::uint64_t b,
                                         int add) {
    if constexpr (kDtype == Dtype::kBf16) GEMM_WGMMA_128("k16", "bf16.bf16", ", 0, 1");
    if constexpr (kDtype == Dtype::kF16) GEMM_WGMMA_128("k16", "f16.f16", ", 0, 1");
    if constexpr (kDtype == Dtype::kE4m3) GEMM_WGMMA_128("k32", "e4m3.e4m3", "");
}

// The same for 256 columns.
template <Dtype kDtype>
__device__ __forceinline__ void multiply(float (&sum)[128], std::uint64_t a, std::uint64_t b,
                                         int add) {
    if constexpr (kDtype == Dtype::kBf16) GEMM_WGMMA_256("k16", "bf16.bf16", ", 0, 1");
    if constexpr (kDtype == Dtype::kF16) GEMM_WGMMA_256("k16", "f16.f16", ", 0, 1");
    if constexpr (kDtype == Dtype::kE4m3) GEMM_WGMMA_256("k32", "e4m3.e4m3", "");
}

}  // namespace gemm

// SPDX-License-Identifier: Apache-2.0
// What kernels of compute capability 9.0 share, one instruction a function: mbarriers, tensor
// copies; of 9.0a alone register budgets, and what surrounds wgmma: how it finds its operands, when
// it begins and ends. Shared memory is addressed by its 32-bit window address.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace common {

// mbarriers: a phase ends when all arrivals and all announced bytes have come.

__device__ __forceinline__ void barrier_init(unsigned barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(barrier), "r"(arrivals)
                 : "memory");
}

// Makes initialised barriers visible to the copy engine and to the cluster.
__device__ __forceinline__ void barrier_init_fence() {
    asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
}

// Arrives, and announces bytes that copies will bring.
__device__ __forceinline__ void barrier_expect(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(barrier),
                 "r"(bytes)
                 : "memory");
}

__device__ __forceinline__ void barrier_arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(barrier) : "memory");
}

// Waits until the phase of this parity has ended. Of a fresh barrier the phase before the first, of
// parity 1, counts as ended.
__device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity) {
    unsigned done;
    do {
        asm volatile(
            "{\n"
            ".reg .pred ended;\n"
            "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
            "selp.b32 %0, 1, 0, ended;\n"
            "}\n"
            : "=r"(done)
            : "r"(barrier), "r"(parity)
            : "memory");
    } while (!done);
}

// Tensor copies (TMA): a box of the tensor at x (the innermost dimension), y; zero beyond it.

__device__ __forceinline__ void prefetch_map(const CUtensorMap* map) {
    asm volatile("prefetch.tensormap [%0];\n" ::"l"(map) : "memory");
}

__device__ __forceinline__ void copy_box(unsigned target, const CUtensorMap* map, int x, int y,
                                         unsigned barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];\n" ::"r"(target),
        "l"(map), "r"(x), "r"(y), "r"(barrier)
        : "memory");
}

template <int kRegisters>
__device__ __forceinline__ void give_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(kRegisters));
}

template <int kRegisters>
__device__ __forceinline__ void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(kRegisters));
}

// Describes an operand of wgmma in shared memory: lines of 128 bytes, whose 16-byte chunks the
// 128-byte swizzle permutes in groups of eight lines. A group begins on 1024 bytes; the next one
// follows. An operand that is longer along its lines than 128 bytes is a row of panels,
// `panel_bytes` from one to the next; for any other the hardware ignores `panel_bytes`.
__device__ __forceinline__ std::uint64_t describe_operand(unsigned address, unsigned panel_bytes) {
    constexpr std::uint64_t kSwizzle128 = std::uint64_t{1} << 62;
    constexpr std::uint64_t kEightLines = 1024;
    return kSwizzle128 | (kEightLines >> 4) << 32 |
           static_cast<std::uint64_t>(panel_bytes >> 4) << 16 | ((address & 0x3ffff) >> 4);
}

// wgmma writes accumulators behind the compiler's back: the compiler must neither touch them
// between multiply and wait, nor move anything that does across either.
template <int kCount>
__device__ __forceinline__ void pin(float (&values)[kCount]) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(values[i])::"memory");
}

// Orders accumulators and shared memory before the multiplications that follow.
__device__ __forceinline__ void multiply_begin() {
    asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
}

__device__ __forceinline__ void multiply_commit() {
    asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}

template <int kPending>
__device__ __forceinline__ void multiply_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(kPending) : "memory");
}

}  // namespace common

// SPDX-License-Identifier: Apache-2.0
// One read. A row stays in the registers of a warp or a block from its load to its store, and
// maximum and sum are found together: each thread has those of its own elements, and two threads'
// are merged by scaling the sum of the smaller maximum (Milakov and Gimelshein, 2018). So there is
// one exponential per element, one reduction, one barrier, and all loads are in flight at once.
#include <cstdint>

#include "softmax/row.cuh"

namespace softmax {
namespace {

// The largest of some elements, and the sum of their exp(x - max).
struct MaxSum {
    float max;
    float sum;

    __device__ __forceinline__ static MaxSum none() { return {kLowest, 0.0f}; }

    __device__ __forceinline__ MaxSum shuffled(int distance) const {
        return {__shfl_xor_sync(0xffffffffu, max, distance),
                __shfl_xor_sync(0xffffffffu, sum, distance)};
    }
};

__device__ __forceinline__ MaxSum merge(const MaxSum& a, const MaxSum& b) {
    const float max = fmaxf(a.max, b.max);
    return {max, a.sum * exp_below(a.max, max) + b.sum * exp_below(b.max, max)};
}

// A row in kAccesses packs of kPack elements a thread.
template <class Group, class T, int kPack, int kAccesses>
__device__ __forceinline__ void softmax_row(int rows, int width, const T* __restrict__ in,
                                            T* __restrict__ out) {
    using Access = Pack<T, kPack>;
    const int row = Group::row();
    if (!Group::kWholeBlock && row >= rows) return;  // a whole warp
    const T* x = in + static_cast<std::size_t>(row) * width;
    T* y = out + static_cast<std::size_t>(row) * width;
    const int first = Group::rank() * kPack;
    const int step = Group::size() * kPack;

    float e[kAccesses][kPack];
    MaxSum own = MaxSum::none();
#pragma unroll
    for (int i = 0; i < kAccesses; ++i) {
        const int col = first + i * step;
        Access pack;
#pragma unroll
        for (int j = 0; j < kPack; ++j) pack.values[j] = narrow<T>(-INFINITY);
        if (col < width) pack = *reinterpret_cast<const Access*>(x + col);
#pragma unroll
        for (int j = 0; j < kPack; ++j) e[i][j] = widen(pack.values[j]);
    }
#pragma unroll
    for (int i = 0; i < kAccesses; ++i) {
#pragma unroll
        for (int j = 0; j < kPack; ++j) own.max = fmaxf(own.max, e[i][j]);
    }
#pragma unroll
    for (int i = 0; i < kAccesses; ++i) {
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
            e[i][j] = exp_below(e[i][j], own.max);
            own.sum += e[i][j];
        }
    }
    const MaxSum all = Group::reduce(own, merge);
    const float scale = exp_below(own.max, all.max) / all.sum;
#pragma unroll
    for (int i = 0; i < kAccesses; ++i) {
        const int col = first + i * step;
        Access pack;
#pragma unroll
        for (int j = 0; j < kPack; ++j) pack.values[j] = narrow<T>(e[i][j] * scale);
        if (col < width) *reinterpret_cast<Access*>(y + col) = pack;
    }
}

template <class T, int kPack, int kAccesses>
__global__ void __launch_bounds__(kWarpsPerBlock* kWarp)
    softmax_online_warp(int rows, int width, const T* __restrict__ in, T* __restrict__ out) {
    softmax_row<WarpGroup, T, kPack, kAccesses>(rows, width, in, out);
}

template <class T, int kPack, int kAccesses, int kThreads>
__global__ void __launch_bounds__(kThreads)
    softmax_online_block(int rows, int width, const T* __restrict__ in, T* __restrict__ out) {
    softmax_row<BlockGroup, T, kPack, kAccesses>(rows, width, in, out);
}

constexpr int accesses(int elements, int pack) {
    return elements > pack ? elements / pack : 1;
}

template <class T, int kPack>
common::Launch prepare(const Problem& p, const T* in, T* out) {
    const auto by_warp = [&](auto kernel) {
        return launch_of(kernel, blocks_of_warps(p.rows), kWarpsPerBlock * kWarp, p, in, out);
    };
    const auto by_block = [&](auto kernel, int threads) {
        return launch_of(kernel, p.rows, threads, p, in, out);
    };
    // Elements of a thread: enough loads in flight, few enough that the registers hold.
    if (p.width <= 128) return by_warp(softmax_online_warp<T, kPack, accesses(4, kPack)>);
    if (p.width <= 256) return by_warp(softmax_online_warp<T, kPack, accesses(8, kPack)>);
    if (p.width <= 512) return by_warp(softmax_online_warp<T, kPack, accesses(16, kPack)>);
    if (p.width <= 1024) return by_warp(softmax_online_warp<T, kPack, accesses(32, kPack)>);
    constexpr int k16 = accesses(16, kPack);
    constexpr int k32 = accesses(32, kPack);
    if (p.width <= 2048) return by_block(softmax_online_block<T, kPack, k16, 128>, 128);
    if (p.width <= 4096) return by_block(softmax_online_block<T, kPack, k16, 256>, 256);
    if (p.width <= 8192) return by_block(softmax_online_block<T, kPack, k16, 512>, 512);
    if (p.width <= 16384) return by_block(softmax_online_block<T, kPack, k16, 1024>, 1024);
    return by_block(softmax_online_block<T, kPack, k32, 1024>, 1024);
}

template <class T>
common::Launch prepare_as(const Problem& p, const void* in, void* out) {
    const auto* x = static_cast<const T*>(in);
    auto* y = static_cast<T*>(out);
    // Rows begin on 16 bytes only if the width divides.
    return p.width % kPerVector<T> == 0 ? prepare<T, kPerVector<T>>(p, x, y)
                                        : prepare<T, 1>(p, x, y);
}

}  // namespace

common::Launch prepare_online(const Problem& p, const void* in, void* out) {
    return p.dtype == Dtype::kF16 ? prepare_as<__half>(p, in, out) : prepare_as<float>(p, in, out);
}

}  // namespace softmax

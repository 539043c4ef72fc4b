// SPDX-License-Identifier: Apache-2.0
// As the formula is written: a pass over the row for its maximum, one for the sum, one to divide.
// Every pass asks memory for the row again, computes its exponentials anew, and waits for the
// slowest thread of the pass before.
#include <algorithm>
#include <cstdint>

#include "softmax/row.cuh"

namespace softmax {
namespace {

struct Largest {
    float value;
    __device__ __forceinline__ static Largest none() { return {kLowest}; }
    __device__ __forceinline__ Largest shuffled(int distance) const {
        return {__shfl_xor_sync(0xffffffffu, value, distance)};
    }
};

struct Sum {
    float value;
    __device__ __forceinline__ static Sum none() { return {0.0f}; }
    __device__ __forceinline__ Sum shuffled(int distance) const {
        return {__shfl_xor_sync(0xffffffffu, value, distance)};
    }
};

template <class Group, class T, int kPack>
__device__ __forceinline__ void softmax_row(int rows, int width, const T* __restrict__ in,
                                            T* __restrict__ out) {
    using Access = Pack<T, kPack>;
    const int row = Group::row();
    if (!Group::kWholeBlock && row >= rows) return;  // a whole warp
    const T* x = in + static_cast<std::size_t>(row) * width;
    T* y = out + static_cast<std::size_t>(row) * width;
    const int first = Group::rank() * kPack;
    const int step = Group::size() * kPack;

    Largest largest = Largest::none();
    for (int col = first; col < width; col += step) {
        const Access pack = *reinterpret_cast<const Access*>(x + col);
#pragma unroll
        for (int j = 0; j < kPack; ++j) largest.value = fmaxf(largest.value, widen(pack.values[j]));
    }
    largest = Group::reduce(largest,
                            [](Largest a, Largest b) { return Largest{fmaxf(a.value, b.value)}; });

    Sum sum = Sum::none();
    for (int col = first; col < width; col += step) {
        const Access pack = *reinterpret_cast<const Access*>(x + col);
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
            sum.value += exp_below(widen(pack.values[j]), largest.value);
        }
    }
    sum = Group::reduce(sum, [](Sum a, Sum b) { return Sum{a.value + b.value}; });
    const float scale = 1.0f / sum.value;

    for (int col = first; col < width; col += step) {
        Access pack = *reinterpret_cast<const Access*>(x + col);
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
            pack.values[j] = narrow<T>(exp_below(widen(pack.values[j]), largest.value) * scale);
        }
        *reinterpret_cast<Access*>(y + col) = pack;
    }
}

template <class T, int kPack>
__global__ void __launch_bounds__(kWarpsPerBlock* kWarp)
    softmax_three_pass_warp(int rows, int width, const T* __restrict__ in, T* __restrict__ out) {
    softmax_row<WarpGroup, T, kPack>(rows, width, in, out);
}

template <class T, int kPack>
__global__ void __launch_bounds__(kMostThreads)
    softmax_three_pass_block(int rows, int width, const T* __restrict__ in, T* __restrict__ out) {
    softmax_row<BlockGroup, T, kPack>(rows, width, in, out);
}

template <class T, int kPack>
common::Launch prepare(const Problem& p, const T* in, T* out) {
    if (p.width <= kWidestForWarp) {
        return launch_of(softmax_three_pass_warp<T, kPack>, blocks_of_warps(p.rows),
                         kWarpsPerBlock * kWarp, p, in, out);
    }
    const int threads = std::clamp(p.width / 16 / kWarp * kWarp, 128, kMostThreads);
    return launch_of(softmax_three_pass_block<T, kPack>, p.rows, threads, p, in, out);
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

common::Launch prepare_three_pass(const Problem& p, const void* in, void* out) {
    return p.dtype == Dtype::kF16 ? prepare_as<__half>(p, in, out) : prepare_as<float>(p, in, out);
}

}  // namespace softmax

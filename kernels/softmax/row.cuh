// SPDX-License-Identifier: Apache-2.0
// What the kernels share: rows by packs of elements, exponentials, and the group of threads that
// has a row, which is a warp for rows of up to 1024 elements and a block for longer ones.
#pragma once

#include <cuda_fp16.h>

#include "softmax/launchers.hpp"

namespace softmax {

inline constexpr int kWarp = 32;
inline constexpr int kWarpsPerBlock = 4;  // rows of a block where a warp has one
inline constexpr int kWidestForWarp = 1024;
inline constexpr int kMostThreads = 1024;

// Below every logit, and finite: a difference of two is no NaN.
inline constexpr float kLowest = -1e30f;
inline constexpr float kLog2E = 1.44269504088896340736f;

// N neighbours, moved by one access.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
    T values[N];
};

// Elements of a 128-bit access.
template <class T>
inline constexpr int kPerVector = static_cast<int>(16 / sizeof(T));

__device__ __forceinline__ float widen(float value) {
    return value;
}
__device__ __forceinline__ float widen(__half value) {
    return __half2float(value);
}
template <class T>
__device__ __forceinline__ T narrow(float value) {
    return static_cast<T>(value);
}
template <>
__device__ __forceinline__ __half narrow<__half>(float value) {
    return __float2half_rn(value);
}

// exp(x - max). One multiply-add on x and max log2(e), rounded beforehand, would save an
// instruction and err by 2^-24 of max, not of x - max: by 1e-5 where max is 128.
__device__ __forceinline__ float exp_below(float x, float max) {
    return exp2f((x - max) * kLog2E);
}

// The threads that share a row. `V` has none(), which changes nothing it is combined with, and
// shuffled(), the value of another lane; `combine` is associative and commutative; every thread
// gets the result.
struct WarpGroup {
    static constexpr bool kWholeBlock = false;
    __device__ __forceinline__ static int rank() { return static_cast<int>(threadIdx.x) % kWarp; }
    __device__ __forceinline__ static int size() { return kWarp; }
    __device__ __forceinline__ static int row() {
        return static_cast<int>(blockIdx.x) * kWarpsPerBlock +
               static_cast<int>(threadIdx.x) / kWarp;
    }
    template <class V, class Combine>
    __device__ __forceinline__ static V reduce(V value, Combine combine) {
#pragma unroll
        for (int distance = kWarp / 2; distance > 0; distance /= 2) {
            value = combine(value, value.shuffled(distance));
        }
        return value;
    }
};

struct BlockGroup {
    static constexpr bool kWholeBlock = true;
    __device__ __forceinline__ static int rank() { return static_cast<int>(threadIdx.x); }
    __device__ __forceinline__ static int size() { return static_cast<int>(blockDim.x); }
    __device__ __forceinline__ static int row() { return static_cast<int>(blockIdx.x); }
    // Each call of a kernel has shared memory of its own: one barrier is enough.
    template <class V, class Combine>
    __device__ __forceinline__ static V reduce(V value, Combine combine) {
        __shared__ V partial[kMostThreads / kWarp];
        value = WarpGroup::reduce(value, combine);
        if (WarpGroup::rank() == 0) partial[threadIdx.x / kWarp] = value;
        __syncthreads();
        const int warps = static_cast<int>(blockDim.x) / kWarp;
        value = WarpGroup::rank() < warps ? partial[WarpGroup::rank()] : V::none();
        return WarpGroup::reduce(value, combine);
    }
};

// What launches a kernel of a whole softmax.
template <class T>
common::Launch launch_of(void (*kernel)(int rows, int width, const T*, T*), dim3 blocks,
                         int threads, const Problem& p, const T* in, T* out) {
    return [=, rows = p.rows, width = p.width](cudaStream_t stream) {
        kernel<<<blocks, threads, 0, stream>>>(rows, width, in, out);
        common::check(cudaGetLastError(), "launch");
    };
}

inline dim3 blocks_of_warps(int rows) {
    return dim3(static_cast<unsigned>((rows + kWarpsPerBlock - 1) / kWarpsPerBlock));
}

}  // namespace softmax

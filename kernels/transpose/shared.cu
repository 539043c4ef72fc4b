// SPDX-License-Identifier: Apache-2.0
// Through a 32 x 32 tile in shared memory, so that both global sides are coalesced. Rows of the
// tile are written, columns are read: without padding a column's elements lie in one bank (f32) or
// two (f16), and the 32 lanes of a warp take turns. One word of padding a row moves each row on by
// a bank, and they do not.
#include <cstdint>

#include "transpose/launchers.hpp"

namespace transpose {
namespace {

constexpr int kTile = 32;
constexpr int kBlockRows = 8;
constexpr int kWordBytes = 4;  // what a bank delivers

template <class T, int kPad>
__device__ __forceinline__ void transpose_tile(int rows, int cols, const T* __restrict__ in,
                                               T* __restrict__ out) {
    __shared__ T tile[kTile][kTile + kPad];
    const int lane = static_cast<int>(threadIdx.x);
    const int line = static_cast<int>(threadIdx.y);
    const int row0 = static_cast<int>(blockIdx.y) * kTile;
    const int col0 = static_cast<int>(blockIdx.x) * kTile;

#pragma unroll
    for (int i = line; i < kTile; i += kBlockRows) {
        if (row0 + i < rows && col0 + lane < cols) {
            tile[i][lane] = in[static_cast<std::size_t>(row0 + i) * cols + col0 + lane];
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = line; i < kTile; i += kBlockRows) {
        if (col0 + i < cols && row0 + lane < rows) {
            out[static_cast<std::size_t>(col0 + i) * rows + row0 + lane] = tile[lane][i];
        }
    }
}

// Two kernels rather than one with a parameter: reports show kernels by name.
template <class T>
__global__ void __launch_bounds__(kTile* kBlockRows)
    transpose_shared(int rows, int cols, const T* __restrict__ in, T* __restrict__ out) {
    transpose_tile<T, 0>(rows, cols, in, out);
}

template <class T>
__global__ void __launch_bounds__(kTile* kBlockRows)
    transpose_padded(int rows, int cols, const T* __restrict__ in, T* __restrict__ out) {
    transpose_tile<T, kWordBytes / sizeof(T)>(rows, cols, in, out);
}

template <class T>
common::Launch prepare(void (*kernel)(int, int, const T*, T*), const Problem& p, const void* in,
                       void* out) {
    const dim3 block(kTile, kBlockRows);
    const dim3 grid((p.cols + kTile - 1) / kTile, (p.rows + kTile - 1) / kTile);
    return [=](cudaStream_t stream) {
        kernel<<<grid, block, 0, stream>>>(p.rows, p.cols, static_cast<const T*>(in),
                                           static_cast<T*>(out));
        common::check(cudaGetLastError(), "launch");
    };
}

}  // namespace

common::Launch prepare_shared(const Problem& p, const void* in, void* out) {
    return common::element_bytes(p.dtype) == 2
               ? prepare<std::uint16_t>(transpose_shared, p, in, out)
               : prepare<std::uint32_t>(transpose_shared, p, in, out);
}

common::Launch prepare_padded(const Problem& p, const void* in, void* out) {
    return common::element_bytes(p.dtype) == 2
               ? prepare<std::uint16_t>(transpose_padded, p, in, out)
               : prepare<std::uint32_t>(transpose_padded, p, in, out);
}

}  // namespace transpose

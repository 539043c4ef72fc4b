// SPDX-License-Identifier: Apache-2.0
// One thread per element. A warp reads 32 neighbours of a row, which is one request for 4 sectors
// (f32), and writes them down a column: 32 sectors, of each of which it fills an eighth.
#include <cstdint>

#include "transpose/launchers.hpp"

namespace transpose {
namespace {

constexpr int kBlockCols = 32;
constexpr int kBlockRows = 8;

template <class T>
__global__ void __launch_bounds__(kBlockCols* kBlockRows)
    transpose_naive(int rows, int cols, const T* __restrict__ in, T* __restrict__ out) {
    const int col = static_cast<int>(blockIdx.x * kBlockCols + threadIdx.x);
    const int row = static_cast<int>(blockIdx.y * kBlockRows + threadIdx.y);
    if (row >= rows || col >= cols) return;
    out[static_cast<std::size_t>(col) * rows + row] =
        in[static_cast<std::size_t>(row) * cols + col];
}

template <class T>
common::Launch prepare(const Problem& p, const void* in, void* out) {
    const dim3 block(kBlockCols, kBlockRows);
    const dim3 grid((p.cols + kBlockCols - 1) / kBlockCols, (p.rows + kBlockRows - 1) / kBlockRows);
    return [=](cudaStream_t stream) {
        transpose_naive<<<grid, block, 0, stream>>>(p.rows, p.cols, static_cast<const T*>(in),
                                                    static_cast<T*>(out));
        common::check(cudaGetLastError(), "launch");
    };
}

}  // namespace

common::Launch prepare_naive(const Problem& p, const void* in, void* out) {
    return common::element_bytes(p.dtype) == 2 ? prepare<std::uint16_t>(p, in, out)
                                               : prepare<std::uint32_t>(p, in, out);
}

}  // namespace transpose

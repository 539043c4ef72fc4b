// SPDX-License-Identifier: Apache-2.0
// f32 GEMM, one thread per element of C, straight from global memory. The floor the others rise
// from: a warp reads one element of A together and 32 neighbours of B, and nothing is kept.
#include "common/cuda.hpp"
#include "gemm/epilogue.hpp"
#include "gemm/launchers.hpp"

namespace gemm {
namespace {

constexpr int kBlockCols = 32;
constexpr int kBlockRows = 8;

template <Epilogue kEpilogue>
__global__ void __launch_bounds__(kBlockCols* kBlockRows)
    gemm_naive(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b,
               const float* __restrict__ bias, float* __restrict__ c) {
    const int col = static_cast<int>(blockIdx.x * kBlockCols + threadIdx.x);
    const int row = static_cast<int>(blockIdx.y * kBlockRows + threadIdx.y);
    if (row >= m || col >= n) return;
    const float* a_row = a + static_cast<size_t>(row) * k;
    const float* b_col = b + col;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) sum = fmaf(a_row[i], b_col[static_cast<size_t>(i) * n], sum);
    const float add = kEpilogue == Epilogue::kNone ? 0.0f : bias[col];
    c[static_cast<size_t>(row) * n + col] = finish<kEpilogue>(sum, add);
}

}  // namespace

Launch prepare_naive(const Problem& p, const Operands& o, const DeviceLimits&) {
    return with_epilogue(p.epilogue, [&](auto epilogue) -> Launch {
        return [=](cudaStream_t stream) {
            const dim3 block(kBlockCols, kBlockRows);
            const dim3 grid((p.n + kBlockCols - 1) / kBlockCols,
                            (p.m + kBlockRows - 1) / kBlockRows);
            gemm_naive<decltype(epilogue)::value>
                <<<grid, block, 0, stream>>>(p.m, p.n, p.k, static_cast<const float*>(o.a),
                                             static_cast<const float*>(o.b), o.bias, o.c);
            common::check(cudaGetLastError(), "launch");
        };
    });
}

}  // namespace gemm

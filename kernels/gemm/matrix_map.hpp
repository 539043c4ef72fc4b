// SPDX-License-Identifier: Apache-2.0
// Row-major matrices as the copy engine takes them.
#pragma once

#include "common/tensor_map.hpp"
#include "gemm/problem.hpp"

namespace gemm {

// In boxes of `box_rows` lines of 128 bytes, whose chunks of 16 bytes are permuted so that eight
// lines of a column of chunks lie in different banks.
inline CUtensorMap matrix_map(const void* matrix, Dtype dtype, int rows, int cols, int box_rows) {
    constexpr std::size_t kLineBytes = 128;
    const CUtensorMapDataType type = dtype == Dtype::kF16    ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                     : dtype == Dtype::kBf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                             : CU_TENSOR_MAP_DATA_TYPE_UINT8;
    const std::size_t bytes = element_bytes(dtype);
    return common::tensor_map<2>(
        matrix, type, {static_cast<cuuint64_t>(cols), static_cast<cuuint64_t>(rows)},
        {static_cast<cuuint64_t>(cols) * bytes},
        {static_cast<cuuint32_t>(kLineBytes / bytes), static_cast<cuuint32_t>(box_rows)},
        CU_TENSOR_MAP_SWIZZLE_128B);
}

}  // namespace gemm

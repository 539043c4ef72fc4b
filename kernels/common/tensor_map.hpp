// SPDX-License-Identifier: Apache-2.0
// Tensors as the copy engine of compute capability 9.0 and up takes them (TMA): what a map says of
// memory, of the box that one copy brings, and of how the box lies in shared memory.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "common/cuda.hpp"

namespace common {

// Asks the driver, so that nothing links against it.
inline PFN_cuTensorMapEncodeTiled_v12000 tensor_map_encoder() {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                           cudaEnableDefault, &found),
          "asking the driver for cuTensorMapEncodeTiled");
    if (found != cudaDriverEntryPointSuccess || !function) {
        throw std::runtime_error(
            "the driver has no cuTensorMapEncodeTiled, which this variant needs; install one of "
            "CUDA 12.0 or later");
    }
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
}

// Extents and the box innermost dimension first; strides, in bytes, of all but the innermost.
// Copies from beyond the extents are zeros.
template <std::size_t kRank>
CUtensorMap tensor_map(const void* tensor, CUtensorMapDataType type,
                       const std::array<cuuint64_t, kRank>& extents,
                       const std::array<cuuint64_t, kRank - 1>& strides,
                       const std::array<cuuint32_t, kRank>& box, CUtensorMapSwizzle swizzle) {
    static const PFN_cuTensorMapEncodeTiled_v12000 encode = tensor_map_encoder();
    std::array<cuuint32_t, kRank> every;
    every.fill(1);
    CUtensorMap map;
    const CUresult result =
        encode(&map, type, kRank, const_cast<void*>(tensor), extents.data(), strides.data(),
               box.data(), every.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result == CUDA_SUCCESS) return map;
    std::string shape;
    for (const cuuint64_t extent : extents) {
        shape += (shape.empty() ? "" : " x ") + std::to_string(extent);
    }
    throw std::runtime_error("cuTensorMapEncodeTiled refused a tensor of " + shape +
                             ": CUDA error " + std::to_string(static_cast<int>(result)));
}

}  // namespace common

// SPDX-License-Identifier: Apache-2.0
// What the two halves of the cublas variant share.
#pragma once

#include <cstddef>

#include "common/cublas_library.hpp"
#include "gemm/launchers.hpp"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#else
#define GEMM_NO_CUBLAS_HEADER
#endif

namespace gemm {

#ifndef GEMM_NO_CUBLAS_HEADER

struct CublasTypes {
    cudaDataType data;
    cublasComputeType_t compute;
};

inline CublasTypes cublas_types(Dtype dtype) {
    switch (dtype) {
        case Dtype::kTf32:
            return {CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
        case Dtype::kF16:
            return {CUDA_R_16F, CUBLAS_COMPUTE_32F};
        case Dtype::kBf16:
            return {CUDA_R_16BF, CUBLAS_COMPUTE_32F};
        case Dtype::kE4m3:
            return {CUDA_R_8F_E4M3, CUBLAS_COMPUTE_32F};
        case Dtype::kF32:
            break;
    }
    // Pedantic: whatever the environment allows, f32 stays off the tensor cores.
    return {CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC};
}

#endif

// What cublasGemmEx does not have: fused epilogues and e4m3.
Launch prepare_cublas_lt(const Problem&, const Operands&);

}  // namespace gemm

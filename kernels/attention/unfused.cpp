// SPDX-License-Identifier: Apache-2.0
// Attention as three launches: scores by cuBLAS, their softmax, the weighted values by cuBLAS.
// Scores are bf16, as a framework that runs in bf16 stores them. A causal mask saves nothing here
// but reads of the softmax: cuBLAS multiplies what is masked, too.
#include <stdexcept>
#include <string>

#include "attention/catalogue.hpp"
#include "attention/launchers.hpp"
#include "common/cublas_library.hpp"
#include "common/cuda.hpp"

#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#else
#define ATTENTION_NO_CUBLAS_HEADER
#endif

namespace attention {

#ifndef ATTENTION_NO_CUBLAS_HEADER

namespace {

// The functions that are used, under the names that the library exports.
struct Library {
    decltype(&cublasCreate_v2) create = nullptr;
    decltype(&cublasDestroy_v2) destroy = nullptr;
    decltype(&cublasSetStream_v2) set_stream = nullptr;
    decltype(&cublasSetWorkspace_v2) set_workspace = nullptr;
    decltype(&cublasGetStatusString) status_string = nullptr;
    // The header overloads this name for C++, so its type is written out.
    cublasStatus_t (*gemm)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n,
                           int k, const void* alpha, const void* a, cudaDataType, int lda,
                           long long stride_a, const void* b, cudaDataType, int ldb,
                           long long stride_b, const void* beta, void* c, cudaDataType, int ldc,
                           long long stride_c, int count, cublasComputeType_t,
                           cublasGemmAlgo_t) = nullptr;
};

const Library& library() {
    static const Library loaded = [] {
        void* handle = common::open_cublas(CUBLAS_VER_MAJOR);
        Library functions;
        common::resolve_cublas(handle, "cublasCreate_v2", functions.create);
        common::resolve_cublas(handle, "cublasDestroy_v2", functions.destroy);
        common::resolve_cublas(handle, "cublasSetStream_v2", functions.set_stream);
        common::resolve_cublas(handle, "cublasSetWorkspace_v2", functions.set_workspace);
        common::resolve_cublas(handle, "cublasGetStatusString", functions.status_string);
        common::resolve_cublas(handle, "cublasGemmStridedBatchedEx", functions.gemm);
        return functions;
    }();
    return loaded;
}

void require(cublasStatus_t status, const char* what) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw std::runtime_error(std::string(what) + ": " + library().status_string(status));
}

class Handle {
  public:
    Handle() { require(library().create(&handle_), "cublasCreate"); }
    ~Handle() { library().destroy(handle_); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    cublasHandle_t get() const { return handle_; }

  private:
    cublasHandle_t handle_ = nullptr;
};

class Unfused {
  public:
    Unfused(const Problem& problem, const Tensors& tensors)
        : p_(problem),
          t_(tensors),
          scores_(score_bytes(problem), "scores"),
          workspace_(kCublasWorkspaceBytes, "cuBLAS") {
        scores_.poison();  // the padding of rows is read, with its row, but not used
        use(nullptr);
    }

    // cuBLAS is column-major: it sees each row-major matrix transposed, and is asked for the
    // transposed product.
    void launch(cudaStream_t stream) {
        if (stream != stream_) use(stream);
        const int n = p_.sequence;
        const int d = p_.head_size;
        const auto row = static_cast<int>(score_row_elements(p_));
        const auto head = static_cast<long long>(p_.head_elements());
        const long long square = static_cast<long long>(row) * n;
        const float scale = p_.scale();
        const float one = 1.0f;
        const float zero = 0.0f;
        require(library().gemm(handle_.get(), CUBLAS_OP_T, CUBLAS_OP_N, n, n, d, &scale, t_.k,
                               CUDA_R_16BF, d, head, t_.q, CUDA_R_16BF, d, head, &zero,
                               scores_.get(), CUDA_R_16BF, row, square, p_.head_count(),
                               CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                "cublasGemmStridedBatchedEx for the scores");
        softmax_rows(p_, scores_.as<std::uint16_t>(), score_row_elements(p_), stream);
        require(library().gemm(handle_.get(), CUBLAS_OP_N, CUBLAS_OP_N, d, n, n, &one, t_.v,
                               CUDA_R_16BF, d, head, scores_.get(), CUDA_R_16BF, row, square, &zero,
                               t_.o, CUDA_R_16BF, d, head, p_.head_count(), CUBLAS_COMPUTE_32F,
                               CUBLAS_GEMM_DEFAULT),
                "cublasGemmStridedBatchedEx for the values");
    }

  private:
    // A change of stream puts the handle's default workspace back. With one of its own a handle's
    // choice of algorithm, and so the result, does not depend on what else the process does.
    void use(cudaStream_t stream) {
        require(library().set_stream(handle_.get(), stream), "cublasSetStream");
        require(library().set_workspace(handle_.get(), workspace_.get(), workspace_.bytes()),
                "cublasSetWorkspace");
        stream_ = stream;
    }

    Problem p_;
    Tensors t_;
    Handle handle_;
    common::DeviceMemory scores_;
    common::DeviceMemory workspace_;
    cudaStream_t stream_ = nullptr;
};

}  // namespace

Launch prepare_unfused(const Problem& problem, const Tensors& tensors) {
    const auto unfused = std::make_shared<Unfused>(problem, tensors);
    return [unfused](cudaStream_t stream) { unfused->launch(stream); };
}

#else

Launch prepare_unfused(const Problem&, const Tensors&) {
    throw std::runtime_error(
        "attention was built without cuBLAS's headers; install them (Debian and Ubuntu: "
        "libcublas-dev-13-0) and build again, or deselect the variant");
}

#endif

}  // namespace attention

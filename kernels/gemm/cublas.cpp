// SPDX-License-Identifier: Apache-2.0
// NVIDIA's library as the reference, by cublasGemmEx where that suffices.
#include "common/cuda.hpp"
#include "gemm/cublas_library.hpp"
#include "gemm/cublas_workspace.hpp"

#ifndef GEMM_NO_CUBLAS_HEADER
#include <cublas_v2.h>

#include <memory>
#endif

namespace gemm {

#ifndef GEMM_NO_CUBLAS_HEADER

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
                           const void* b, cudaDataType, int ldb, const void* beta, void* c,
                           cudaDataType, int ldc, cublasComputeType_t, cublasGemmAlgo_t) = nullptr;

    Library() {
        void* file = common::open_cublas(CUBLAS_VER_MAJOR);
        common::resolve_cublas(file, "cublasCreate_v2", create);
        common::resolve_cublas(file, "cublasDestroy_v2", destroy);
        common::resolve_cublas(file, "cublasSetStream_v2", set_stream);
        common::resolve_cublas(file, "cublasSetWorkspace_v2", set_workspace);
        common::resolve_cublas(file, "cublasGetStatusString", status_string);
        common::resolve_cublas(file, "cublasGemmEx", gemm);
    }
};

const Library& library() {
    static const Library loaded;
    return loaded;
}

void require_cublas(cublasStatus_t status, const char* what) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw std::runtime_error(std::string(what) + ": " + library().status_string(status));
}

// A handle with a workspace of its own, both made at set-up and not at the first launch: its choice
// of algorithm, and so the result, does not depend on what else the process does.
class Handle {
  public:
    Handle() : workspace_(kCublasWorkspaceBytes, "cuBLAS's workspace") {
        require_cublas(library().create(&handle_), "cublasCreate");
        try {
            use(nullptr);
        } catch (...) {
            library().destroy(handle_);
            throw;
        }
    }
    ~Handle() { library().destroy(handle_); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    cublasHandle_t on(cudaStream_t stream) {
        if (stream != stream_) use(stream);
        return handle_;
    }

  private:
    // A change of stream puts the handle's default workspace back.
    void use(cudaStream_t next) {
        require_cublas(library().set_stream(handle_, next), "cublasSetStream");
        require_cublas(library().set_workspace(handle_, workspace_.get(), workspace_.bytes()),
                       "cublasSetWorkspace");
        stream_ = next;
    }

    common::DeviceMemory workspace_;
    cublasHandle_t handle_ = nullptr;
    cudaStream_t stream_ = nullptr;
};

}  // namespace

Launch prepare_cublas(const Problem& p, const Operands& o, const DeviceLimits&) {
    if (p.epilogue != Epilogue::kNone || p.dtype == Dtype::kE4m3) return prepare_cublas_lt(p, o);
    const auto handle = std::make_shared<Handle>();
    return [=](cudaStream_t stream) {
        const float one = 1.0f;
        const float zero = 0.0f;
        const auto [data, compute] = cublas_types(p.dtype);
        // cuBLAS is column-major: what it sees as B^T A^T = C^T is C = A B row by row.
        require_cublas(library().gemm(handle->on(stream), CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k,
                                      &one, o.b, data, p.n, o.a, data, p.k, &zero, o.c, CUDA_R_32F,
                                      p.n, compute, CUBLAS_GEMM_DEFAULT),
                       "cublasGemmEx");
    };
}

#else

Launch prepare_cublas(const Problem&, const Operands&, const DeviceLimits&) {
    throw std::runtime_error(
        "gemm was built without cuBLAS's headers; install them (Debian and Ubuntu: "
        "libcublas-dev-13-0) and build again, or deselect the variant");
}

#endif

}  // namespace gemm

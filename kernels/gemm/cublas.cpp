// SPDX-License-Identifier: Apache-2.0
// NVIDIA's library as the yardstick. It is loaded at run time: perfgate and its plugins start on
// machines that have none, and only this variant asks for it.
#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cuda.hpp"
#include "gemm/launchers.hpp"

#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#else
#define GEMM_NO_CUBLAS_HEADER
#endif

namespace gemm {

#ifndef GEMM_NO_CUBLAS_HEADER

namespace {

constexpr char kRemedy[] =
    "; install the CUDA toolkit's cuBLAS (Debian and Ubuntu: libcublas-13-0), or add its folder to "
    "LD_LIBRARY_PATH, or deselect the variant";

std::vector<std::string> library_names() {
    const std::string versioned = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
    std::vector<std::string> names{versioned};
    for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
        if (const char* root = std::getenv(variable)) {
            names.push_back(std::string(root) + "/lib64/" + versioned);
        }
    }
    names.push_back("/usr/local/cuda/lib64/" + versioned);
    names.push_back("/usr/local/cuda-" + std::to_string(CUBLAS_VER_MAJOR) + "/lib64/" + versioned);
    return names;
}

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
};

template <class Function>
void resolve(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (!function) {
        throw std::runtime_error(std::string("cuBLAS has no function ") + name + kRemedy);
    }
}

Library load() {
    void* handle = nullptr;
    std::string first_error;
    for (const std::string& name : library_names()) {
        handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle) break;
        if (first_error.empty()) {
            const char* error = dlerror();
            first_error = error ? error : name;
        }
    }
    if (!handle) throw std::runtime_error("cannot load cuBLAS: " + first_error + kRemedy);
    Library library;
    resolve(handle, "cublasCreate_v2", library.create);
    resolve(handle, "cublasDestroy_v2", library.destroy);
    resolve(handle, "cublasSetStream_v2", library.set_stream);
    resolve(handle, "cublasSetWorkspace_v2", library.set_workspace);
    resolve(handle, "cublasGetStatusString", library.status_string);
    resolve(handle, "cublasGemmEx", library.gemm);
    return library;  // never unloaded: its kernels may still be queued
}

const Library& library() {
    static const Library loaded = load();
    return loaded;
}

void require_cublas(cublasStatus_t status, const char* what) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw std::runtime_error(std::string(what) + ": " + library().status_string(status));
}

struct Types {
    cudaDataType data;
    cublasComputeType_t compute;
};

Types types_of(Dtype dtype) {
    switch (dtype) {
        case Dtype::kTf32:
            return {CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
        case Dtype::kF16:
            return {CUDA_R_16F, CUBLAS_COMPUTE_32F};
        case Dtype::kBf16:
            return {CUDA_R_16BF, CUBLAS_COMPUTE_32F};
        case Dtype::kF32:
            break;
    }
    // Pedantic: whatever the environment allows, f32 stays off the tensor cores.
    return {CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC};
}

}  // namespace

struct Cublas::State {
    explicit State(std::size_t bytes) : workspace_bytes(bytes) {
        require_cublas(library().create(&handle), "cublasCreate");
        if (const cudaError_t error = cudaMalloc(&workspace, workspace_bytes)) {
            library().destroy(handle);
            common::check(error, "workspace for cuBLAS");
        }
        use(nullptr);
    }
    ~State() {
        library().destroy(handle);
        cudaFree(workspace);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    // A change of stream puts the handle's default workspace back.
    void use(cudaStream_t next) {
        require_cublas(library().set_stream(handle, next), "cublasSetStream");
        require_cublas(library().set_workspace(handle, workspace, workspace_bytes),
                       "cublasSetWorkspace");
        stream = next;
    }

    cublasHandle_t handle = nullptr;
    // With a workspace of its own a handle's choice of algorithm, and so the result, does not
    // depend on what else the process does.
    void* workspace = nullptr;
    std::size_t workspace_bytes;
    cudaStream_t stream = nullptr;
};

Cublas::Cublas(std::size_t workspace_bytes) : state_(std::make_unique<State>(workspace_bytes)) {}
Cublas::~Cublas() = default;

void Cublas::launch(const Problem& p, const void* a, const void* b, float* c, cudaStream_t stream) {
    if (stream != state_->stream) state_->use(stream);
    const float one = 1.0f;
    const float zero = 0.0f;
    const auto [data, compute] = types_of(p.dtype);
    // cuBLAS is column-major: what it sees as B^T A^T = C^T is C = A B row by row.
    require_cublas(
        library().gemm(state_->handle, CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, &one, b, data, p.n,
                       a, data, p.k, &zero, c, CUDA_R_32F, p.n, compute, CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx");
}

#else

struct Cublas::State {};

Cublas::Cublas(std::size_t) {
    throw std::runtime_error(
        "gemm was built without cuBLAS's headers; install them (Debian and Ubuntu: "
        "libcublas-dev-13-0) and build again, or deselect the variant");
}
Cublas::~Cublas() = default;
void Cublas::launch(const Problem&, const void*, const void*, float*, cudaStream_t) {}

#endif

}  // namespace gemm

// SPDX-License-Identifier: Apache-2.0
// The part of cuBLAS that fuses a bias and GELU into the product and multiplies 8-bit types.
#include "gemm/cublas_library.hpp"

#ifndef GEMM_NO_CUBLAS_HEADER

#include <array>
#include <memory>

#include "common/cuda.hpp"
#include "gemm/cublas_workspace.hpp"

namespace gemm {
namespace {

struct Library {
    decltype(&cublasLtCreate) create = nullptr;
    decltype(&cublasLtDestroy) destroy = nullptr;
    decltype(&cublasLtGetStatusString) status_string = nullptr;
    decltype(&cublasLtMatmulDescCreate) desc_create = nullptr;
    decltype(&cublasLtMatmulDescDestroy) desc_destroy = nullptr;
    decltype(&cublasLtMatmulDescSetAttribute) desc_set = nullptr;
    decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
    decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
    decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
    decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
    decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
    decltype(&cublasLtMatmulAlgoGetHeuristic) choose = nullptr;
    decltype(&cublasLtMatmul) matmul = nullptr;

    Library() {
        void* file = common::open_cublas(CUBLAS_VER_MAJOR, "cublasLt");
        common::resolve_cublas(file, "cublasLtCreate", create);
        common::resolve_cublas(file, "cublasLtDestroy", destroy);
        common::resolve_cublas(file, "cublasLtGetStatusString", status_string);
        common::resolve_cublas(file, "cublasLtMatmulDescCreate", desc_create);
        common::resolve_cublas(file, "cublasLtMatmulDescDestroy", desc_destroy);
        common::resolve_cublas(file, "cublasLtMatmulDescSetAttribute", desc_set);
        common::resolve_cublas(file, "cublasLtMatrixLayoutCreate", layout_create);
        common::resolve_cublas(file, "cublasLtMatrixLayoutDestroy", layout_destroy);
        common::resolve_cublas(file, "cublasLtMatmulPreferenceCreate", preference_create);
        common::resolve_cublas(file, "cublasLtMatmulPreferenceDestroy", preference_destroy);
        common::resolve_cublas(file, "cublasLtMatmulPreferenceSetAttribute", preference_set);
        common::resolve_cublas(file, "cublasLtMatmulAlgoGetHeuristic", choose);
        common::resolve_cublas(file, "cublasLtMatmul", matmul);
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

struct Destroy {
    void operator()(cublasLtHandle_t handle) const { library().destroy(handle); }
    void operator()(cublasLtMatmulDesc_t desc) const { library().desc_destroy(desc); }
    void operator()(cublasLtMatrixLayout_t layout) const { library().layout_destroy(layout); }
    void operator()(cublasLtMatmulPreference_t preference) const {
        library().preference_destroy(preference);
    }
};
template <class Pointer>
using Owned = std::unique_ptr<std::remove_pointer_t<Pointer>, Destroy>;

Owned<cublasLtHandle_t> make_handle() {
    cublasLtHandle_t handle = nullptr;
    require_cublas(library().create(&handle), "cublasLtCreate");
    return Owned<cublasLtHandle_t>(handle);
}

Owned<cublasLtMatrixLayout_t> make_layout(cudaDataType type, int rows, int cols) {
    cublasLtMatrixLayout_t layout = nullptr;
    require_cublas(library().layout_create(&layout, type, static_cast<std::uint64_t>(rows),
                                           static_cast<std::uint64_t>(cols), rows),
                   "cublasLtMatrixLayoutCreate");
    return Owned<cublasLtMatrixLayout_t>(layout);
}

template <class Value>
void set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, Value value) {
    require_cublas(library().desc_set(desc, attribute, &value, sizeof value),
                   "cublasLtMatmulDescSetAttribute");
}

// cuBLAS is column-major: what it sees as B^T A^T = C^T is C = A B row by row, and the bias, one
// value a column of C, is one a row to it.
class Matmul {
  public:
    Matmul(const Problem& p, const Operands& o)
        : operands_(o),
          workspace_(kCublasWorkspaceBytes, "cuBLAS's workspace"),
          handle_(make_handle()) {
        const auto [data, compute] = cublas_types(p.dtype);
        cublasLtMatmulDesc_t desc = nullptr;
        require_cublas(library().desc_create(&desc, compute, CUDA_R_32F), "cublasLtMatmulDesc");
        desc_.reset(desc);
        if (p.dtype == Dtype::kE4m3) {
            // As the tensor cores add, without moving partial sums to registers of full precision:
            // what gemm/hopper does.
            set(desc, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
        }
        if (p.b_by_columns()) set(desc, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
        if (p.epilogue != Epilogue::kNone) {
            set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE,
                p.epilogue == Epilogue::kBias ? CUBLASLT_EPILOGUE_BIAS
                                              : CUBLASLT_EPILOGUE_GELU_BIAS);
            set(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(o.bias));
            set(desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_32F);
        }
        b_ = p.b_by_columns() ? make_layout(data, p.k, p.n) : make_layout(data, p.n, p.k);
        a_ = make_layout(data, p.k, p.m);
        c_ = make_layout(CUDA_R_32F, p.n, p.m);

        cublasLtMatmulPreference_t preference = nullptr;
        require_cublas(library().preference_create(&preference), "cublasLtMatmulPreference");
        const Owned<cublasLtMatmulPreference_t> owned(preference);
        const std::size_t bytes = workspace_.bytes();
        require_cublas(
            library().preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                     sizeof bytes),
            "cublasLtMatmulPreferenceSetAttribute");
        int found = 0;
        const cublasStatus_t status =
            library().choose(handle_.get(), desc, b_.get(), a_.get(), c_.get(), c_.get(),
                             preference, 1, &choice_, &found);
        if (status == CUBLAS_STATUS_NOT_SUPPORTED || found == 0) {
            throw perfgate::sdk::Unsupported("cuBLAS has no kernel for this product and epilogue");
        }
        require_cublas(status, "cublasLtMatmulAlgoGetHeuristic");
    }

    void launch(cudaStream_t stream) {
        const float one = 1.0f;
        const float zero = 0.0f;
        require_cublas(
            library().matmul(handle_.get(), desc_.get(), &one, operands_.b, b_.get(), operands_.a,
                             a_.get(), &zero, operands_.c, c_.get(), operands_.c, c_.get(),
                             &choice_.algo, workspace_.get(), workspace_.bytes(), stream),
            "cublasLtMatmul");
    }

  private:
    Operands operands_;
    common::DeviceMemory workspace_;
    Owned<cublasLtHandle_t> handle_;
    Owned<cublasLtMatmulDesc_t> desc_;
    Owned<cublasLtMatrixLayout_t> a_, b_, c_;
    cublasLtMatmulHeuristicResult_t choice_{};
};

}  // namespace

Launch prepare_cublas_lt(const Problem& problem, const Operands& operands) {
    const auto matmul = std::make_shared<Matmul>(problem, operands);
    return [matmul](cudaStream_t stream) { matmul->launch(stream); };
}

}  // namespace gemm

#endif

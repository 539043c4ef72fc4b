// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "backend/cuda/driver.hpp"
#include "backend/cuda/environment.hpp"
#include "util/toolkit.hpp"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#define PERFGATE_HAS_CUBLAS_HEADER 1
#else
#define PERFGATE_HAS_CUBLAS_HEADER 0
#endif

namespace perfgate::backend::cuda {
namespace {

/// Both halves of the copy; the matrices lie in the same memory. Far beyond any L2 cache.
constexpr std::size_t copy_bytes = std::size_t{1} << 30;
/// The largest share of free memory that is used.
constexpr std::size_t free_share = 2;
constexpr std::size_t least_buffer_bytes = std::size_t{64} << 20;

/// Clocks reach their peak within this much work.
constexpr double warm_up_ns = 60e6;
constexpr int copies = 20;

/// Time limit for one arithmetic type on a slow device.
constexpr double time_budget_ns = 120e6;

/// The fastest of the launches of `work`, nanoseconds: at most `count`, stopping when they have
/// taken `budget_ns` in total.
template <class Work>
double fastest_ns(CUstream stream, int count, double budget_ns, const Work& work) {
    const Event begin;
    const Event end;
    double fastest = 0;
    double spent = 0;
    for (int i = 0; i < count && spent < budget_ns; ++i) {
        begin.record(stream);
        work();
        end.record(stream);
        end.synchronize();
        const double took = elapsed_ns(begin, end);
        if (fastest == 0 || took < fastest) fastest = took;
        spent += took;
    }
    return fastest;
}

std::size_t buffer_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    check(driver().cuMemGetInfo(&free, &total), "cannot ask for the device's free memory");
    const std::size_t bytes = std::min(copy_bytes, free / free_share);
    if (bytes < least_buffer_bytes) {
        throw util::Error(
            "ceilings need {} MiB of free device memory: end what else uses the device",
            (least_buffer_bytes * free_share) >> 20);
    }
    return bytes & ~std::size_t{0xfff};
}

/// Bytes read plus bytes written, per second.
double copy_bandwidth(CUstream stream, const DeviceBuffer& buffer) {
    const std::size_t half = buffer.bytes() / 2;
    const auto copy = [&] {
        check(driver().cuMemcpyDtoDAsync(buffer.address() + half, buffer.address(), half, stream),
              "cannot copy on the device");
    };
    fastest_ns(stream, 1000, warm_up_ns, copy);
    const double took = fastest_ns(stream, copies, time_budget_ns, copy);
    return took > 0 ? 2 * static_cast<double>(half) / (took * 1e-9) : 0;
}

#if PERFGATE_HAS_CUBLAS_HEADER

constexpr std::size_t workspace_bytes = std::size_t{32} << 20;
constexpr int launches_per_algorithm = 4;
constexpr std::size_t most_algorithms = 4;

struct MatrixType {
    const char* name;
    cudaDataType in, out;
    cublasComputeType_t compute;
    std::size_t in_bytes, out_bytes;
    int largest;  ///< side of the square matrices
    /// Whether the first input is transposed. fp8 products require inputs that are contiguous along
    /// the sum; f32 is slightly faster without (seen on an H100).
    cublasOperation_t operation;
    /// A word of inputs is `base` with pseudo-random bits where `random` has ones: signs and
    /// mantissas, so that values lie between 0.5 and 1. Constant inputs would need less power and
    /// flatter the clocks.
    std::uint32_t base, random;
};

// The types by the names that users know. f32 is smaller because it takes twenty times as long.
constexpr std::array matrix_types{
    MatrixType{"f32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC, 4, 4, 4096, CUBLAS_OP_N,
               0x3f000000, 0x807fffff},
    MatrixType{"tf32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 4, 4, 8192,
               CUBLAS_OP_T, 0x3f000000, 0x807fffff},
    MatrixType{"f16", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 2, 2, 8192, CUBLAS_OP_T,
               0x38003800, 0x83ff83ff},
    MatrixType{"bf16", CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 2, 2, 8192, CUBLAS_OP_T,
               0x3f003f00, 0x807f807f},
    MatrixType{"fp8", CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 1, 2, 8192, CUBLAS_OP_T,
               0x30303030, 0x87878787},
};

// Each word of the buffer becomes `base` with the bits of `mask` from a hash of its index.
std::string filling() {
    return grid_loop_ptx(
        "perfgate_fill",
        ".param .u64 buffer, .param .u64 words, .param .u32 base, .param .u32 mask",
        R"(
    ld.param.u64 %rd1, [buffer];
    ld.param.u64 %count, [words];
    ld.param.u32 %r8, [base];
    ld.param.u32 %r9, [mask];
    cvta.to.global.u64 %rd1, %rd1;)",
        R"(
    cvt.u32.u64 %r5, %i;
    shr.u32 %r6, %r5, 16;
    xor.b32 %r5, %r5, %r6;
    mul.lo.u32 %r5, %r5, 0x85ebca6b;
    shr.u32 %r6, %r5, 13;
    xor.b32 %r5, %r5, %r6;
    mul.lo.u32 %r5, %r5, 0xc2b2ae35;
    shr.u32 %r6, %r5, 16;
    xor.b32 %r5, %r5, %r6;
    and.b32 %r5, %r5, %r9;
    or.b32 %r5, %r5, %r8;
    shl.b64 %rd6, %i, 2;
    add.u64 %rd7, %rd1, %rd6;
    st.global.u32 [%rd7], %r5;)");
}

constexpr const char* remedy =
    "install the CUDA toolkit's cuBLAS (Debian and Ubuntu: libcublas-13-0), or add its folder to "
    "LD_LIBRARY_PATH";

// Each function under the name that the library exports.
// clang-format off
#define PERFGATE_CUBLAS_FUNCTIONS(X) \
    X(cublasLtCreate) X(cublasLtDestroy) X(cublasLtGetStatusString) \
    X(cublasLtMatmulDescCreate) X(cublasLtMatmulDescDestroy) X(cublasLtMatmulDescSetAttribute) \
    X(cublasLtMatrixLayoutCreate) X(cublasLtMatrixLayoutDestroy) \
    X(cublasLtMatmulPreferenceCreate) X(cublasLtMatmulPreferenceDestroy) \
    X(cublasLtMatmulPreferenceSetAttribute) X(cublasLtMatmulAlgoGetHeuristic) X(cublasLtMatmul)
// clang-format on

struct Cublas {
#define PERFGATE_CUBLAS_DECLARE(name) decltype(&::name) name = nullptr;
    PERFGATE_CUBLAS_FUNCTIONS(PERFGATE_CUBLAS_DECLARE)
#undef PERFGATE_CUBLAS_DECLARE
};

std::vector<std::string> library_names() {
    const std::string versioned = fmt::format("libcublasLt.so.{}", CUBLAS_VER_MAJOR);
    std::vector<std::string> names{versioned};
    for (const std::string& toolkit : util::toolkit_folders()) {
        names.push_back(fmt::format("{}/lib64/{}", toolkit, versioned));
    }
    names.push_back(fmt::format("/usr/local/cuda-{}/lib64/{}", CUBLAS_VER_MAJOR, versioned));
    return names;
}

Cublas load_cublas() {
    void* handle = nullptr;
    std::string first_error;
    for (const std::string& name : library_names()) {
        handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle != nullptr) break;
        if (first_error.empty()) {
            const char* error = dlerror();
            first_error = error != nullptr ? error : name;
        }
    }
    if (handle == nullptr) {
        throw util::Error("cannot load cuBLAS: {}; {}", first_error, remedy);
    }
    // Never unloaded: its kernels belong to the context.
    Cublas cublas;
    const auto resolve = [handle](const char* name, auto& function) {
        function =
            reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
        if (function == nullptr) {
            throw util::Error("cuBLAS has no function {}; {}", name, remedy);
        }
    };
#define PERFGATE_CUBLAS_RESOLVE(name) resolve(#name, cublas.name);
    PERFGATE_CUBLAS_FUNCTIONS(PERFGATE_CUBLAS_RESOLVE)
#undef PERFGATE_CUBLAS_RESOLVE
    return cublas;
}

const Cublas& cublas() {
    static const Cublas loaded = load_cublas();
    return loaded;
}

void require(cublasStatus_t status, const char* what) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw util::Error("{}: {}", what, cublas().cublasLtGetStatusString(status));
}

/// cuBLAS's handles: made by a function that fills a pointer, freed by another.
template <class Handle>
using Owner = std::unique_ptr<std::remove_pointer_t<Handle>, cublasStatus_t (*)(Handle)>;

Owner<cublasLtMatrixLayout_t> layout_of(cudaDataType type, int side) {
    cublasLtMatrixLayout_t layout = nullptr;
    const auto size = static_cast<std::uint64_t>(side);
    require(cublas().cublasLtMatrixLayoutCreate(&layout, type, size, size, side),
            "cublasLtMatrixLayoutCreate");
    return {layout, cublas().cublasLtMatrixLayoutDestroy};
}

Owner<cublasLtMatmulDesc_t> description_of(const MatrixType& type) {
    cublasLtMatmulDesc_t created = nullptr;
    require(cublas().cublasLtMatmulDescCreate(&created, type.compute, CUDA_R_32F),
            "cublasLtMatmulDescCreate");
    Owner<cublasLtMatmulDesc_t> description(created, cublas().cublasLtMatmulDescDestroy);
    require(cublas().cublasLtMatmulDescSetAttribute(description.get(), CUBLASLT_MATMUL_DESC_TRANSA,
                                                    &type.operation, sizeof(type.operation)),
            "cublasLtMatmulDescSetAttribute");
    if (type.in == CUDA_R_8F_E4M3) {
        const std::int8_t fast = 1;  // accumulates like the tensor cores
        require(cublas().cublasLtMatmulDescSetAttribute(
                    description.get(), CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof(fast)),
                "cublasLtMatmulDescSetAttribute");
    }
    return description;
}

class MatrixRates {
  public:
    MatrixRates(CUstream stream, const DeviceBuffer& buffer)
        : stream_(stream), buffer_(buffer), workspace_(workspace_bytes) {
        require(cublas().cublasLtCreate(&handle_), "cublasLtCreate");
    }
    ~MatrixRates() { cublas().cublasLtDestroy(handle_); }
    MatrixRates& operator=(MatrixRates&&) = delete;  // nor copied

    /// Operations per second; 0 if the device or cuBLAS does not have the type.
    double rate(const MatrixType& type) {
        int side = type.largest;
        while (bytes_of(type, side) > buffer_.bytes()) side /= 2;
        const auto elements = static_cast<std::size_t>(side) * static_cast<std::size_t>(side);
        const CUdeviceptr a = buffer_.address();
        const CUdeviceptr b = a + elements * type.in_bytes;
        const CUdeviceptr d = b + elements * type.in_bytes;
        std::uint64_t words = 2 * elements * type.in_bytes / sizeof(std::uint32_t);
        std::uint32_t base = type.base, mask = type.random;
        CUdeviceptr inputs = a;
        void* arguments[] = {&inputs, &words, &base, &mask};
        fill_(stream_, 1024, 256, arguments);

        const auto description = description_of(type);
        const auto in = layout_of(type.in, side);
        const auto out = layout_of(type.out, side);
        const float one = 1;
        const float zero = 0;
        double fastest = 0;
        double spent = 0;
        for (const cublasLtMatmulHeuristicResult_t& choice :
             algorithms(description.get(), in.get(), out.get())) {
            if (spent >= time_budget_ns) break;
            const double took =
                fastest_ns(stream_, launches_per_algorithm, time_budget_ns - spent, [&] {
                    require(cublas().cublasLtMatmul(
                                handle_, description.get(), &one, as_pointer(a), in.get(),
                                as_pointer(b), in.get(), &zero, as_pointer(d), out.get(),
                                as_pointer(d), out.get(), &choice.algo,
                                as_pointer(workspace_.address()), choice.workspaceSize, stream_),
                            "cublasLtMatmul");
                });
            spent += took * launches_per_algorithm;
            if (fastest == 0 || took < fastest) fastest = took;
        }
        const double cubed = static_cast<double>(elements) * side;
        return fastest > 0 ? 2 * cubed / (fastest * 1e-9) : 0;
    }

  private:
    static std::size_t bytes_of(const MatrixType& type, int side) {
        return static_cast<std::size_t>(side) * static_cast<std::size_t>(side) *
               (2 * type.in_bytes + type.out_bytes);
    }

    static void* as_pointer(CUdeviceptr address) {
        // The driver declares its pointers as integers.
        return reinterpret_cast<void*>(address);
    }

    /// The first few that cuBLAS recommends; none for a type that it has no kernel for.
    std::vector<cublasLtMatmulHeuristicResult_t> algorithms(cublasLtMatmulDesc_t description,
                                                            cublasLtMatrixLayout_t in,
                                                            cublasLtMatrixLayout_t out) const {
        cublasLtMatmulPreference_t created = nullptr;
        require(cublas().cublasLtMatmulPreferenceCreate(&created),
                "cublasLtMatmulPreferenceCreate");
        const Owner<cublasLtMatmulPreference_t> preference(
            created, cublas().cublasLtMatmulPreferenceDestroy);
        require(cublas().cublasLtMatmulPreferenceSetAttribute(
                    preference.get(), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                    sizeof(workspace_bytes)),
                "cublasLtMatmulPreferenceSetAttribute");
        std::vector<cublasLtMatmulHeuristicResult_t> results(most_algorithms);
        int count = 0;
        const cublasStatus_t status = cublas().cublasLtMatmulAlgoGetHeuristic(
            handle_, description, in, in, out, out, preference.get(),
            static_cast<int>(results.size()), results.data(), &count);
        if (status == CUBLAS_STATUS_NOT_SUPPORTED) return {};
        require(status, "cublasLtMatmulAlgoGetHeuristic");
        results.resize(static_cast<std::size_t>(count));
        return results;
    }

    CUstream stream_;
    const DeviceBuffer& buffer_;
    DeviceBuffer workspace_;
    PtxKernel fill_{filling(), "perfgate_fill", "cannot fill matrices"};
    cublasLtHandle_t handle_ = nullptr;
};

void measure_matrix_rates(CUstream stream, const DeviceBuffer& buffer, model::Ceilings& ceilings) {
    MatrixRates rates(stream, buffer);
    for (const MatrixType& type : matrix_types) {
        const double rate = rates.rate(type);
        if (rate > 0) ceilings.matrix_flops_per_s[type.name] = rate;
    }
}

#else

void measure_matrix_rates(CUstream /*stream*/, const DeviceBuffer& /*buffer*/,
                          model::Ceilings& /*ceilings*/) {
    throw util::Error(
        "built without cuBLAS's headers: install them (Debian and Ubuntu: libcublas-dev-13-0) and "
        "build again");
}

#endif

}  // namespace

model::Ceilings measure_ceilings(CUstream stream) {
    model::Ceilings ceilings;
    try {
        const DeviceBuffer buffer(buffer_bytes());
        ceilings.copy_bytes_per_s = copy_bandwidth(stream, buffer);
        measure_matrix_rates(stream, buffer, ceilings);
    } catch (const CudaError& error) {
        if (error.sticky()) throw;
        ceilings.problem = error.what();
    } catch (const util::Error& error) {
        ceilings.problem = error.what();
    }
    return ceilings;
}

}  // namespace perfgate::backend::cuda

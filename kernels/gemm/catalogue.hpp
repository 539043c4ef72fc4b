// SPDX-License-Identifier: Apache-2.0
// What the workload is called and what it can do: the part that both modules say alike.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gemm/problem.hpp"
#include "perfgate.hpp"

namespace gemm {

namespace sdk = perfgate::sdk;

inline Problem problem_of(const sdk::Values& values) {
    const auto extent = [&](const char* name) { return static_cast<int>(values.integer(name)); };
    return {extent("m"), extent("n"), extent("k"), common::dtype_of(values.text("dtype"))};
}

inline std::uint64_t matrix_bytes(const Problem& p) {
    return (p.a_count() + p.b_count()) * element_bytes(p.dtype) + p.c_count() * sizeof(float);
}

// cuBLAS's workspace: what NVIDIA advises for compute capability 9.0.
inline constexpr std::size_t kCublasWorkspaceBytes = std::size_t{32} << 20;

// How a module sets a case of a variant up; empty where the variant is not in the module.
using Create = std::function<std::unique_ptr<sdk::Instance>(const sdk::Values&)>;

inline sdk::Plugin catalogue(const std::function<Create(std::string_view variant)>& create) {
    const auto only = [](const std::string& variant, std::vector<Dtype> dtypes) {
        std::string message = "gemm/" + variant + " has no other dtype than";
        for (const Dtype dtype : dtypes) {
            message += (dtype == dtypes.front() ? " " : ", ") + std::string(dtype_name(dtype));
        }
        return [dtypes = std::move(dtypes), message](const sdk::Values& values) {
            const Dtype dtype = problem_of(values).dtype;
            if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end()) {
                throw sdk::Unsupported(message);
            }
        };
    };
    const auto memory = [](const sdk::Values& values) { return matrix_bytes(problem_of(values)); };

    sdk::Workload gemm;
    gemm.name = "gemm";
    gemm.help = "matrix product C = A * B, row-major; C is f32 whatever the inputs are";
    gemm.params = {
        sdk::Param::integer("m", "rows of A and C", 1, kLargestExtent),
        sdk::Param::integer("n", "columns of B and C", 1, kLargestExtent),
        sdk::Param::integer("k", "columns of A, rows of B", 1, kLargestExtent),
        sdk::Param::choice("dtype", "type of A and B", {"f32", "tf32", "f16", "bf16"}, "f32"),
    };
    gemm.work = [](const sdk::Values& values) {
        const Problem p = problem_of(values);
        return sdk::Work{2.0 * p.multiply_adds(), static_cast<double>(matrix_bytes(p))};
    };
    gemm.variants = {
        {.name = "reference",
         .help = "host, one thread, register blocking, float64 accumulation",
         .target = sdk::Target::host,
         .submission = sdk::Submission::synchronous,
         .memory_bytes = memory},
        {.name = "naive",
         .help = "one thread per element of C, from global memory (f32)",
         .min_compute_capability = 75,
         .supports = only("naive", {Dtype::kF32}),
         .memory_bytes = memory},
        {.name = "tiled",
         .help = "shared memory, register blocking, 128-bit loads, double buffering (f32)",
         .min_compute_capability = 75,
         .supports = only("tiled", {Dtype::kF32}),
         .memory_bytes = memory},
        {.name = "tensor_core",
         .help = "mma.sync fed by cp.async and ldmatrix, f32 accumulation (tf32, f16, bf16)",
         .min_compute_capability = 80,
         .supports = only("tensor_core", {Dtype::kTf32, Dtype::kF16, Dtype::kBf16}),
         .memory_bytes = memory},
        {.name = "cublas",
         .help = "cuBLAS, loaded at run time (all types; f32 without tf32)",
         .min_compute_capability = 75,
         .memory_bytes =
             [memory](const sdk::Values& values) {
                 return memory(values) + kCublasWorkspaceBytes;
             }},
    };
    for (sdk::Variant& variant : gemm.variants) variant.create = create(variant.name);
    return {.name = "gemm", .cuda_module = "gemm_cuda", .workloads = {std::move(gemm)}};
}

}  // namespace gemm

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

#include "gemm/cublas_workspace.hpp"
#include "gemm/problem.hpp"
#include "perfgate.hpp"

namespace gemm {

namespace sdk = perfgate::sdk;

inline Problem problem_of(const sdk::Values& values) {
    const auto extent = [&](const char* name) { return static_cast<int>(values.integer(name)); };
    const std::string_view epilogue = values.text("epilogue");
    return {extent("m"), extent("n"), extent("k"), common::dtype_of(values.text("dtype")),
            epilogue == "bias"        ? Epilogue::kBias
            : epilogue == "bias_gelu" ? Epilogue::kBiasGelu
                                      : Epilogue::kNone};
}

inline sdk::Arithmetic arithmetic_of(Dtype dtype) {
    switch (dtype) {
        case Dtype::kTf32:
            return sdk::Arithmetic::tf32;
        case Dtype::kF16:
            return sdk::Arithmetic::f16;
        case Dtype::kBf16:
            return sdk::Arithmetic::bf16;
        case Dtype::kE4m3:
            return sdk::Arithmetic::fp8;
        case Dtype::kF32:
            break;
    }
    return sdk::Arithmetic::f32;
}

// Whether the product's kernel is to do the epilogue.
inline bool fused(const sdk::Values& values) {
    return values.text("fusion") == "fused";
}

inline std::uint64_t matrix_bytes(const Problem& p) {
    return (p.a_count() + p.b_count()) * element_bytes(p.dtype) + p.c_count() * sizeof(float) +
           (p.epilogue == Epilogue::kNone ? 0 : static_cast<std::size_t>(p.n) * sizeof(float));
}

// How a module sets a case of a variant up; empty where the variant is not in the module.
using Create = std::function<std::unique_ptr<sdk::Instance>(const sdk::Values&)>;

inline sdk::Plugin catalogue(const std::function<Create(std::string_view variant)>& create) {
    const auto separable = [](const sdk::Values& values) {
        if (!fused(values) && problem_of(values).epilogue == Epilogue::kNone) {
            throw sdk::Unsupported("fusion=unfused needs an epilogue: bias or bias_gelu");
        }
    };
    const auto only = [separable](const std::string& variant, std::vector<Dtype> dtypes) {
        std::string message = "gemm/" + variant + " has no other dtype than";
        for (const Dtype dtype : dtypes) {
            message += (dtype == dtypes.front() ? " " : ", ") + std::string(dtype_name(dtype));
        }
        return [dtypes = std::move(dtypes), message, separable](const sdk::Values& values) {
            separable(values);
            const Dtype dtype = problem_of(values).dtype;
            if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end()) {
                throw sdk::Unsupported(message);
            }
        };
    };
    // Rows that the copy engine, or cuBLAS for 8-bit types, can address.
    const auto aligned = [](const Problem& p, int k_multiple, int n_multiple, const char* who) {
        if (p.k % k_multiple == 0 && p.n % n_multiple == 0) return;
        throw sdk::Unsupported(
            std::string(who) + " needs k to be a multiple of " + std::to_string(k_multiple) +
            " and n of " + std::to_string(n_multiple) + " for " + std::string(dtype_name(p.dtype)));
    };
    const auto memory = [](const sdk::Values& values) { return matrix_bytes(problem_of(values)); };

    sdk::Workload gemm;
    gemm.name = "gemm";
    gemm.help = "matrix product C = epilogue(A * B), row-major; C is f32 whatever the inputs are";
    gemm.params = {
        sdk::Param::integer("m", "rows of A and C", 1, kLargestExtent),
        sdk::Param::integer("n", "columns of B and C", 1, kLargestExtent),
        sdk::Param::integer("k", "columns of A, rows of B", 1, kLargestExtent),
        sdk::Param::choice("dtype", "type of A and B", {"f32", "tf32", "f16", "bf16", "e4m3"},
                           "f32"),
        sdk::Param::choice("epilogue", "what follows the product", {"none", "bias", "bias_gelu"},
                           "none"),
        sdk::Param::choice("fusion", "the epilogue in the product's kernel, or in kernels after it",
                           {"fused", "unfused"}, "fused"),
    };
    gemm.work = [](const sdk::Values& values) {
        const Problem p = problem_of(values);
        // The epilogue's arithmetic, a few operations an element of C, is not counted.
        return sdk::Work{2.0 * p.multiply_adds(), static_cast<double>(matrix_bytes(p)),
                         arithmetic_of(p.dtype)};
    };
    gemm.variants = {
        {.name = "reference",
         .help = "host, one thread, register blocking, float64 accumulation",
         .target = sdk::Target::host,
         .submission = sdk::Submission::synchronous,
         .supports =
             [separable](const sdk::Values& values) {
                 separable(values);
                 if (!fused(values)) throw sdk::Unsupported("gemm/reference has no unfused form");
             },
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
        {.name = "pipelined",
         .help =
             "the same by blocks that stay, loading across tiles; by TMA from 9.0 on (f16, bf16)",
         .min_compute_capability = 80,
         .supports = only("pipelined", {Dtype::kF16, Dtype::kBf16}),
         .memory_bytes = memory},
        {.name = "hopper",
         .help = "wgmma fed by TMA, one warp loading, eight multiplying (f16, bf16, e4m3)",
         .min_compute_capability = 90,
         .supports =
             [types = only("hopper", {Dtype::kF16, Dtype::kBf16, Dtype::kE4m3}),
              aligned](const sdk::Values& values) {
                 types(values);
                 const Problem p = problem_of(values);
                 aligned(p, 16 / static_cast<int>(element_bytes(p.dtype)), 8, "gemm/hopper");
             },
         .memory_bytes = memory},
        {.name = "cublas",
         .help = "cuBLAS, loaded at run time (all types; f32 without tf32)",
         .min_compute_capability = 75,
         .supports =
             [separable, aligned](const sdk::Values& values) {
                 separable(values);
                 const Problem p = problem_of(values);
                 if (p.dtype != Dtype::kE4m3) return;
                 aligned(p, 16, 16, "cuBLAS");
                 if (p.epilogue != Epilogue::kNone && fused(values)) {
                     throw sdk::Unsupported(
                         "cuBLAS fuses no f32 bias into an e4m3 product; set fusion: unfused");
                 }
             },
         .memory_bytes =
             [memory](const sdk::Values& values) {
                 return memory(values) + kCublasWorkspaceBytes;
             }},
    };
    for (sdk::Variant& variant : gemm.variants) variant.create = create(variant.name);
    return {.name = "gemm", .cuda_module = "gemm_cuda", .workloads = {std::move(gemm)}};
}

}  // namespace gemm

// SPDX-License-Identifier: Apache-2.0
// What the workload is called and what it can do: the part that both modules say alike.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "attention/problem.hpp"
#include "perfgate.hpp"

namespace attention {

namespace sdk = perfgate::sdk;

inline Problem problem_of(const sdk::Values& values) {
    const auto integer = [&](const char* name) { return static_cast<int>(values.integer(name)); };
    return {integer("batch"), integer("heads"), integer("sequence"), integer("head_size"),
            values.boolean("causal")};
}

// Q, K, V and O, in bf16.
inline std::uint64_t tensor_bytes(const Problem& p) {
    return 4 * static_cast<std::uint64_t>(p.elements()) * 2;
}

// `unfused` stores all scores. Rows are a multiple of 8 long, so that they begin on 16 bytes.
inline constexpr int kLongestScoreRow = 16384;
inline std::uint64_t score_row_elements(const Problem& p) {
    return (static_cast<std::uint64_t>(p.sequence) + 7) / 8 * 8;
}
inline std::uint64_t score_bytes(const Problem& p) {
    return static_cast<std::uint64_t>(p.head_count()) * static_cast<std::uint64_t>(p.sequence) *
           score_row_elements(p) * 2;
}

// cuBLAS's workspace: what NVIDIA advises for compute capability 9.0.
inline constexpr std::size_t kCublasWorkspaceBytes = std::size_t{32} << 20;

// How a module sets a case of a variant up; empty where the variant is not in the module.
using Create = std::function<std::unique_ptr<sdk::Instance>(const sdk::Values&)>;

inline sdk::Plugin catalogue(const std::function<Create(std::string_view variant)>& create) {
    const auto memory = [](const sdk::Values& values) { return tensor_bytes(problem_of(values)); };
    const auto supports = [](const sdk::Values& values) {
        const int head_size = problem_of(values).head_size;
        if (head_size != 64 && head_size != 128) {
            throw sdk::Unsupported("attention has no other head_size than 64 and 128");
        }
    };

    sdk::Workload attention;
    attention.name = "attention";
    attention.help = "O = softmax(scale * Q K^T) V for every head; bf16, accumulated in f32";
    attention.params = {
        sdk::Param::integer("batch", "sequences", 1, kLargestBatch, "4"),
        sdk::Param::integer("heads", "heads of each sequence", 1, kLargestHeadCount, "16"),
        sdk::Param::integer("sequence", "queries, and keys, of each head", 1, kLargestSequence),
        sdk::Param::integer("head_size", "elements of a query, 64 or 128", 64, 128, "128"),
        sdk::Param::boolean("causal", "a query sees no key after itself", "false"),
    };
    attention.work = [](const sdk::Values& values) {
        const Problem p = problem_of(values);
        return sdk::Work{p.flops(), static_cast<double>(tensor_bytes(p)), sdk::Arithmetic::bf16};
    };
    attention.variants = {
        {.name = "reference",
         .help = "host, one thread, float64, a query at a time",
         .target = sdk::Target::host,
         .submission = sdk::Submission::synchronous,
         .supports = supports,
         .memory_bytes = memory},
        {.name = "unfused",
         .help = "Q K^T by cuBLAS, a softmax that reads once, P V by cuBLAS; scores in memory",
         .min_compute_capability = 80,
         .supports =
             [supports](const sdk::Values& values) {
                 supports(values);
                 if (problem_of(values).sequence > kLongestScoreRow) {
                     throw sdk::Unsupported(
                         "attention/unfused keeps a row of scores in registers: "
                         "its longest sequence is " +
                         std::to_string(kLongestScoreRow));
                 }
             },
         .memory_bytes =
             [memory](const sdk::Values& values) {
                 return memory(values) + score_bytes(problem_of(values)) + kCublasWorkspaceBytes;
             }},
        {.name = "flash",
         .help = "fused: online softmax between two mma.sync products, scores stay in registers",
         .min_compute_capability = 80,
         .supports = supports,
         .memory_bytes = memory},
        {.name = "flash_hopper",
         .help = "fused for compute capability 9.0: TMA, a warp that loads, warpgroups on wgmma",
         .min_compute_capability = 90,
         .supports = supports,
         .memory_bytes = memory},
    };
    for (sdk::Variant& variant : attention.variants) variant.create = create(variant.name);
    return {
        .name = "attention", .cuda_module = "attention_cuda", .workloads = {std::move(attention)}};
}

}  // namespace attention

// SPDX-License-Identifier: Apache-2.0
// What the workload is called and what it can do: the part that both modules say alike.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "perfgate.hpp"
#include "transfer/problem.hpp"

namespace transfer {

namespace sdk = perfgate::sdk;

inline Problem problem_of(const sdk::Values& values) {
    return {static_cast<int>(values.integer("mebibytes")),
            static_cast<int>(values.integer("steps"))};
}

// How a module sets a case of a variant up; empty where the variant is not in the module.
using Create = std::function<std::unique_ptr<sdk::Instance>(const sdk::Values&)>;

inline sdk::Plugin catalogue(const std::function<Create(std::string_view variant)>& create) {
    const auto memory = [](const sdk::Values& values) {
        return std::uint64_t{2} * problem_of(values).bytes();
    };

    sdk::Workload transfer;
    transfer.name = "transfer";
    transfer.help = "an array to the device, a kernel on it, the result back";
    transfer.params = {
        sdk::Param::integer("mebibytes", "size of the array, MiB", 1, kMostMebibytes, "64"),
        sdk::Param::integer("steps", "multiply-adds per element", 1, kMostSteps, "2048"),
    };
    transfer.work = [](const sdk::Values& values) {
        const Problem p = problem_of(values);
        return sdk::Work{.flops = 2.0 * p.steps * static_cast<double>(p.count()),
                         .bytes = 2.0 * static_cast<double>(p.bytes()),
                         .arithmetic = sdk::Arithmetic::f32};
    };
    transfer.variants = {
        {.name = "reference",
         .help = "host, one thread, float64",
         .target = sdk::Target::host,
         .submission = sdk::Submission::synchronous,
         .memory_bytes = memory},
        // The runtime stages pageable memory through its own, and the host takes part.
        {.name = "pageable",
         .help = "ordinary host memory: copy, compute, copy",
         .submission = sdk::Submission::synchronous,
         .min_compute_capability = 75,
         .memory_bytes = memory},
        {.name = "pinned",
         .help = "page-locked host memory: copy, compute, copy",
         .min_compute_capability = 75,
         .memory_bytes = memory},
        {.name = "overlapped",
         .help = "page-locked, in 16 parts over 4 streams: both copies and the kernel at once",
         .min_compute_capability = 75,
         .memory_bytes = memory},
    };
    for (sdk::Variant& variant : transfer.variants) variant.create = create(variant.name);
    return {.name = "transfer", .cuda_module = "transfer_cuda", .workloads = {std::move(transfer)}};
}

}  // namespace transfer

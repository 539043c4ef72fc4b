// SPDX-License-Identifier: Apache-2.0
// What the workload is called and what it can do: the part that both modules say alike.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "launch/problem.hpp"
#include "perfgate.hpp"

namespace launch {

namespace sdk = perfgate::sdk;

inline Problem problem_of(const sdk::Values& values) {
    return {static_cast<int>(values.integer("kernels")),
            static_cast<int>(values.integer("elements"))};
}

// How a module sets a case of a variant up; empty where the variant is not in the module.
using Create = std::function<std::unique_ptr<sdk::Instance>(const sdk::Values&)>;

inline sdk::Plugin catalogue(const std::function<Create(std::string_view variant)>& create) {
    const auto memory = [](const sdk::Values& values) {
        return std::uint64_t{2} * problem_of(values).bytes();
    };

    sdk::Workload launch;
    launch.name = "launch";
    launch.help = "a chain of short kernels over one array: what launching costs";
    launch.params = {
        sdk::Param::integer("kernels", "kernels of a launch", 1, kMostKernels, "1000"),
        sdk::Param::integer("elements", "32-bit integers that each kernel updates", 1,
                            kMostElements, "4096"),
    };
    launch.work = [](const sdk::Values& values) {
        return sdk::Work{.bytes = 2.0 * static_cast<double>(problem_of(values).bytes())};
    };
    launch.variants = {
        {.name = "reference",
         .help = "host, one thread",
         .target = sdk::Target::host,
         .submission = sdk::Submission::synchronous,
         .memory_bytes = memory},
        {.name = "stream",
         .help = "one launch after the other on a stream",
         .min_compute_capability = 75,
         .memory_bytes = memory},
        {.name = "stream_sync",
         .help = "the same, the host waiting for each kernel",
         .submission = sdk::Submission::synchronous,
         .min_compute_capability = 75,
         .memory_bytes = memory},
        {.name = "graph",
         .help = "all of them as one CUDA graph",
         .submission = sdk::Submission::graph,
         .min_compute_capability = 75,
         .memory_bytes = memory},
        {.name = "graph_sync",
         .help = "each a CUDA graph of its own, the host waiting for each",
         .submission = sdk::Submission::synchronous,
         .min_compute_capability = 75,
         .memory_bytes = memory},
    };
    for (sdk::Variant& variant : launch.variants) variant.create = create(variant.name);
    return {.name = "launch", .cuda_module = "launch_cuda", .workloads = {std::move(launch)}};
}

}  // namespace launch

// SPDX-License-Identifier: Apache-2.0
// What the workload is called and what it can do: the part that both modules say alike.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "interpolate/problem.hpp"
#include "perfgate.hpp"

namespace interpolate {

namespace sdk = perfgate::sdk;

inline Problem problem_of(const sdk::Values& values) {
    const auto integer = [&](const char* name) { return static_cast<int>(values.integer(name)); };
    return {integer("gaussians"), integer("objects"), integer("frames")};
}

inline std::uint64_t frame_bytes(const Problem& p) {
    return p.elements() * sizeof(float);
}

// How a module sets a case of a variant up; empty where the variant is not in the module.
using Create = std::function<std::unique_ptr<sdk::Instance>(const sdk::Values&)>;

inline sdk::Plugin catalogue(const std::function<Create(std::string_view variant)>& create) {
    const auto memory = [](const sdk::Values& values) {
        const Problem p = problem_of(values);
        return (static_cast<std::uint64_t>(p.frames) + 1) * frame_bytes(p);
    };
    // Besides, the results of the launch before and what operations hand on to each other: at most
    // about sixty elements per Gaussian.
    const auto eager_memory = [memory](const sdk::Values& values) {
        const Problem p = problem_of(values);
        return memory(values) + frame_bytes(p) +
               60 * sizeof(float) * static_cast<std::uint64_t>(p.gaussians + p.objects);
    };

    sdk::Workload interpolate;
    interpolate.name = "interpolate";
    interpolate.help = "poses and parameters of Gaussians at a time between key frames, f32";
    interpolate.params = {
        sdk::Param::integer("gaussians", "Gaussians of the scene", 1, kMostGaussians),
        sdk::Param::integer("objects", "objects that move, each with a pose", 1, kMostObjects,
                            "64"),
        sdk::Param::integer("frames", "key frames", 2, kMostFrames, "8"),
    };
    interpolate.work = [](const sdk::Values& values) {
        const Problem p = problem_of(values);
        // Two frames are read and the result is written. A slerp takes about 40 operations and five
        // functions, which count 1 each; a straight line takes 3.
        const double rotations = static_cast<double>(p.gaussians) + p.objects;
        const double others = static_cast<double>(p.elements()) - 4 * rotations;
        return sdk::Work{45 * rotations + 3 * others, 3.0 * static_cast<double>(frame_bytes(p)),
                         sdk::Arithmetic::f32};
    };
    interpolate.variants = {
        {.name = "reference",
         .help = "host, one thread, float64",
         .target = sdk::Target::host,
         .submission = sdk::Submission::synchronous,
         .memory_bytes = memory},
        {.name = "eager",
         .help = "a kernel per operation, each launched on its own, as an eager framework does",
         .submission = sdk::Submission::synchronous,
         .min_compute_capability = 75,
         .memory_bytes = eager_memory},
        {.name = "graph",
         .help = "the same kernels and copy, launched as one CUDA graph",
         .submission = sdk::Submission::graph,
         .min_compute_capability = 75,
         .memory_bytes = eager_memory},
        {.name = "fused",
         .help = "one kernel: each element is read once per frame and written once",
         .min_compute_capability = 75,
         .memory_bytes = memory},
    };
    for (sdk::Variant& variant : interpolate.variants) variant.create = create(variant.name);
    return {.name = "interpolate",
            .cuda_module = "interpolate_cuda",
            .workloads = {std::move(interpolate)}};
}

}  // namespace interpolate

// SPDX-License-Identifier: Apache-2.0
// What the workload is called and what it can do: the part that both modules say alike.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "perfgate.hpp"
#include "softmax/problem.hpp"

namespace softmax {

namespace sdk = perfgate::sdk;

inline Problem problem_of(const sdk::Values& values) {
    return {static_cast<int>(values.integer("rows")), static_cast<int>(values.integer("width")),
            common::dtype_of(values.text("dtype"))};
}

// How a module sets a case of a variant up; empty where the variant is not in the module.
using Create = std::function<std::unique_ptr<sdk::Instance>(const sdk::Values&)>;

inline sdk::Plugin catalogue(const std::function<Create(std::string_view variant)>& create) {
    const auto memory = [](const sdk::Values& values) {
        return std::uint64_t{2} * problem_of(values).bytes();
    };
    const auto cuda = [&](std::string name, std::string help) {
        return sdk::Variant{.name = std::move(name),
                            .help = std::move(help),
                            .min_compute_capability = 75,
                            .memory_bytes = memory};
    };

    sdk::Workload softmax;
    softmax.name = "softmax";
    softmax.help = "softmax of each row of a row-major matrix";
    softmax.params = {
        sdk::Param::integer("rows", "rows", 1, kMostRows),
        sdk::Param::integer("width", "elements of a row", 1, kLargestWidth),
        sdk::Param::choice("dtype", "type of input and output; arithmetic is f32", {"f32", "f16"},
                           "f32"),
    };
    softmax.work = [](const sdk::Values& values) {
        const Problem p = problem_of(values);
        // Of an element: comparison, subtraction, exponential, addition, division.
        return sdk::Work{.flops = 5.0 * static_cast<double>(p.count()),
                         .bytes = 2.0 * static_cast<double>(p.bytes()),
                         .arithmetic = sdk::Arithmetic::f32};
    };
    softmax.variants = {
        {.name = "reference",
         .help = "host, one thread, float64",
         .target = sdk::Target::host,
         .submission = sdk::Submission::synchronous,
         .memory_bytes = memory},
        cuda("copy", "a device-to-device copy of the same bytes: the bandwidth reference"),
        cuda("three_pass", "maximum, sum and division, each over the row in memory"),
        cuda("online", "one read: the row in registers, maximum and sum found together"),
    };
    for (sdk::Variant& variant : softmax.variants) variant.create = create(variant.name);
    return {.name = "softmax", .cuda_module = "softmax_cuda", .workloads = {std::move(softmax)}};
}

}  // namespace softmax

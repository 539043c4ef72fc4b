// SPDX-License-Identifier: Apache-2.0
// What the workload is called and what it can do: the part that both modules say alike.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "perfgate.hpp"
#include "transpose/problem.hpp"

namespace transpose {

namespace sdk = perfgate::sdk;

inline Problem problem_of(const sdk::Values& values) {
    return {static_cast<int>(values.integer("rows")), static_cast<int>(values.integer("cols")),
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

    sdk::Workload transpose;
    transpose.name = "transpose";
    transpose.help = "out = transpose of in, row-major; in is rows x cols";
    transpose.params = {
        sdk::Param::integer("rows", "rows of in, columns of out", 1, kLargestExtent),
        sdk::Param::integer("cols", "columns of in, rows of out", 1, kLargestExtent),
        sdk::Param::choice("dtype", "type of the elements", {"f32", "f16"}, "f32"),
    };
    transpose.work = [](const sdk::Values& values) {
        return sdk::Work{.bytes = 2.0 * static_cast<double>(problem_of(values).bytes())};
    };
    transpose.variants = {
        {.name = "reference",
         .help = "host, one thread, 32 x 32 blocks",
         .target = sdk::Target::host,
         .submission = sdk::Submission::synchronous,
         .memory_bytes = memory},
        cuda("copy", "a device-to-device copy of the same bytes: the bandwidth reference"),
        cuda("naive", "one thread per element: coalesced loads, scattered stores"),
        cuda("shared", "32 x 32 tiles in shared memory, bank conflicts left in"),
        cuda("padded", "the same tiles, one word of padding a row"),
        cuda("swizzled", "128-bit access on both sides, tiles swizzled by exclusive or"),
    };
    for (sdk::Variant& variant : transpose.variants) variant.create = create(variant.name);
    return {
        .name = "transpose", .cuda_module = "transpose_cuda", .workloads = {std::move(transpose)}};
}

}  // namespace transpose

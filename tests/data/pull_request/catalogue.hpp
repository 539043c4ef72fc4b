// SPDX-License-Identifier: Apache-2.0
// What the stages are called, and their sizes: the part that both modules say alike.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "perfgate.hpp"
#include "shapes.hpp"

namespace camera {

namespace sdk = perfgate::sdk;

/// How a module sets a case of a stage up; empty where the module has none.
using Create = std::function<std::unique_ptr<sdk::Instance>(const sdk::Values&)>;

/// A number of elements in steps of `step`, which a kernel cannot do without.
inline void require_multiple(const sdk::Values& values, const char* name, std::int64_t step) {
    if (values.integer(name) % step != 0) {
        throw sdk::Unsupported(std::string(name) + " must be a multiple of " +
                               std::to_string(step));
    }
}

inline sdk::Plugin catalogue(const std::function<Create(std::string_view stage)>& create) {
    sdk::Plugin plugin{.name = "camera", .cuda_module = CAMERA_CUDA_MODULE, .workloads = {}};
    const auto count = [](const sdk::Values& v, const char* name) {
        return static_cast<double>(v.integer(name));
    };
    const auto stage = [&](std::string name, std::string help, std::vector<sdk::Param> params,
                           std::function<sdk::Work(const sdk::Values&)> work,
                           std::function<void(const sdk::Values&)> supports = {}) {
        sdk::Variant device{.name = "device", .help = "on the GPU", .min_compute_capability = 80};
        device.supports = std::move(supports);
        // Every buffer is read or written once, so the least traffic is what is allocated.
        device.memory_bytes = [work](const sdk::Values& v) {
            return static_cast<std::uint64_t>(work(v).bytes);
        };
        device.create = create(name);
        sdk::Workload workload{.name = std::move(name),
                               .help = std::move(help),
                               .params = std::move(params),
                               .variants = {std::move(device)},
                               .work = std::move(work)};
        plugin.workloads.push_back(std::move(workload));
    };
    constexpr std::int64_t most = 1 << 28;
    const std::vector<sdk::Param> rows_and_columns = {
        sdk::Param::integer("rows", "rows", 1, 1 << 16),
        sdk::Param::integer("cols", "values in a row", kScanTile, 1 << 14)};
    const auto whole_tiles = [](const sdk::Values& v) { require_multiple(v, "cols", kScanTile); };

    stage("tone_curve", "12-bit sensor values to linear light, a table a colour plane",
          {sdk::Param::integer("pixels", "pixels of a plane", 1, most)}, [=](const sdk::Values& v) {
              const double pixels = kPlanes * count(v, "pixels");
              return sdk::Work{.bytes = 6 * pixels + 4.0 * kPlanes * kCodes};
          });
    stage("blend", "cross-fades two 8-bit images",
          {sdk::Param::integer("n", "bytes of an image", 1, most)},
          [=](const sdk::Values& v) { return sdk::Work{.bytes = 3 * count(v, "n")}; });
    stage(
        "filter_bank", "sixteen filters of 64 taps over one signal",
        {sdk::Param::integer("n", "values of a filter's output", kFilterTile, most)},
        [=](const sdk::Values& v) {
            const double n = count(v, "n");
            return sdk::Work{2.0 * kFilters * kTaps * n,
                             4 * (n * (kFilters + 1) + kTaps * (kFilters + 1) - 1),
                             sdk::Arithmetic::f32};
        },
        [](const sdk::Values& v) { require_multiple(v, "n", kFilterTile); });
    stage(
        "pointwise", "a 1x1 convolution from 64 features to 64, bias, SiLU",
        {sdk::Param::integer("pixels", "pixels", kPixelTile, 1 << 22)},
        [=](const sdk::Values& v) {
            const double pixels = count(v, "pixels");
            return sdk::Work{2.0 * kFeatures * kFeatures * pixels,
                             4.0 * kFeatures * (2 * pixels + kFeatures + 1), sdk::Arithmetic::f32};
        },
        [](const sdk::Values& v) { require_multiple(v, "pixels", kPixelTile); });
    stage(
        "row_scan", "running sums along rows", rows_and_columns,
        [=](const sdk::Values& v) {
            const double n = count(v, "rows") * count(v, "cols");
            return sdk::Work{n, 8 * n, sdk::Arithmetic::f32};
        },
        whole_tiles);
    stage(
        "row_sum", "the sum of each row", rows_and_columns,
        [=](const sdk::Values& v) {
            const double n = count(v, "rows") * count(v, "cols");
            return sdk::Work{n, 4 * (n + count(v, "rows")), sdk::Arithmetic::f32};
        },
        whole_tiles);
    stage(
        "normalize", "mean and deviation to 0 and 1", {sdk::Param::integer("n", "values", 4, most)},
        [=](const sdk::Values& v) {
            return sdk::Work{2 * count(v, "n"), 8 * count(v, "n"), sdk::Arithmetic::f32};
        },
        [](const sdk::Values& v) { require_multiple(v, "n", 4); });
    return plugin;
}

}  // namespace camera

// SPDX-License-Identifier: Apache-2.0
// What the workload is called and what it can do: the part that both modules say alike.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "perfgate.hpp"
#include "render_backward/problem.hpp"
#include "render_backward/splat.hpp"

namespace render_backward {

namespace sdk = perfgate::sdk;

inline Problem problem_of(const sdk::Values& values) {
    const auto number = [&](const char* name) { return static_cast<int>(values.integer(name)); };
    const std::string_view sensor = values.text("sensor");
    return {.gaussians = number("gaussians"),
            .density = values.text("density") == "dense" ? Density::kDense : Density::kSparse,
            .camera = sensor != "lidar",
            .lidar = sensor != "camera",
            .camera_width = number("camera_width"),
            .camera_height = number("camera_height"),
            .lidar_columns = number("lidar_columns"),
            .lidar_beams = number("lidar_beams")};
}

inline std::vector<Sensor> sensors_of(const Problem& problem) {
    std::vector<Sensor> sensors;
    if (problem.camera) sensors.push_back(Sensor::kCamera);
    if (problem.lidar) sensors.push_back(Sensor::kLidar);
    return sensors;
}

// Each pixel's cotangents and what the forward pass left of it read once, each gradient written
// once. The splats that must be read, and the operations, depend on the scene: they are not stated.
inline sdk::Work work_of(const Problem& problem) {
    const double camera_pixels = 1.0 * problem.camera_width * problem.camera_height;
    const double lidar_pixels = 1.0 * problem.lidar_columns * problem.lidar_beams;
    const double gradients = 1.0 * problem.gaussians * kFields;
    double words = 0.0;
    if (problem.camera) words += camera_pixels * (kFeatures + 2) + gradients;
    if (problem.lidar) words += lidar_pixels * (kFeatures + 3) + gradients;
    return {.flops = 0.0, .bytes = 4.0 * words};
}

// How a module sets a case of a variant up; empty where the variant is not in the module.
using Create = std::function<std::unique_ptr<sdk::Instance>(const sdk::Values&)>;

inline sdk::Plugin catalogue(const std::function<Create(std::string_view variant)>& create) {
    sdk::Workload workload;
    workload.name = "render_backward";
    workload.help = "gradients of a scene of Gaussians from a camera's and a lidar's image";
    workload.params = {
        sdk::Param::integer("gaussians", "in the scene, in view or not", 1, 1 << 23),
        sdk::Param::choice("density", "whether Gaussians leave gaps between them",
                           {"sparse", "dense"}, "dense"),
        sdk::Param::choice("sensor", "whose image: one launch handles both, or one of them",
                           {"both", "camera", "lidar"}, "both"),
        sdk::Param::integer("camera_width", "pixels", 1, 8192, "1920"),
        sdk::Param::integer("camera_height", "pixels", 1, 8192, "1280"),
        sdk::Param::integer("lidar_columns", "pixels in a turn", 1, 8192, "2048"),
        sdk::Param::integer("lidar_beams", "pixels from top to bottom", 1, 1024, "128"),
    };
    workload.work = [](const sdk::Values& values) { return work_of(problem_of(values)); };
    workload.variants = {
        {.name = "reference",
         .help = "host, one thread, float64; verified by finite differences",
         .target = sdk::Target::host,
         .submission = sdk::Submission::synchronous},
        {.name = "monolithic",
         .help = "one kernel for both sensors, with one shape and one launch bound",
         .min_compute_capability = 75},
        {.name = "split",
         .help = "a kernel per sensor, with its own shape, launch bounds and shared memory",
         .min_compute_capability = 75},
    };
    for (sdk::Variant& variant : workload.variants) variant.create = create(variant.name);
    return {.name = "render_backward",
            .cuda_module = "render_backward_cuda",
            .workloads = {std::move(workload)}};
}

}  // namespace render_backward

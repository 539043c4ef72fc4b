// SPDX-License-Identifier: Apache-2.0
// The set-up that a trainer does before the backward pass: a street of Gaussians, random by its
// seed, projected into a sensor's image, binned into tiles and sorted by depth.
#pragma once

#include <cstdint>
#include <vector>

#include "render_backward/problem.hpp"
#include "render_backward/splat.hpp"

namespace render_backward {

// A View with its memory. The forward pass's outputs are left empty.
struct Scene {
    Sensor sensor = Sensor::kCamera;
    int width = 0, height = 0;
    std::vector<Splat> splats;
    std::vector<std::uint32_t> order, tile_begin;
    std::vector<float> row_y, cotangent;
    std::vector<float> light, range;
    std::vector<std::uint32_t> walked;

    std::size_t pixels() const {
        return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    }
    View view() const {
        return {sensor,       width,
                height,       splats.data(),
                order.data(), tile_begin.data(),
                row_y.data(), cotangent.data(),
                light.data(), range.data(),
                walked.data()};
    }
};

// threads 0: one per core. The result does not depend on it.
Scene make_scene(const Problem&, Sensor, std::uint64_t seed, unsigned threads = 0);

}  // namespace render_backward

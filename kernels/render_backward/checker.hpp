// SPDX-License-Identifier: Apache-2.0
// Is this the gradient? Two answers, neither of which needs the other: an analytic one in float64
// for the float32 kernels, and finite differences of the loss for the analytic one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "render_backward/reference.hpp"
#include "render_backward/splat.hpp"

namespace render_backward {

struct CheckReport {
    bool passed = false;
    double worst_share = 0.0;  // the largest error over what is allowed
    std::string detail;        // what was checked, or the first thing that is wrong
};

// Evaluations of a splat in a pixel that a check may cost: about 3 s on one core.
inline constexpr double kEvaluations = 1.5e8;

// What the gradients of a view are compared with, whichever kernel made them.
struct GradientReference {
    Sensor sensor = Sensor::kCamera;
    std::vector<bool> listed;             // by a tile, of all Gaussians
    std::vector<std::uint32_t> compared;  // Gaussians, ascending
    std::vector<Derivatives> expected;    // of those
    std::array<double, kFeatures> sums{}, sum_magnitudes{};
    std::string forward_fault;  // what is wrong with what the forward pass left
};

// The float64 gradients of a view, which has what the forward pass left: that is checked on the
// way.
//
// Where all tiles cost more evaluations than allowed, blocks of tiles are drawn by `seed`, and each
// Gaussian that only their tiles see is compared.
GradientReference make_reference(const View&, std::size_t gaussians, std::uint64_t seed,
                                 double evaluations = kEvaluations, unsigned threads = 0);

// Compares the gradients of all Gaussians, kFields each. Those that are not compared still must be
// finite, zero where no tile lists them, and add up: a feature's gradients over all Gaussians are
// its weights over all pixels.
CheckReport check_gradients(const GradientReference&, const float* gradients);

// Compares gradients in float64 with central differences of the loss, at Gaussians drawn by `seed`.
CheckReport check_by_differences(const View&, std::size_t gaussians, const double* gradients,
                                 std::uint64_t seed, int samples);

}  // namespace render_backward

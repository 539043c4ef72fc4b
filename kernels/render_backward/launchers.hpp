// SPDX-License-Identifier: Apache-2.0
// The device's side behind plain functions. Views hold device memory here.
#pragma once

#include <cstdint>

#include "common/cuda.hpp"
#include "render_backward/splat.hpp"

namespace render_backward {

// Fills what a View says that the forward pass left (range: lidar only), on the default stream.
void render_forward(const View&, float* light, float* range, std::uint32_t* walked);

// A launch adds the gradients of the view, kFields for each Gaussian, to what is there.
using Prepare = common::Launch(const View&, float* gradients);
Prepare prepare_monolithic, prepare_split;

}  // namespace render_backward

// SPDX-License-Identifier: Apache-2.0
// The interpolation as one would write it in an eager framework, operation by operation. pytorch.py
// has the same chain in PyTorch.
#pragma once

#include <array>

#include "interpolate/eager.hpp"
#include "interpolate/problem.hpp"

namespace interpolate {

// The scene on the device: times, frames x 1, and each field, frames x elements.
struct DeviceScene {
    Tensor times;
    std::array<Tensor, kFields> frames;
};

// `time` is on the host and copied first. Returns every field, rows x width.
std::array<Tensor, kFields> interpolate_chain(Context&, const Problem&, const DeviceScene&,
                                              const float* time);

}  // namespace interpolate

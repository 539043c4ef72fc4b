// SPDX-License-Identifier: Apache-2.0
// What one case is: a scene and the sensors that look at it. Plain values; no CUDA header needed.
#pragma once

#include <cstdint>

namespace render_backward {

enum class Sensor : int { kCamera, kLidar };

// How much of the scene a Gaussian covers: sparse leaves gaps between neighbours.
enum class Density { kSparse, kDense };

struct Problem {
    int gaussians = 0;
    Density density = Density::kDense;
    bool camera = true;
    bool lidar = true;
    int camera_width = 0, camera_height = 0;
    int lidar_columns = 0, lidar_beams = 0;
};

}  // namespace render_backward

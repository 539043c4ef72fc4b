// SPDX-License-Identifier: Apache-2.0
// Interpolation in float64: the host variant, and what every variant is compared with.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "interpolate/problem.hpp"

namespace interpolate {

// Where a time lies: between frames `left` and left + 1, the share `along` of the way. A time
// before the first or after the last frame extends the first or last stretch.
struct Place {
    int left = 0;
    double along = 0.0;
};
Place locate(const std::vector<float>& times, float time);

using Quaternion = std::array<double, 4>;

// The shorter way from a to b on the sphere of unit quaternions, at constant speed. Of length 1.
Quaternion slerp(const Quaternion& a, Quaternion b, double along);

double finish(Finish, double value);

using Result = std::array<std::vector<float>, kFields>;

// All fields at the scene's time, in one thread.
Result interpolate_scene(const Problem&, const Scene&);

struct CheckReport {
    bool passed = false;
    std::string detail;
};

// Every element of every field against float64. Slerp, too, is computed element by element in f32
// by some variants: its arc cosine and quotient of sines are good to about 1e-6 in the result.
CheckReport check_result(const Problem&, const Scene&, const Result&);

}  // namespace interpolate

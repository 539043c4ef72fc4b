// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "common/parallel.hpp"
#include "common/random.hpp"
#include "interpolate/problem.hpp"

namespace interpolate {
namespace {

// The sequences of a seed; one for each field's frames, one for what its frames have in common.
constexpr std::uint64_t kTimes = 1, kWanted = 2, kFrames = 16, kBases = 32;

// Four elements near `base`, of length 1 and either sign. The spread differs from row to row: zero
// (the same rotation at every frame), slight (where slerp divides by almost nothing) and wide.
void make_rotation(std::uint64_t key, std::uint64_t base_key, std::uint64_t row,
                   std::uint64_t element, float* q) {
    constexpr float kSpreads[4] = {0.0f, 1e-3f, 0.1f, 0.3f};
    double base[4];
    double squares = 1e-9;
    for (std::uint64_t i = 0; i < 4; ++i) {
        base[i] = static_cast<double>(common::uniform(base_key, 4 * row + i));
        squares += base[i] * base[i];
    }
    const double spread = static_cast<double>(kSpreads[row % 4]);
    double length = 0.0;
    for (std::uint64_t i = 0; i < 4; ++i) {
        base[i] = base[i] / std::sqrt(squares) +
                  spread * static_cast<double>(common::uniform(key, element + i));
        length += base[i] * base[i];
    }
    const double sign = common::random_bits(~key, element) & 1 ? -1.0 : 1.0;
    for (int i = 0; i < 4; ++i) q[i] = static_cast<float>(sign * base[i] / std::sqrt(length));
}

}  // namespace

Scene make_scene(const Problem& p, std::uint64_t seed) {
    Scene scene;
    const std::uint64_t times = common::stream_key(seed, kTimes);
    for (int frame = 0; frame < p.frames; ++frame) {
        const auto at = static_cast<std::uint64_t>(frame);
        scene.times.push_back(static_cast<float>(frame) + 0.25f * common::uniform(times, at));
    }
    const float wanted = common::uniform(common::stream_key(seed, kWanted), 0);
    scene.time =
        scene.times.front() + (scene.times.back() - scene.times.front()) * (0.5f + 0.5f * wanted);

    for (int f = 0; f < kFields; ++f) {
        const Field& field = kAllFields[static_cast<std::size_t>(f)];
        const std::size_t per_frame = p.elements(field);
        const std::uint64_t key = common::stream_key(seed, kFrames + static_cast<std::uint64_t>(f));
        const std::uint64_t base = common::stream_key(seed, kBases + static_cast<std::uint64_t>(f));
        std::vector<float>& values = scene.frames[static_cast<std::size_t>(f)];
        values.resize(per_frame * static_cast<std::size_t>(p.frames));
        constexpr std::size_t kPerTask = 1 << 16;  // whole rotations
        common::parallel_for((values.size() + kPerTask - 1) / kPerTask, 0, [&](std::size_t task) {
            const std::size_t end = std::min(values.size(), (task + 1) * kPerTask);
            if (field.finish == Finish::kUnit) {
                for (std::size_t i = task * kPerTask; i < end; i += 4) {
                    make_rotation(key, base, i % per_frame / 4, i, &values[i]);
                }
            } else {
                for (std::size_t i = task * kPerTask; i < end; ++i) {
                    values[i] = 2.0f * common::uniform(key, i);
                }
            }
        });
    }
    return scene;
}

}  // namespace interpolate

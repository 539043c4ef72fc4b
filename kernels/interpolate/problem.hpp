// SPDX-License-Identifier: Apache-2.0
// What one interpolation is: a moving scene is stored at key frames, and is wanted at a time
// between two of them. Poses of its objects (rotation and translation) and the parameters of its
// Gaussians; rotations go along great circles (slerp), everything else along straight lines, and
// what the scene stores unbounded is then brought into its range. All f32, frame after frame,
// densely packed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace interpolate {

inline constexpr std::int64_t kMostGaussians = std::int64_t{1} << 22;
inline constexpr std::int64_t kMostObjects = std::int64_t{1} << 16;
inline constexpr std::int64_t kMostFrames = 64;

// What follows the interpolation.
enum class Finish : int {
    kNone,
    kUnit,     // rotations: w, x, y, z of length 1
    kExp,      // logarithms of scales
    kSigmoid,  // logits of opacities
    kClamp,    // colours, to [0, 1]
};

// One of the tensors, with `width` elements per object or Gaussian.
struct Field {
    const char* name;
    bool of_objects;
    int width;
    Finish finish;
};

enum FieldIndex : int {
    kPoseRotation,
    kPoseTranslation,
    kMean,
    kScale,
    kRotation,
    kOpacity,
    kColour,
};
inline constexpr int kFields = 7;
inline constexpr std::array<Field, kFields> kAllFields{{
    {"pose rotation", true, 4, Finish::kUnit},
    {"pose translation", true, 3, Finish::kNone},
    {"mean", false, 3, Finish::kNone},
    {"scale", false, 3, Finish::kExp},
    {"rotation", false, 4, Finish::kUnit},
    {"opacity", false, 1, Finish::kSigmoid},
    {"colour", false, 3, Finish::kClamp},
}};

struct Problem {
    int gaussians = 1;
    int objects = 1;
    int frames = 2;

    int rows(const Field& field) const { return field.of_objects ? objects : gaussians; }
    // Of one frame, and of the result.
    std::size_t elements(const Field& field) const {
        return static_cast<std::size_t>(rows(field)) * static_cast<std::size_t>(field.width);
    }
    std::size_t elements() const {
        std::size_t sum = 0;
        for (const Field& field : kAllFields) sum += elements(field);
        return sum;
    }
};

// The scene at its key frames, and when it is wanted.
struct Scene {
    std::vector<float> times;  // ascending
    std::array<std::vector<float>, kFields> frames;
    float time = 0.0f;
};

// The scene that a seed stands for. Neighbouring rotations are up to 75 degrees apart on their
// sphere, some equal, some nearly so, and of either sign, since q and -q are one rotation.
Scene make_scene(const Problem&, std::uint64_t seed);

}  // namespace interpolate

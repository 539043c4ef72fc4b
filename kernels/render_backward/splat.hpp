// SPDX-License-Identifier: Apache-2.0
// A Gaussian as one sensor sees it, what a pixel makes of it, and what a view of them holds. Host
// and device blend by these functions, so that they agree to the bit on *which* Gaussians reach a
// pixel, and differ in rounding only.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "common/host_device.hpp"
#include "render_backward/problem.hpp"

namespace render_backward {

inline constexpr int kTile = 16;  // pixels on a side
inline constexpr int kTilePixels = kTile * kTile;
inline constexpr int kFeatures = 3;  // camera: red, green, blue; lidar: range, intensity, ray-drop

// Fainter contributions are left out, and a ray ends before its light would fall below this.
inline constexpr float kLeastAlpha = 1.0f / 255.0f;
inline constexpr float kLeastLight = 1e-4f;

// A projected Gaussian: alpha at an offset d from its mean is opacity * exp(-d' conic d / 2).
// x counts columns, y rows (camera) or nominal beam spacings (lidar).
struct alignas(16) Splat {
    float mean_x, mean_y;
    float conic_xx, conic_xy, conic_yy;
    float opacity;       // at most kMostOpacity, so that 1 - alpha can be divided by
    float lowest_power;  // the exponent at which alpha is kLeastAlpha
    float depth;         // what the lists are sorted by
    float feature[kFeatures];
    std::uint32_t gaussian;  // whose gradients these are
};
static_assert(sizeof(Splat) == 48);
inline constexpr float kMostOpacity = 0.98f;

// The gradients of a Gaussian, in this order: the loss's derivatives by the fields of its splat.
enum Field { kFeature = 0, kOpacity = 3, kMeanX, kMeanY, kConicXx, kConicXy, kConicYy };
inline constexpr int kFields = 9;
static_assert(kFields == kConicYy + 1);

// One sensor's image and what it sees, in the memory of the host or of the device. What there is
// per pixel is row-major.
struct View {
    Sensor sensor;
    int width, height;
    const Splat* splats;
    const std::uint32_t* order;       // indices of splats: each tile's, from near to far
    const std::uint32_t* tile_begin;  // where a tile's part of `order` begins, and the end of all
    const float* row_y;               // the coordinate of each row of pixels, ascending
    const float* cotangent;           // the loss's derivatives by the outputs: kFeatures planes
    // What the forward pass left:
    const float* light;           // that passes all
    const float* range;           // lidar: the range output
    const std::uint32_t* walked;  // entries of the tile's list, up to the last that contributed
};

COMMON_HOST_DEVICE inline int tiles_over(int pixels) {
    return (pixels + kTile - 1) / kTile;
}
COMMON_HOST_DEVICE inline int tile_count(const View& view) {
    return tiles_over(view.width) * tiles_over(view.height);
}

// From the pixel to the splat; a lidar's image closes on itself.
COMMON_HOST_DEVICE inline float offset_x(Sensor sensor, float mean_x, float x, int width) {
    float dx = mean_x - x;
    if (sensor == Sensor::kLidar) {
        const float turn = static_cast<float>(width);
        if (dx > 0.5f * turn) dx -= turn;
        if (dx < -0.5f * turn) dx += turn;
    }
    return dx;
}

// The exponent at an offset. No product is added to anything outside of an fma, so that no compiler
// rounds it otherwise than another.
COMMON_HOST_DEVICE inline float power_at(const Splat& splat, float dx, float dy) {
    const float slope_x = fmaf(splat.conic_xx, dx, splat.conic_xy * dy);
    const float slope_y = fmaf(splat.conic_xy, dx, splat.conic_yy * dy);
    return -0.5f * fmaf(slope_x, dx, slope_y * dy);
}

COMMON_HOST_DEVICE inline bool reaches(const Splat& splat, float power) {
    return power >= splat.lowest_power;
}

// The loss's derivatives by the sums that blending makes: by the weighted sum of each feature, and
// by the light that is left over.
template <class Real>
struct PixelCotangent {
    Real feature[kFeatures];
    Real light;
};

// What a camera sees where nothing is.
struct Sky {
    float red = 0.53f, green = 0.63f, blue = 0.75f;
};

// A lidar's range is that of the light which came back; a ray that meets nothing is dropped.
template <class Real>
COMMON_HOST_DEVICE inline PixelCotangent<Real> pixel_cotangent(Sensor sensor, Real c0, Real c1,
                                                               Real c2, Real light, Real range) {
    if (sensor == Sensor::kCamera) {
        const Sky sky;
        return {{c0, c1, c2}, c0 * Real(sky.red) + c1 * Real(sky.green) + c2 * Real(sky.blue)};
    }
    const Real returned = Real(1) - light;
    const Real by_sum = returned > Real(0) ? c0 / returned : Real(0);
    return {{by_sum, c1, c2}, by_sum * range + c2};
}

}  // namespace render_backward

// SPDX-License-Identifier: Apache-2.0
// What each stage of the camera pipeline computes on: sizes that kernels, host checks and the
// catalogue share.
#pragma once

#include <cstdint>

namespace camera {

/// Sensor values have 12 bits, and each of the colour planes a curve of its own.
inline constexpr int kPlanes = 3;
inline constexpr int kCodes = 4096;

/// Of 256: the share of the first image in a blend.
inline constexpr unsigned kBlendWeight = 77;

inline constexpr int kFilters = 16;
inline constexpr int kTaps = 64;
/// What one block of filter_bank produces of each filter's output.
inline constexpr int kFilterTile = 1024;

/// Features of a pixel before and after the pointwise layer.
inline constexpr int kFeatures = 64;
inline constexpr int kPixelTile = 64;

/// What a block scans at once.
inline constexpr int kScanTile = 1024;

inline constexpr float kMean = 0.25f, kInverseDeviation = 1.75f;

/// The inputs of each stage among those of a seed.
inline constexpr std::uint64_t kFirst = 1, kSecond = 2, kThird = 3;

}  // namespace camera

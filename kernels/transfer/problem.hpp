// SPDX-License-Identifier: Apache-2.0
// A round trip: an array goes to the device, a kernel computes on it, and the result comes back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/host_device.hpp"

namespace transfer {

inline constexpr std::int64_t kMostMebibytes = 4096;
inline constexpr std::int64_t kMostSteps = 1 << 20;

struct Problem {
    int mebibytes = 0;  // each way
    int steps = 0;      // multiply-adds per element

    std::size_t bytes() const { return static_cast<std::size_t>(mebibytes) << 20; }
    std::size_t count() const { return bytes() / sizeof(float); }
};

// The one input among the inputs of a seed.
inline constexpr std::uint64_t kInput = 1;

// A step is x -> kFactor x + kTerm: towards 1/2, so that it neither grows nor vanishes. Both
// numbers are exact in f32.
inline constexpr float kFactor = 1.0f - 0x1p-11f;
inline constexpr float kTerm = 0x1p-12f;

}  // namespace transfer

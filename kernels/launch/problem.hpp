// SPDX-License-Identifier: Apache-2.0
// A chain of short kernels over one small array: kernel i makes x of the last one's x. Integers
// modulo 2^32, so that any order but the right one, and any kernel left out, shows to the bit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/host_device.hpp"
#include "common/random.hpp"

namespace launch {

inline constexpr std::int64_t kMostKernels = 100000;
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 26;

struct Problem {
    int kernels = 0;
    int elements = 0;

    std::size_t bytes() const { return static_cast<std::size_t>(elements) * sizeof(std::uint32_t); }
};

// The one input among the inputs of a seed.
inline constexpr std::uint64_t kInput = 1;

COMMON_HOST_DEVICE inline std::uint32_t first_value(std::uint64_t key, std::uint64_t index) {
    return static_cast<std::uint32_t>(common::random_bits(key, index));
}

COMMON_HOST_DEVICE inline std::uint32_t next_value(std::uint32_t x, std::uint32_t kernel) {
    return 1664525u * x + 1013904223u + kernel;
}

}  // namespace launch

// SPDX-License-Identifier: Apache-2.0
// Random values as pure functions of a seed and an index: any element can be made anywhere, in any
// order, and host and device agree to the bit.
#pragma once

#include <cstdint>

#include "common/host_device.hpp"

namespace common {

inline constexpr std::uint64_t kMixIncrement = 0x9e3779b97f4a7c15ull;

// The output function of SplitMix64 (Steele, Lea, Flood, 2014): a bijection that mixes well.
COMMON_HOST_DEVICE inline std::uint64_t mix(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
    return value ^ (value >> 31);
}

// The key of one of a seed's independent sequences; `operand` numbers the buffers of a workload.
COMMON_HOST_DEVICE inline std::uint64_t stream_key(std::uint64_t seed, std::uint64_t operand) {
    return mix(mix(seed + kMixIncrement) + operand * kMixIncrement);
}

// Element `index` of the sequence, 64 random bits.
COMMON_HOST_DEVICE inline std::uint64_t random_bits(std::uint64_t key, std::uint64_t index) {
    return mix(key + (index + 1) * kMixIncrement);
}

// Uniform over the 2^24 multiples of 2^-23 in [-1, 1), all of which f32 holds exactly.
COMMON_HOST_DEVICE inline float uniform(std::uint64_t key, std::uint64_t index) {
    const std::uint64_t bits = random_bits(key, index) >> 40;
    return static_cast<float>(static_cast<std::int32_t>(bits) - (1 << 23)) * 0x1p-23f;
}

}  // namespace common

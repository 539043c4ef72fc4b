// SPDX-License-Identifier: Apache-2.0
// Random values as pure functions of a seed and an index: any element can be made anywhere, in any
// order, and host and device agree to the bit.
#pragma once

#include <cstdint>
#include <type_traits>

// Marks functions that the host compiler and nvcc's device side both compile.
#if defined(__CUDACC__)
#define PERFGATE_HOST_DEVICE __host__ __device__
#else
#define PERFGATE_HOST_DEVICE
#endif

namespace perfgate::sdk {

// NOLINTNEXTLINE(readability-identifier-naming): a kernel's constant
inline constexpr std::uint64_t kMixIncrement = 0x9e3779b97f4a7c15ull;

/// The output function of SplitMix64 (Steele, Lea, Flood, 2014): a bijection that mixes well.
PERFGATE_HOST_DEVICE inline std::uint64_t mix(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
    return value ^ (value >> 31);
}

/// The key of one of a seed's independent sequences; `operand` numbers the buffers of a workload.
PERFGATE_HOST_DEVICE inline std::uint64_t stream_key(std::uint64_t seed, std::uint64_t operand) {
    return mix(mix(seed + kMixIncrement) + operand * kMixIncrement);
}

/// Element `index` of the sequence, 64 random bits.
PERFGATE_HOST_DEVICE inline std::uint64_t random_bits(std::uint64_t key, std::uint64_t index) {
    return mix(key + (index + 1) * kMixIncrement);
}

/// Uniform over the 2^24 multiples of 2^-23 in [-1, 1), all of which f32 holds exactly.
PERFGATE_HOST_DEVICE inline float uniform(std::uint64_t key, std::uint64_t index) {
    const std::uint64_t bits = random_bits(key, index) >> 40;
    return static_cast<float>(static_cast<std::int32_t>(bits) - (1 << 23)) *
           1.1920928955078125e-7f;  // 2^-23
}

/// An element of an input: `uniform`, rounded to T; of an integer type 0 to 99.
template <class T>
PERFGATE_HOST_DEVICE T random_element(std::uint64_t key, std::uint64_t index) {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(random_bits(key, index) % 100);
    } else {
        return static_cast<T>(uniform(key, index));
    }
}

}  // namespace perfgate::sdk

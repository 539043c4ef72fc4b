// SPDX-License-Identifier: Apache-2.0
// The matrices A and B as pure functions of a seed and an element's index: the device fills its
// memory, the host checks against the same values, and neither copies them from the other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gemm/number_format.hpp"
#include "gemm/problem.hpp"

namespace gemm {

enum class Operand : std::uint64_t { kA = 1, kB = 2 };

// The output function of SplitMix64 (Steele, Lea, Flood, 2014): a bijection that mixes well.
GEMM_HOST_DEVICE inline std::uint64_t mix(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
    return value ^ (value >> 31);
}

inline constexpr std::uint64_t kMixIncrement = 0x9e3779b97f4a7c15ull;

GEMM_HOST_DEVICE inline std::uint64_t stream_key(std::uint64_t seed, Operand operand) {
    return mix(mix(seed + kMixIncrement) + static_cast<std::uint64_t>(operand) * kMixIncrement);
}

// Uniform over the 2^24 multiples of 2^-23 in [-1, 1), all of which f32 holds exactly.
GEMM_HOST_DEVICE inline float uniform(std::uint64_t key, std::uint64_t index) {
    const std::uint64_t bits = mix(key + (index + 1) * kMixIncrement) >> 40;
    return static_cast<float>(static_cast<std::int32_t>(bits) - (1 << 23)) * 0x1p-23f;
}

// The element as A or B stores it, `Storage` being float or, for the 16-bit types, their bits.
template <Dtype dtype>
struct Element;

template <>
struct Element<Dtype::kF32> {
    using Storage = float;
    GEMM_HOST_DEVICE static Storage from(float value) { return value; }
    GEMM_HOST_DEVICE static float widen(Storage value) { return value; }
};
template <>
struct Element<Dtype::kTf32> {
    using Storage = float;
    GEMM_HOST_DEVICE static Storage from(float value) { return round_to_tf32(value); }
    GEMM_HOST_DEVICE static float widen(Storage value) { return value; }
};
template <>
struct Element<Dtype::kF16> {
    using Storage = std::uint16_t;
    GEMM_HOST_DEVICE static Storage from(float value) { return f16_from_float(value); }
    GEMM_HOST_DEVICE static float widen(Storage value) { return float_from_f16(value); }
};
template <>
struct Element<Dtype::kBf16> {
    using Storage = std::uint16_t;
    GEMM_HOST_DEVICE static Storage from(float value) { return bf16_from_float(value); }
    GEMM_HOST_DEVICE static float widen(Storage value) { return float_from_bf16(value); }
};

// Calls `visit` with Element<dtype>{}: one place that turns the run-time type into a static one.
template <class Visitor>
decltype(auto) with_element(Dtype dtype, Visitor&& visit) {
    switch (dtype) {
        case Dtype::kTf32:
            return visit(Element<Dtype::kTf32>{});
        case Dtype::kF16:
            return visit(Element<Dtype::kF16>{});
        case Dtype::kBf16:
            return visit(Element<Dtype::kBf16>{});
        case Dtype::kF32:
            break;
    }
    return visit(Element<Dtype::kF32>{});
}

// Fills count elements, beginning at element `first`, of A or B in their storage type.
inline void fill_host(void* storage, Dtype dtype, Operand operand, std::uint64_t seed,
                      std::size_t first, std::size_t count) {
    const std::uint64_t key = stream_key(seed, operand);
    with_element(dtype, [&](auto element) {
        using E = decltype(element);
        auto* values = static_cast<typename E::Storage*>(storage);
        for (std::size_t i = 0; i < count; ++i) values[i] = E::from(uniform(key, first + i));
    });
}

// The same elements widened to f32, which holds every one of them exactly.
inline void fill_host_widened(float* values, Dtype dtype, Operand operand, std::uint64_t seed,
                              std::size_t first, std::size_t count) {
    const std::uint64_t key = stream_key(seed, operand);
    with_element(dtype, [&](auto element) {
        using E = decltype(element);
        for (std::size_t i = 0; i < count; ++i) {
            values[i] = E::widen(E::from(uniform(key, first + i)));
        }
    });
}

}  // namespace gemm

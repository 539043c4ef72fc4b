// SPDX-License-Identifier: Apache-2.0
// f32 to and from the 8- and 16-bit formats and tf32, in integer arithmetic, so that host and
// device agree to the bit whatever the compiler. Rounding is to nearest, ties to even. Finite
// inputs only.
#pragma once

#include <cstdint>
#include <cstring>

#include "common/host_device.hpp"

namespace common {

COMMON_HOST_DEVICE inline std::uint32_t float_bits(float value) {
    std::uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

COMMON_HOST_DEVICE inline float float_from_bits(std::uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Drops the low `dropped` bits, 1 to 31, of a magnitude, rounding to nearest even. A carry into the
// exponent is the right result.
COMMON_HOST_DEVICE inline std::uint32_t shift_right_rounded(std::uint32_t bits, int dropped) {
    const std::uint32_t half = 1u << (dropped - 1);
    const std::uint32_t odd = (bits >> dropped) & 1u;
    return (bits + half - 1 + odd) >> dropped;
}

COMMON_HOST_DEVICE inline float round_to_tf32(float value) {
    return float_from_bits(shift_right_rounded(float_bits(value), 13) << 13);
}

COMMON_HOST_DEVICE inline std::uint16_t bf16_from_float(float value) {
    return static_cast<std::uint16_t>(shift_right_rounded(float_bits(value), 16));
}

COMMON_HOST_DEVICE inline float float_from_bf16(std::uint16_t bits) {
    return float_from_bits(static_cast<std::uint32_t>(bits) << 16);
}

COMMON_HOST_DEVICE inline std::uint16_t f16_from_float(float value) {
    const std::uint32_t bits = float_bits(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // >= 65520
    if (magnitude >= 0x38800000u) {  // 2^-14 and up: rebias the exponent from 127 to 15
        return static_cast<std::uint16_t>(sign | shift_right_rounded(magnitude - (112u << 23), 13));
    }
    const int exponent = static_cast<int>(magnitude >> 23);
    if (exponent < 102) return static_cast<std::uint16_t>(sign);  // below half of 2^-24
    const std::uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    return static_cast<std::uint16_t>(sign | shift_right_rounded(mantissa, 126 - exponent));
}

COMMON_HOST_DEVICE inline float float_from_f16(std::uint16_t bits) {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    const std::uint32_t magnitude = bits & 0x7fffu;
    if (magnitude >= 0x7c00u) return float_from_bits(sign | 0x7f800000u | (magnitude << 13));
    if (magnitude >= 0x0400u) return float_from_bits(sign | ((magnitude << 13) + (112u << 23)));
    const float subnormal = static_cast<float>(magnitude) * 5.9604644775390625e-8f;  // 2^-24
    return float_from_bits(sign | float_bits(subnormal));
}

// Beyond the largest, 448, the largest: the format has no infinity.
COMMON_HOST_DEVICE inline std::uint8_t e4m3_from_float(float value) {
    const std::uint32_t bits = float_bits(value);
    const std::uint32_t sign = (bits >> 24) & 0x80u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude >= 0x43e00000u) return static_cast<std::uint8_t>(sign | 0x7eu);  // >= 448
    if (magnitude >= 0x3c800000u) {  // 2^-6 and up: rebias the exponent from 127 to 7
        return static_cast<std::uint8_t>(sign | shift_right_rounded(magnitude - (120u << 23), 20));
    }
    const int exponent = static_cast<int>(magnitude >> 23);
    if (exponent < 117) return static_cast<std::uint8_t>(sign);  // below half of 2^-9
    const std::uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    return static_cast<std::uint8_t>(sign | shift_right_rounded(mantissa, 141 - exponent));
}

COMMON_HOST_DEVICE inline float float_from_e4m3(std::uint8_t bits) {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x80u) << 24;
    const std::uint32_t magnitude = bits & 0x7fu;
    if (magnitude == 0x7fu) return float_from_bits(sign | 0x7fc00000u);
    if (magnitude >= 0x08u) return float_from_bits(sign | ((magnitude << 20) + (120u << 23)));
    const float subnormal = static_cast<float>(magnitude) * 0.001953125f;  // 2^-9
    return float_from_bits(sign | float_bits(subnormal));
}

}  // namespace common

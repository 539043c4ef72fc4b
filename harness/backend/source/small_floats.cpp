// SPDX-License-Identifier: Apache-2.0
#include "backend/source/small_floats.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace perfgate::backend {

Half::Half(float value) {
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    const float magnitude = std::fabs(value);
    std::uint16_t bits = 0;
    if (std::isnan(value)) {
        bits = 0x7e00;
    } else if (magnitude >= 65520) {  // halfway to 2^16, the first that does not fit
        bits = 0x7c00;
    } else if (magnitude < 0x1p-14F) {
        // Subnormal: multiples of 2^-24. nearbyint rounds ties to even.
        bits = static_cast<std::uint16_t>(std::nearbyint(magnitude * 0x1p24F));
    } else {
        int exponent = 0;
        const float fraction = std::frexp(magnitude, &exponent);  // [0.5, 1)
        // A carry out of the mantissa goes into the exponent, as it should.
        const auto mantissa = static_cast<int>(std::nearbyint(fraction * 0x1p11F)) - 1024;
        bits = static_cast<std::uint16_t>(((exponent + 14) << 10) + mantissa);
    }
    bits_ = static_cast<std::uint16_t>(sign | bits);
}

Half::operator float() const {
    const int exponent = (bits_ >> 10) & 31;
    const int mantissa = bits_ & 1023;
    float magnitude = 0;
    if (exponent == 31) {
        magnitude = mantissa == 0 ? std::numeric_limits<float>::infinity()
                                  : std::numeric_limits<float>::quiet_NaN();
    } else if (exponent == 0) {
        magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    } else {
        magnitude = std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
    }
    return (bits_ & 0x8000) != 0 ? -magnitude : magnitude;
}

Bfloat16::Bfloat16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value)) {
        bits_ = static_cast<std::uint16_t>((bits >> 16) | 0x40);
        return;
    }
    const std::uint32_t tie = (bits >> 16) & 1;
    bits_ = static_cast<std::uint16_t>((bits + 0x7fff + tie) >> 16);
}

Bfloat16::operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16);
}

}  // namespace perfgate::backend

// SPDX-License-Identifier: Apache-2.0
// The element types of tensors, by the names that suites use. Needs no CUDA header.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace common {

enum class Dtype : int {
    kF32,
    kTf32,  // stored as f32 whose low 13 mantissa bits are zero
    kF16,
    kBf16,
    kE4m3,  // 8 bits: 4 of exponent, 3 of mantissa; no infinity, NaN 0x7f
};

constexpr std::size_t element_bytes(Dtype dtype) {
    if (dtype == Dtype::kE4m3) return 1;
    return dtype == Dtype::kF16 || dtype == Dtype::kBf16 ? 2 : 4;
}

constexpr std::string_view dtype_name(Dtype dtype) {
    switch (dtype) {
        case Dtype::kF32:
            return "f32";
        case Dtype::kTf32:
            return "tf32";
        case Dtype::kF16:
            return "f16";
        case Dtype::kBf16:
            return "bf16";
        case Dtype::kE4m3:
            return "e4m3";
    }
    return "?";
}

constexpr std::optional<Dtype> parse_dtype(std::string_view name) {
    for (Dtype dtype : {Dtype::kF32, Dtype::kTf32, Dtype::kF16, Dtype::kBf16, Dtype::kE4m3}) {
        if (name == dtype_name(dtype)) return dtype;
    }
    return std::nullopt;
}

// The same for a name that must be one.
inline Dtype dtype_of(std::string_view name) {
    if (const auto dtype = parse_dtype(name)) return *dtype;
    throw std::invalid_argument("no dtype: " + std::string(name));
}

}  // namespace common

// SPDX-License-Identifier: Apache-2.0
// What memory holds of a Dtype, for host and device code alike.
#pragma once

#include <cstdint>
#include <utility>

#include "common/dtype.hpp"
#include "common/number_format.hpp"

namespace common {

// The element as memory holds it, `Storage` being float or, for the shorter types, their bits.
template <Dtype kDtype>
struct Element;

template <>
struct Element<Dtype::kF32> {
    using Storage = float;
    COMMON_HOST_DEVICE static Storage from(float value) { return value; }
    COMMON_HOST_DEVICE static float widen(Storage value) { return value; }
};
template <>
struct Element<Dtype::kTf32> {
    using Storage = float;
    COMMON_HOST_DEVICE static Storage from(float value) { return round_to_tf32(value); }
    COMMON_HOST_DEVICE static float widen(Storage value) { return value; }
};
template <>
struct Element<Dtype::kF16> {
    using Storage = std::uint16_t;
    COMMON_HOST_DEVICE static Storage from(float value) { return f16_from_float(value); }
    COMMON_HOST_DEVICE static float widen(Storage value) { return float_from_f16(value); }
};
template <>
struct Element<Dtype::kBf16> {
    using Storage = std::uint16_t;
    COMMON_HOST_DEVICE static Storage from(float value) { return bf16_from_float(value); }
    COMMON_HOST_DEVICE static float widen(Storage value) { return float_from_bf16(value); }
};
template <>
struct Element<Dtype::kE4m3> {
    using Storage = std::uint8_t;
    COMMON_HOST_DEVICE static Storage from(float value) { return e4m3_from_float(value); }
    COMMON_HOST_DEVICE static float widen(Storage value) { return float_from_e4m3(value); }
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
        case Dtype::kE4m3:
            return visit(Element<Dtype::kE4m3>{});
        case Dtype::kF32:
            break;
    }
    return visit(Element<Dtype::kF32>{});
}

}  // namespace common

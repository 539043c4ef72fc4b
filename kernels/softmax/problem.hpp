// SPDX-License-Identifier: Apache-2.0
// What one softmax is: each row of a rows x width matrix, row-major and dense, becomes
// exp(x - max) / sum of exp(x - max). Plain values, usable from host and device code.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/dtype.hpp"
#include "common/host_device.hpp"
#include "common/random.hpp"

namespace softmax {

using common::Dtype;

inline constexpr std::int64_t kMostRows = 1 << 20;
inline constexpr std::int64_t kLargestWidth = 32768;

struct Problem {
    int rows = 0;
    int width = 0;
    Dtype dtype = Dtype::kF32;

    std::size_t count() const {
        return static_cast<std::size_t>(rows) * static_cast<std::size_t>(width);
    }
    std::size_t bytes() const { return count() * common::element_bytes(dtype); }
};

// An input before it is rounded to its type: spread over [-4, 4), so that every element of a row
// counts, around a place of the row's own in [-128, 128): without its maximum taken off, the
// exponential of every third row leaves f32's range.
struct Logits {
    std::uint64_t values_key;
    std::uint64_t places_key;

    COMMON_HOST_DEVICE explicit Logits(std::uint64_t seed)
        : values_key(common::stream_key(seed, 1)), places_key(common::stream_key(seed, 2)) {}

    COMMON_HOST_DEVICE float at(std::uint64_t row, std::uint64_t col, std::uint64_t width) const {
        const auto place = static_cast<int>(common::random_bits(places_key, row) % 256u) - 128;
        // 4 u is exact, so that it is one rounding however it is compiled.
        return 4.0f * common::uniform(values_key, row * width + col) + static_cast<float>(place);
    }
};

}  // namespace softmax

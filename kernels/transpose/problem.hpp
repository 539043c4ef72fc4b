// SPDX-License-Identifier: Apache-2.0
// What one transposition is: in is rows x cols, out is cols x rows, both row-major and dense.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/dtype.hpp"

namespace transpose {

using common::Dtype;

inline constexpr std::int64_t kLargestExtent = 65536;

struct Problem {
    int rows = 0;
    int cols = 0;
    Dtype dtype = Dtype::kF32;

    std::size_t count() const {
        return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
    }
    std::size_t bytes() const { return count() * common::element_bytes(dtype); }
};

// The one input among the inputs of a seed.
inline constexpr std::uint64_t kInput = 1;

}  // namespace transpose

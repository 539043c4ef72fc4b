// SPDX-License-Identifier: Apache-2.0
// What one GEMM is: C = A * B, all row-major and densely packed, A m x k, B k x n, C m x n.
// Plain values, usable from host and device code; no CUDA header needed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/dtype.hpp"

namespace gemm {

// Type of A and B. C is always f32. What sums are kept in: f64 by the reference; f32 by all others,
// except that of e4m3 products the tensor cores keep about 14 bits of a sum. checker.hpp gives the
// error that each makes.
using common::Dtype;
using common::dtype_name;
using common::element_bytes;

// A, B and the bias among the inputs of a seed (common/random.hpp).
enum Operand : std::uint64_t { kA = 1, kB = 2, kBias = 3 };

// What is done to each element of the product before C is written (epilogue.hpp).
enum class Epilogue : int { kNone, kBias, kBiasGelu };

inline constexpr std::int64_t kLargestExtent = 16384;

struct Problem {
    int m = 0;
    int n = 0;
    int k = 0;
    Dtype dtype = Dtype::kF32;
    Epilogue epilogue = Epilogue::kNone;

    std::size_t a_count() const {
        return static_cast<std::size_t>(m) * static_cast<std::size_t>(k);
    }
    std::size_t b_count() const {
        return static_cast<std::size_t>(k) * static_cast<std::size_t>(n);
    }
    std::size_t c_count() const {
        return static_cast<std::size_t>(m) * static_cast<std::size_t>(n);
    }
    // How B lies on the device: tensor cores take 8-bit operands along k only.
    bool b_by_columns() const { return element_bytes(dtype) == 1; }
    double multiply_adds() const { return 1.0 * m * n * k; }
};

}  // namespace gemm

// SPDX-License-Identifier: Apache-2.0
// What one GEMM is: C = A * B, all row-major and densely packed, A m x k, B k x n, C m x n.
// Plain values, usable from host and device code; no CUDA header needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gemm {

// Type of A and B. C is always f32, and every variant accumulates in f32 or better.
enum class Dtype : int {
    kF32,
    kTf32,  // stored as f32 whose low 13 mantissa bits are zero
    kF16,
    kBf16,
};

inline constexpr std::int64_t kLargestExtent = 16384;

struct Problem {
    int m = 0;
    int n = 0;
    int k = 0;
    Dtype dtype = Dtype::kF32;

    std::size_t a_count() const {
        return static_cast<std::size_t>(m) * static_cast<std::size_t>(k);
    }
    std::size_t b_count() const {
        return static_cast<std::size_t>(k) * static_cast<std::size_t>(n);
    }
    std::size_t c_count() const {
        return static_cast<std::size_t>(m) * static_cast<std::size_t>(n);
    }
    double multiply_adds() const { return 1.0 * m * n * k; }
};

constexpr std::size_t element_bytes(Dtype dtype) {
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
    }
    return "?";
}

constexpr std::optional<Dtype> parse_dtype(std::string_view name) {
    for (Dtype dtype : {Dtype::kF32, Dtype::kTf32, Dtype::kF16, Dtype::kBf16}) {
        if (name == dtype_name(dtype)) return dtype;
    }
    return std::nullopt;
}

}  // namespace gemm

// SPDX-License-Identifier: Apache-2.0
// What one attention is: O = softmax(scale * Q K^T) V for every head of every sequence. Q, K, V and
// O are bf16, each batch x heads x sequence x head_size, densely packed. Plain values; no CUDA
// header.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace attention {

inline constexpr std::int64_t kLargestBatch = 256;
inline constexpr std::int64_t kLargestHeadCount = 128;
inline constexpr std::int64_t kLargestSequence = 32768;

// The operands' numbers, from which their values are made (common/inputs.hpp).
enum Operand : std::uint64_t { kQuery = 1, kKey = 2, kValue = 3 };

struct Problem {
    int batch = 1;
    int heads = 1;
    int sequence = 1;
    int head_size = 64;   // 64 or 128
    bool causal = false;  // query i sees keys 0 to i only

    int head_count() const { return batch * heads; }
    std::size_t head_elements() const {
        return static_cast<std::size_t>(sequence) * static_cast<std::size_t>(head_size);
    }
    std::size_t elements() const {
        return static_cast<std::size_t>(head_count()) * head_elements();
    }
    // How many keys a query sees.
    int keys_of(int query) const { return causal ? query + 1 : sequence; }
    // Pairs of query and key that take part.
    double pairs() const {
        const double n = sequence;
        return head_count() * (causal ? n * (n + 1) / 2 : n * n);
    }
    // A product for the score and one for the value: 4 operations per pair and element.
    double flops() const { return 4.0 * pairs() * head_size; }
    // The usual 1/sqrt(head_size), times six: inputs are uniform in [-1, 1), and so scores have a
    // standard deviation of 2, as trained queries and keys give, and not of 1/3, with which softmax
    // would be close to a mean that forgives most mistakes.
    float scale() const { return 6.0f / std::sqrt(static_cast<float>(head_size)); }
};

}  // namespace attention

// SPDX-License-Identifier: Apache-2.0
#include "attention/reference.hpp"

#include <algorithm>
#include <cmath>

#include "common/number_format.hpp"

namespace attention {
namespace {

// Head sizes are multiples of 8; as many chains of additions keep the processor's adders busy.
constexpr int kChains = 8;

double dot(const float* a, const float* b, int count) {
    double sums[kChains] = {};
    for (int i = 0; i < count; i += kChains) {
        for (int c = 0; c < kChains; ++c) sums[c] += static_cast<double>(a[i + c]) * b[i + c];
    }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace

void attend(const float* query, const float* keys, const float* values, int key_count,
            int head_size, double scale, Attended& result) {
    const auto count = static_cast<std::size_t>(key_count);
    const auto size = static_cast<std::size_t>(head_size);
    result.scores.resize(count);
    result.weights.resize(count);
    result.output.assign(size, 0.0);
    for (std::size_t i = 0; i < count; ++i) {
        result.scores[i] = scale * dot(query, keys + i * size, head_size);
    }
    const double largest = *std::max_element(result.scores.begin(), result.scores.end());
    double sum = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
        result.weights[i] = std::exp(result.scores[i] - largest);
        sum += result.weights[i];
    }
    double* output = result.output.data();
    for (std::size_t i = 0; i < count; ++i) {
        const double weight = result.weights[i] /= sum;
        const float* value = values + i * size;
        for (std::size_t d = 0; d < size; ++d) output[d] += weight * static_cast<double>(value[d]);
    }
}

void attend_all(const Problem& p, const std::uint16_t* q, const std::uint16_t* k,
                const std::uint16_t* v, std::uint16_t* o) {
    const std::size_t elements = p.head_elements();
    const auto size = static_cast<std::size_t>(p.head_size);
    std::vector<float> query(elements);
    std::vector<float> keys(elements);
    std::vector<float> values(elements);
    Attended attended;
    for (int head = 0; head < p.head_count(); ++head) {
        const std::size_t first = static_cast<std::size_t>(head) * elements;
        for (std::size_t i = 0; i < elements; ++i) {
            query[i] = common::float_from_bf16(q[first + i]);
            keys[i] = common::float_from_bf16(k[first + i]);
            values[i] = common::float_from_bf16(v[first + i]);
        }
        for (int row = 0; row < p.sequence; ++row) {
            const std::size_t at = static_cast<std::size_t>(row) * size;
            attend(query.data() + at, keys.data(), values.data(), p.keys_of(row), p.head_size,
                   static_cast<double>(p.scale()), attended);
            for (std::size_t d = 0; d < size; ++d) {
                o[first + at + d] = common::bf16_from_float(static_cast<float>(attended.output[d]));
            }
        }
    }
}

}  // namespace attention

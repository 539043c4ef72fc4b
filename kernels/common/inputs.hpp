// SPDX-License-Identifier: Apache-2.0
// Tensors as pure functions of a seed and an element's index: the device fills its memory
// (device_inputs.hpp), the host checks against the same values, and neither copies them from the
// other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/element.hpp"
#include "common/parallel.hpp"
#include "common/random.hpp"
#include "common/unfilled.hpp"

namespace common {

// Fills count elements, beginning at element `first`, of an operand in its storage type with values
// uniform in [-1, 1), rounded to the type.
inline void fill_host(void* storage, Dtype dtype, std::uint64_t operand, std::uint64_t seed,
                      std::size_t first, std::size_t count) {
    const std::uint64_t key = stream_key(seed, operand);
    with_element(dtype, [&](auto element) {
        using E = decltype(element);
        auto* values = static_cast<typename E::Storage*>(storage);
        for (std::size_t i = 0; i < count; ++i) values[i] = E::from(uniform(key, first + i));
    });
}

// The same elements widened to f32, which holds every one of them exactly.
inline void fill_host_widened(float* values, Dtype dtype, std::uint64_t operand, std::uint64_t seed,
                              std::size_t first, std::size_t count) {
    const std::uint64_t key = stream_key(seed, operand);
    with_element(dtype, [&](auto element) {
        using E = decltype(element);
        for (std::size_t i = 0; i < count; ++i) {
            values[i] = E::widen(E::from(uniform(key, first + i)));
        }
    });
}

// A whole operand, widened, made on all cores. threads 0: one per core.
inline UnfilledVector<float> widened_inputs(Dtype dtype, std::uint64_t operand, std::uint64_t seed,
                                            std::size_t count, unsigned threads = 0) {
    constexpr std::size_t kPerTask = 1 << 16;
    UnfilledVector<float> values(count);
    parallel_for((count + kPerTask - 1) / kPerTask, threads, [&](std::size_t task) {
        const std::size_t first = task * kPerTask;
        fill_host_widened(values.data() + first, dtype, operand, seed, first,
                          std::min(kPerTask, count - first));
    });
    return values;
}

}  // namespace common

// SPDX-License-Identifier: Apache-2.0
#include "launch/reference.hpp"

#include "common/tally.hpp"

namespace launch {

void run_reference(const Problem& problem, const std::uint32_t* in, std::uint32_t* out) {
    for (int i = 0; i < problem.elements; ++i) out[i] = in[i];
    for (int kernel = 0; kernel < problem.kernels; ++kernel) {
        for (int i = 0; i < problem.elements; ++i) {
            out[i] = next_value(out[i], static_cast<std::uint32_t>(kernel));
        }
    }
}

void fill_input(const Problem& problem, std::uint64_t seed, std::uint32_t* in) {
    const std::uint64_t key = common::stream_key(seed, kInput);
    for (int i = 0; i < problem.elements; ++i) {
        in[i] = first_value(key, static_cast<std::uint64_t>(i));
    }
}

CheckReport check_chain(const Problem& problem, std::uint64_t seed, const std::uint32_t* out) {
    // Of x = 0 the chain makes b, and of x = 1 it makes a + b.
    std::uint32_t of_zero = 0;
    std::uint32_t of_one = 1;
    for (int kernel = 0; kernel < problem.kernels; ++kernel) {
        of_zero = next_value(of_zero, static_cast<std::uint32_t>(kernel));
        of_one = next_value(of_one, static_cast<std::uint32_t>(kernel));
    }
    const std::uint64_t key = common::stream_key(seed, kInput);
    for (int i = 0; i < problem.elements; ++i) {
        const std::uint32_t expected =
            (of_one - of_zero) * first_value(key, static_cast<std::uint64_t>(i)) + of_zero;
        if (out[i] != expected) {
            return {false, common::describe("x[%d] is %u, expected %u after %d kernels", i, out[i],
                                            expected, problem.kernels)};
        }
    }
    return {true, common::describe("all %d elements after %d kernels, bit for bit",
                                   problem.elements, problem.kernels)};
}

}  // namespace launch

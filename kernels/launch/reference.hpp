// SPDX-License-Identifier: Apache-2.0
// The chain on the host.
#pragma once

#include <cstdint>
#include <string>

#include "launch/problem.hpp"

namespace launch {

// out = the last kernel's x, beginning from in.
void run_reference(const Problem& problem, const std::uint32_t* in, std::uint32_t* out);

void fill_input(const Problem& problem, std::uint64_t seed, std::uint32_t* in);

struct CheckReport {
    bool passed = false;
    std::string detail;
};

// Whether `out` is what the chain makes of the seed's input, to the bit. All kernels together are
// one step x -> a x + b, so checking costs no more than one kernel.
CheckReport check_chain(const Problem& problem, std::uint64_t seed, const std::uint32_t* out);

}  // namespace launch

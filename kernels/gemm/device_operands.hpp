// SPDX-License-Identifier: Apache-2.0
// A, B and the bias of a seed, put where a case keeps them on the device.
#pragma once

#include <cstdint>

#include "gemm/problem.hpp"

namespace gemm {

// Enqueues filling all three; a null bias is left out.
void fill_operands(const Problem&, std::uint64_t seed, void* a, void* b, float* bias);

}  // namespace gemm

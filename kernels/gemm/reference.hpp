// SPDX-License-Identifier: Apache-2.0
// GEMM on the host, one thread: operands packed once as float64, a 4 x 8 block of C in registers,
// one rounding per element at the end.
#pragma once

#include "gemm/problem.hpp"

namespace gemm {

// a and b in the problem's storage type.
void multiply_reference(const Problem& problem, const void* a, const void* b, float* c);

}  // namespace gemm

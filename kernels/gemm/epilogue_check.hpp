// SPDX-License-Identifier: Apache-2.0
// Says whether C is epilogue(A * B), for host and CUDA variants alike. No CUDA here.
//
// GELU cannot be undone: most of what it makes of large negative values is zero. So the checker's
// random sums, which find a wrong element wherever it is, cannot be taken of C. They are taken of
// the bare product of the same variant, launched once more for the purpose, and every element of C
// is compared with what float64 makes of the product's. Where one kernel with and without the
// epilogue makes both, they differ by the epilogue's rounding alone; where a library chose two,
// also by two errors of accumulation, each as large as the checker allows.
#pragma once

#include <cstdint>

#include "gemm/checker.hpp"

namespace gemm {

// `product` is the bare A * B, `c` the output; without an epilogue both may be the same.
CheckReport check_epilogue_of_seed(const Problem& problem, std::uint64_t input_seed,
                                   const float* product, const float* c, unsigned threads = 0);

}  // namespace gemm

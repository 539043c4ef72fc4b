// SPDX-License-Identifier: Apache-2.0
// A, B and the bias among the inputs of a seed (common/inputs.hpp).
#pragma once

#include <cstdint>

#include "common/inputs.hpp"
#include "gemm/problem.hpp"

namespace gemm {

enum Operand : std::uint64_t { kA = 1, kB = 2, kBias = 3 };

using common::Element;
using common::fill_host;
using common::with_element;

}  // namespace gemm

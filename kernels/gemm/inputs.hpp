// SPDX-License-Identifier: Apache-2.0
// The inputs of a seed (common/inputs.hpp) on the host.
#pragma once

#include "common/inputs.hpp"
#include "gemm/problem.hpp"

namespace gemm {

using common::Element;
using common::fill_host;
using common::with_element;

}  // namespace gemm

// SPDX-License-Identifier: Apache-2.0
// The CUDA variants: out = transpose(in).
#pragma once

#include "common/cuda.hpp"
#include "transpose/problem.hpp"

namespace transpose {

common::Launch prepare_naive(const Problem&, const void* in, void* out);
common::Launch prepare_shared(const Problem&, const void* in, void* out);
common::Launch prepare_padded(const Problem&, const void* in, void* out);
common::Launch prepare_swizzled(const Problem&, const void* in, void* out);

}  // namespace transpose

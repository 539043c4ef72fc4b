// SPDX-License-Identifier: Apache-2.0
// The CUDA variants behind one signature: a launch enqueues the attention.
#pragma once

#include <cstdint>

#include "attention/problem.hpp"
#include "common/cuda.hpp"

namespace attention {

// Where the operands are, as bf16 bits; these buffers hold for all launches.
struct Tensors {
    const std::uint16_t* q;
    const std::uint16_t* k;
    const std::uint16_t* v;
    std::uint16_t* o;
};

using common::Launch;

Launch prepare_unfused(const Problem&, const Tensors&);
Launch prepare_flash(const Problem&, const Tensors&);
Launch prepare_flash_hopper(const Problem&, const Tensors&);

// In place: rows of scores become rows of weights, both bf16. A row has `stride` elements, a
// multiple of 8, of which the first p.sequence are scores; what a query does not see becomes 0. At
// most 16384.
void softmax_rows(const Problem&, std::uint16_t* scores, std::uint64_t stride, cudaStream_t);

}  // namespace attention

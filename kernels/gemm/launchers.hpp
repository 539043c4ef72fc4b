// SPDX-License-Identifier: Apache-2.0
// The CUDA variants behind one signature.
#pragma once

#include <type_traits>

#include "common/cuda.hpp"
#include "gemm/problem.hpp"

namespace gemm {

// Where a case's matrices lie on the device, from set-up on.
struct Operands {
    const void* a = nullptr;  // in the problem's storage type
    const void* b = nullptr;
    const float* bias = nullptr;  // n values; null without an epilogue
    float* c = nullptr;
};

struct DeviceLimits {
    int multiprocessors = 0;
    int compute_capability = 0;  // 90 for 9.0
    int shared_bytes = 0;        // the most that a block can have
};

using common::Launch;

// How a variant is set up: a launch enqueues C = epilogue(A * B). plugin_cuda.cpp declares one for
// each variant.
using Prepare = Launch(const Problem&, const Operands&, const DeviceLimits&);

// The part of prepare_pipelined for large products from compute capability 9.0 on: rows of A and B
// begin on 16 bytes.
Prepare prepare_pipelined_boxes;

// The epilogue alone, on the C that a product left: a kernel that adds the bias and, for GELU, one
// more that applies it.
Launch prepare_epilogue(const Problem&, const Operands&);

// Calls `visit` with the epilogue as a compile-time constant.
template <class Visitor>
Launch with_epilogue(Epilogue epilogue, Visitor&& visit) {
    switch (epilogue) {
        case Epilogue::kBias:
            return visit(std::integral_constant<Epilogue, Epilogue::kBias>{});
        case Epilogue::kBiasGelu:
            return visit(std::integral_constant<Epilogue, Epilogue::kBiasGelu>{});
        case Epilogue::kNone:
            break;
    }
    return visit(std::integral_constant<Epilogue, Epilogue::kNone>{});
}

}  // namespace gemm

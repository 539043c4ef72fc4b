// SPDX-License-Identifier: Apache-2.0
// The CUDA variants behind one signature. Choosing happens once, at set-up, so that a launch is a
// kernel launch and nothing else.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <type_traits>

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

// Enqueues C = epilogue(A * B) on the stream.
using Launcher = std::function<void(cudaStream_t)>;

// How a variant is set up. plugin_cuda.cpp declares one for each variant.
using Prepare = Launcher(const Problem&, const Operands&, const DeviceLimits&);

// The part of prepare_pipelined for large products from compute capability 9.0 on: rows of A and B
// begin on 16 bytes.
Prepare prepare_pipelined_boxes;

// The epilogue alone, on the C that a product left: a kernel that adds the bias and, for GELU, one
// more that applies it.
Launcher prepare_epilogue(const Problem&, const Operands&);

// Calls `visit` with the epilogue as a compile-time constant.
template <class Visitor>
Launcher with_epilogue(Epilogue epilogue, Visitor&& visit) {
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

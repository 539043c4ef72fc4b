// SPDX-License-Identifier: Apache-2.0
// The CUDA variants behind one signature. Choosing happens once, at set-up, so that a launch is a
// kernel launch and nothing else.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "gemm/problem.hpp"

namespace gemm {

// Enqueues C = A * B on the stream. A and B are in the problem's storage type.
using Launcher = cudaError_t (*)(const Problem&, const void* a, const void* b, float* c,
                                 cudaStream_t);

struct DeviceLimits {
    int multiprocessors = 0;
};

Launcher choose_naive(const Problem&);
Launcher choose_tiled(const Problem&, const DeviceLimits&);
Launcher choose_tensor_core(const Problem&, const DeviceLimits&);

// cuBLAS keeps a handle and a workspace, both made here and not at the first launch.
class Cublas {
  public:
    explicit Cublas(std::size_t workspace_bytes);
    ~Cublas();
    Cublas(const Cublas&) = delete;
    Cublas& operator=(const Cublas&) = delete;
    void launch(const Problem&, const void* a, const void* b, float* c, cudaStream_t);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace gemm

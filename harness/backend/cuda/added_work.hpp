// SPDX-License-Identifier: Apache-2.0
//
// Device work of known length, which a self-test adds to a launch to make it slower.
#pragma once

#include <cuda.h>

#include "backend/cuda/driver.hpp"

namespace perfgate::backend::cuda {

class AddedWork {
  public:
    /// Compiles the kernel for the current context's device and measures on `stream` the number of
    /// cycles per nanosecond; the device should be warmed up. Throws CudaError.
    explicit AddedWork(CUstream stream);

    /// Queues one kernel of length `ns` plus that of the shortest kernel (about 1 µs). Returns
    /// without waiting for it. Like other kernels, its length depends on the clock.
    void operator()(CUstream stream, double ns) const;

  private:
    void enqueue(CUstream stream, double cycles) const;

    PtxKernel kernel_;
    double cycles_per_ns_ = 1;
};

}  // namespace perfgate::backend::cuda

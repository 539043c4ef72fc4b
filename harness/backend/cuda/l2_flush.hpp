// SPDX-License-Identifier: Apache-2.0
//
// Puts the L2 cache into the same state before each cold launch, by writing a buffer larger than it.
#pragma once

#include <cuda.h>

#include <cstddef>

#include "backend/cuda/driver.hpp"

namespace perfgate::backend::cuda {

class L2Flush {
public:
    /// `l2_bytes` as DeviceFacts gives it; the buffer is at least twice that. Throws CudaError if it
    /// cannot be allocated.
    explicit L2Flush(std::size_t l2_bytes);

    /// Queues the flush on `stream`; returns without waiting for it.
    void operator()(CUstream stream) const;
    [[nodiscard]] std::size_t bytes() const { return buffer_.bytes(); }

private:
    DeviceBuffer buffer_;
};

}  // namespace perfgate::backend::cuda

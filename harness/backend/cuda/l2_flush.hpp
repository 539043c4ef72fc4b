// SPDX-License-Identifier: Apache-2.0
//
// Empties the L2 cache before each cold launch, by reading a buffer larger than it.
//
// Reads instead of writing: a memset leaves the cache full of modified lines, whose write-back
// slows down the next kernel. On an H100 that made a 70 µs saxpy 78 µs and added 22 MB to its DRAM
// writes.
//
// The reader is a small kernel or, where a kernel would become a range of a counter session, a copy
// to 125 MiB of addresses that map the same 2 MiB repeatedly. After either, time and counters are
// those that ncu reports with --cache-control all. Copies to or from the host do not pass through
// the cache.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <optional>

#include "backend/cuda/driver.hpp"
#include "backend/cuda/repeated_memory.hpp"

namespace perfgate::backend::cuda {

class L2Flush {
  public:
    /// Buffers and compiles the kernel for the current context's device. Throws CudaError.
    explicit L2Flush(const DeviceFacts& device);
    ~L2Flush();
    L2Flush(const L2Flush&) = delete;
    L2Flush& operator=(const L2Flush&) = delete;

    /// Queues the flush on `stream` (one kernel launch); returns without waiting for it.
    void operator()(CUstream stream) const;

    /// Whether `copy` works on this device.
    [[nodiscard]] bool copies() const { return target_.has_value(); }
    /// The same without a kernel, at twice the device's time.
    void copy(CUstream stream) const;

    [[nodiscard]] std::size_t bytes() const { return buffer_.bytes(); }

  private:
    DeviceBuffer buffer_;
    std::optional<RepeatedMemory> target_;
    unsigned blocks_;
    CUmodule module_ = nullptr;
    CUfunction kernel_ = nullptr;
};

}  // namespace perfgate::backend::cuda

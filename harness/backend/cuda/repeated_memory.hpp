// SPDX-License-Identifier: Apache-2.0
//
// A long range of device addresses that maps one small piece of memory repeatedly: a copy to it
// reads all of the source but modifies almost nothing.
#pragma once

#include <cuda.h>

#include <cstddef>

#include "backend/cuda/driver.hpp"

namespace perfgate::backend::cuda {

class RepeatedMemory {
  public:
    /// Whether the device can map memory like this.
    static bool supported(int ordinal);

    /// At least one and at most `bytes` bytes of addresses, in whole pieces (2 MiB on today's
    /// devices). Throws CudaError.
    RepeatedMemory(int ordinal, std::size_t bytes);
    ~RepeatedMemory();
    RepeatedMemory(const RepeatedMemory&) = delete;
    RepeatedMemory& operator=(const RepeatedMemory&) = delete;

    [[nodiscard]] CUdeviceptr address() const { return address_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

  private:
    void release();

    CUmemGenericAllocationHandle piece_ = 0;
    CUdeviceptr address_ = 0;
    std::size_t bytes_ = 0;
    std::size_t mapped_ = 0;
};

}  // namespace perfgate::backend::cuda

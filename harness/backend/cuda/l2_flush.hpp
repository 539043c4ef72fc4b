// SPDX-License-Identifier: Apache-2.0
// The L2 cache before a cold launch: it is emptied by reading a buffer larger than it, and what a
// variant keeps in it is released.
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

namespace perfgate::backend::cuda {

/// A long range of device addresses that maps one small piece of memory repeatedly: a copy to it
/// reads all of the source but modifies almost nothing.
class RepeatedMemory {
  public:
    /// Whether the device can map memory like this.
    static bool supported(int ordinal);

    /// At least one and at most `bytes` bytes of addresses, in whole pieces (2 MiB on today's
    /// devices). Throws CudaError.
    RepeatedMemory(int ordinal, std::size_t bytes);
    ~RepeatedMemory();
    RepeatedMemory& operator=(RepeatedMemory&&) = delete;  // nor copied

    [[nodiscard]] CUdeviceptr address() const { return address_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

  private:
    void release();

    CUmemGenericAllocationHandle piece_ = 0;
    CUdeviceptr address_ = 0;
    std::size_t bytes_ = 0;
    std::size_t mapped_ = 0;
};

class L2Flush {
  public:
    /// Buffers and compiles the kernel for the current context's device. Throws CudaError.
    explicit L2Flush(const DeviceFacts& device);

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
    std::optional<PtxKernel> kernel_;  ///< compiled once the buffers are there
};

// Lines that a variant asks the L2 cache to keep (cudaLimitPersistingL2CacheSize, an access policy
// window): reading other memory does not evict them, so that an L2 flush alone would leave them in
// the cache. Before each cold launch that is timed they are made evictable. What the launch itself
// asks for is the variant's code, and stays.

/// The settings of the current context, and of the stream that variants are given.
class PersistingL2 {
  public:
    /// Before any variant runs: the settings that it finds are the driver's own.
    explicit PersistingL2(CUstream stream);

    /// Whether a variant has changed the settings.
    [[nodiscard]] bool in_use() const;
    /// Bytes of the cache that are set aside for such lines; 0 if the device has no such feature.
    [[nodiscard]] std::size_t bytes() const;
    /// Makes all lines evictable. Only while the context does no work. Throws CudaError.
    void release() const;
    /// When a case ends: the next one finds the driver's settings. Reports no errors, because the
    /// context may be lost.
    void restore() const noexcept;

  private:
    [[nodiscard]] bool has_window() const;

    CUstream stream_;
    std::size_t usual_bytes_;
};

}  // namespace perfgate::backend::cuda

// SPDX-License-Identifier: Apache-2.0
//
// Lines that a variant asks the L2 cache to keep (cudaLimitPersistingL2CacheSize, an access policy
// window): reading other memory does not evict them, so that an L2 flush alone would leave them in
// the cache. Before each cold launch that is timed they are made evictable. What the launch itself
// asks for is the variant's code, and stays.
#pragma once

#include <cuda.h>

#include <cstddef>

namespace perfgate::backend::cuda {

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

// SPDX-License-Identifier: Apache-2.0
//
// Lines that a variant asks the L2 cache to keep (cudaLimitPersistingL2CacheSize and an access
// policy window): reading other memory does not evict them, so an L2 flush alone would leave them
// in the cache, and a cold launch would be a warm one. Before each cold launch they are released,
// and flushed while no part of the cache is set aside. What the launch itself keeps is the
// variant's code, and stays.
#pragma once

#include <cuda.h>

#include <cstddef>

namespace perfgate::backend::cuda {

/// Bytes of the L2 cache that are set aside for such lines in the current context; 0: none, so that
/// there are no such lines.
std::size_t persisting_l2_bytes();

/// Nothing is set aside during its lifetime, and all lines are evictable. Only while the context
/// does no work. Throws CudaError.
class NothingSetAside {
  public:
    NothingSetAside();
    ~NothingSetAside();
    NothingSetAside(const NothingSetAside&) = delete;
    NothingSetAside& operator=(const NothingSetAside&) = delete;

  private:
    std::size_t bytes_;
};

/// When a case ends: sets nothing aside any more, and removes the window of `stream`, which the
/// next case uses too. No-op if nothing is set aside. Reports no errors: the context may be lost.
void forget_persisting_l2(CUstream stream) noexcept;

}  // namespace perfgate::backend::cuda

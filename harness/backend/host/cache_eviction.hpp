// SPDX-License-Identifier: Apache-2.0
// Empties the processor's caches of a case's data, for cold measurements.
#pragma once

#include <cstddef>
#include <vector>

namespace perfgate::backend {

class CacheEviction {
  public:
    /// Writes through a buffer of twice the last-level cache, of 8 to 256 MiB; the first call makes
    /// it, so that processes which measure nothing cold start fast.
    void evict();

  private:
    std::vector<unsigned char> buffer_;
    unsigned char value_ = 0;
};

}  // namespace perfgate::backend

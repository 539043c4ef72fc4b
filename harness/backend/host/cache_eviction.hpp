// SPDX-License-Identifier: Apache-2.0
// Evicts a case's data from the CPU caches, for cold measurements.
#pragma once

#include <cstddef>
#include <vector>

namespace perfgate::backend {

class CacheEviction {
  public:
    /// Writes through a buffer of twice the last-level cache, of 8 to 256 MiB; the first call
    /// allocates it, so that processes without cold measurements start fast.
    void evict();

  private:
    std::vector<unsigned char> buffer_;
    unsigned char value_ = 0;
};

}  // namespace perfgate::backend

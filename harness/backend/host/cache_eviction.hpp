// SPDX-License-Identifier: Apache-2.0
// Empties the processor's caches of a case's data, for cold measurements.
#pragma once

#include <cstddef>
#include <vector>

namespace perfgate::backend {

class CacheEviction {
  public:
    /// The buffer is twice the last-level cache, and between 8 and 256 MiB.
    CacheEviction();
    /// Writes through the whole buffer.
    void evict();

  private:
    std::vector<unsigned char> buffer_;
    unsigned char value_ = 0;
};

}  // namespace perfgate::backend

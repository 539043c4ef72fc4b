// SPDX-License-Identifier: Apache-2.0
// Evicts a case's data from the CPU caches, for cold measurements.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace perfgate::backend {

class CacheEviction {
  public:
    /// Writes through a buffer of twice the last-level cache, of 8 to 256 MiB; the first call
    /// allocates it, so that processes without cold measurements start fast. With huge pages
    /// most of the TLB stays as it is. Throws std::bad_alloc.
    void evict();

  private:
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };

    std::unique_ptr<void, Free> buffer_;
    std::size_t bytes_ = 0;
    unsigned char value_ = 0;
};

}  // namespace perfgate::backend

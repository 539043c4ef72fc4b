// SPDX-License-Identifier: Apache-2.0
#include "backend/host/cache_eviction.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace perfgate::backend {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t huge_page = 2 * mib;

/// A multiple of a huge page.
std::size_t buffer_bytes() {
#ifdef __SANITIZE_THREAD__
    return 8 * mib;  // it keeps four times as much beside it, and its times mean nothing
#endif
    const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    const std::size_t twice = cache > 0 ? 2 * static_cast<std::size_t>(cache) : 64 * mib;
    const std::size_t bytes = std::clamp(twice, 8 * mib, 256 * mib);
    return bytes / huge_page * huge_page;
}

}  // namespace

void CacheEviction::evict() {
    if (!buffer_) {
        bytes_ = buffer_bytes();
        buffer_.reset(std::aligned_alloc(huge_page, bytes_));
        if (!buffer_) throw std::bad_alloc();
        // On some virtual machines, the page faults of the buffer in 4 KiB pages take a second.
        // This is a hint: without huge pages the kernel uses small ones.
        madvise(buffer_.get(), bytes_, MADV_HUGEPAGE);
    }
    std::memset(buffer_.get(), ++value_, bytes_);
    // The compiler must not drop stores to a buffer that is never read.
    asm volatile("" : : "r"(buffer_.get()) : "memory");
}

}  // namespace perfgate::backend

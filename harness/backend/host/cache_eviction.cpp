// SPDX-License-Identifier: Apache-2.0
#include "backend/host/cache_eviction.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace perfgate::backend {
namespace {

std::size_t buffer_bytes() {
    constexpr std::size_t mib = std::size_t{1} << 20;
#ifdef __SANITIZE_THREAD__
    return 8 * mib;  // it keeps four times as much beside it, and its times mean nothing
#endif
    const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    const std::size_t twice = cache > 0 ? 2 * static_cast<std::size_t>(cache) : 64 * mib;
    return std::clamp(twice, 8 * mib, 256 * mib);
}

}  // namespace

void CacheEviction::evict() {
    if (buffer_.empty()) buffer_.resize(buffer_bytes());
    std::memset(buffer_.data(), ++value_, buffer_.size());
    // The compiler must not drop stores to a buffer that is never read.
    asm volatile("" : : "r"(buffer_.data()) : "memory");
}

}  // namespace perfgate::backend

// SPDX-License-Identifier: Apache-2.0
// What a plugin can do wrong wherever it is called.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <new>

namespace misdeeds {

inline void crash() {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would exit instead
    std::raise(SIGSEGV);
}

inline void hang() {
    for (;;) pause();
}

/// Takes memory until there is none, without touching it: the machine has others.
inline void leak() {
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    while (mmap(nullptr, std::size_t{1} << 32, PROT_READ | PROT_WRITE, flags, -1, 0) !=
           MAP_FAILED) {
    }
    throw std::bad_alloc();
}

}  // namespace misdeeds

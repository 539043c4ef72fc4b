// SPDX-License-Identifier: Apache-2.0
// GCC 12's static libstdc++ takes std::random_device's numbers from arc4random, which glibc has
// since 2.36. Everything else of a release runs with 2.35 (Ubuntu 22.04).
#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

extern "C" std::uint32_t arc4random() noexcept {
    std::uint32_t number = 0;
    while (getrandom(&number, sizeof number, 0) != sizeof number) {
        if (errno != EINTR) std::abort();  // a kernel before 3.17
    }
    return number;
}

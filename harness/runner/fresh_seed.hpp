// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>

namespace perfgate::runner {

/// A new seed for each run, small enough for readers with signed integers.
inline std::uint64_t fresh_seed() {
    std::random_device random;
    return (std::uint64_t{random()} << 32 | random()) >> 1;
}

}  // namespace perfgate::runner

// SPDX-License-Identifier: Apache-2.0
// A library that plugins link or load; HELPER_FACTOR times as slow as it could be.
#include <cstdint>

#include "pace.hpp"

extern "C" __attribute__((visibility("default"))) void helper_work(std::int64_t ns) {
    const pace::Lasting lasting(HELPER_FACTOR * std::chrono::nanoseconds(ns));
}

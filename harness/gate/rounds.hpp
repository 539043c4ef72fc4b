// SPDX-License-Identifier: Apache-2.0
// How many processes measure a case again.
#pragma once

#include <cstddef>
#include <cstdint>

namespace perfgate::gate {

/// Fresh processes that a round (from 1) gives each flagged case: cases that are still unclear get
/// more. The minimum detectable change assumes these numbers.
constexpr std::size_t round_size(std::int64_t round) {
    return round <= 1 ? 8 : 32;
}

}  // namespace perfgate::gate

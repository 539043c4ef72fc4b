// SPDX-License-Identifier: Apache-2.0
// How many processes measure a case again.
#pragma once

#include <cstddef>
#include <cstdint>

namespace perfgate::gate {

/// Fresh processes that a round, from 1, gives each flagged case: what is clear after few is over,
/// and what is not gets more. The least change that a verdict claims to see counts on them.
constexpr std::size_t round_size(std::int64_t round) {
    return round <= 1 ? 8 : 32;
}

}  // namespace perfgate::gate

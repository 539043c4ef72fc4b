// SPDX-License-Identifier: Apache-2.0
// Which NVTX range a moment of a thread lies in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "activity/timeline.hpp"

namespace perfgate::activity {

/// Ranges are numbers in `timeline.ranges()`. Where ranges overlap without nesting, the one that
/// began last is the innermost.
class Nesting {
  public:
    explicit Nesting(const Timeline& timeline);

    /// The innermost range that was open on its thread when the range began.
    [[nodiscard]] std::optional<std::size_t> parent(std::size_t range) const;
    /// How many parents it has, one above the other.
    [[nodiscard]] std::size_t depth(std::size_t range) const { return depths_[range]; }
    /// The innermost range that was open on the thread at the time.
    [[nodiscard]] std::optional<std::size_t> at(std::uint32_t thread, std::uint64_t time) const;

  private:
    static constexpr std::size_t none = SIZE_MAX;
    struct Change {
        std::uint64_t time = 0;
        std::size_t innermost = none;  ///< from that time on
    };

    std::vector<std::size_t> parents_, depths_;
    std::unordered_map<std::uint32_t, std::vector<Change>> changes_;  ///< by thread, in order
};

}  // namespace perfgate::activity

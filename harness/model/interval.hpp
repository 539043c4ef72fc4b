// SPDX-License-Identifier: Apache-2.0
// Sets of intervals on the time line: when something was busy. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace perfgate::model {

/// Half-open, in nanoseconds; empty if `end` is not after `begin`.
struct Interval {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;

    [[nodiscard]] std::uint64_t length() const { return end > begin ? end - begin : 0; }
    bool operator==(const Interval&) const = default;
};

Interval intersection(Interval a, Interval b);

/// The union of intervals, in order and apart from each other; answers in O(log n).
class IntervalSet {
  public:
    IntervalSet() = default;
    explicit IntervalSet(std::vector<Interval> intervals);

    [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }
    [[nodiscard]] std::uint64_t length() const;
    /// Of the part within the window.
    [[nodiscard]] std::uint64_t length(Interval window) const;
    /// What of the window is not in the set, in order.
    [[nodiscard]] std::vector<Interval> gaps(Interval window) const;
    /// Of what both have.
    [[nodiscard]] std::uint64_t overlap(const IntervalSet& other) const;

  private:
    [[nodiscard]] std::uint64_t length_before(std::uint64_t time) const;

    std::vector<Interval> intervals_;
    std::vector<std::uint64_t> before_;  ///< length of all that come before each
};

}  // namespace perfgate::model

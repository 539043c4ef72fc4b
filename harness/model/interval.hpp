// SPDX-License-Identifier: Apache-2.0
// Sets of time intervals: when something was busy. Pure functions.
#pragma once

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

/// The union of intervals, sorted and disjoint; queries take O(log n).
class IntervalSet {
  public:
    IntervalSet() = default;
    explicit IntervalSet(std::vector<Interval> intervals);

    [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }
    [[nodiscard]] std::uint64_t length() const;
    /// Length of the part within the window.
    [[nodiscard]] std::uint64_t length(Interval window) const;
    /// The gaps: parts of the window that are not in the set, in order.
    [[nodiscard]] std::vector<Interval> gaps(Interval window) const;
    /// Length of the intersection.
    [[nodiscard]] std::uint64_t overlap(const IntervalSet& other) const;

  private:
    [[nodiscard]] std::uint64_t length_before(std::uint64_t time) const;

    std::vector<Interval> intervals_;
    std::vector<std::uint64_t> before_;  ///< total length of all intervals before each
};

}  // namespace perfgate::model

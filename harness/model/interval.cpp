// SPDX-License-Identifier: Apache-2.0
#include "model/interval.hpp"

#include <algorithm>
#include <iterator>

namespace perfgate::model {

Interval intersection(Interval a, Interval b) {
    return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

IntervalSet::IntervalSet(std::vector<Interval> intervals) {
    std::ranges::sort(intervals, {}, &Interval::begin);
    for (const Interval& next : intervals) {
        if (next.length() == 0) continue;
        if (!intervals_.empty() && next.begin <= intervals_.back().end) {
            intervals_.back().end = std::max(intervals_.back().end, next.end);
        } else {
            intervals_.push_back(next);
        }
    }
    before_.reserve(intervals_.size());
    std::uint64_t sum = 0;
    for (const Interval& each : intervals_) {
        before_.push_back(sum);
        sum += each.length();
    }
}

std::uint64_t IntervalSet::length() const {
    return intervals_.empty() ? 0 : before_.back() + intervals_.back().length();
}

std::uint64_t IntervalSet::length_before(std::uint64_t time) const {
    const auto after = std::ranges::partition_point(
        intervals_, [&](const Interval& each) { return each.begin < time; });
    if (after == intervals_.begin()) return 0;
    const auto index = static_cast<std::size_t>(std::distance(intervals_.begin(), after)) - 1;
    return before_[index] + intersection(intervals_[index], {0, time}).length();
}

std::uint64_t IntervalSet::length(Interval window) const {
    if (window.length() == 0) return 0;
    return length_before(window.end) - length_before(window.begin);
}

std::vector<Interval> IntervalSet::gaps(Interval window) const {
    std::vector<Interval> result;
    std::uint64_t from = window.begin;
    auto next = std::ranges::partition_point(
        intervals_, [&](const Interval& each) { return each.end <= from; });
    for (; next != intervals_.end() && next->begin < window.end; ++next) {
        if (next->begin > from) result.push_back({from, next->begin});
        from = next->end;
    }
    if (from < window.end) result.push_back({from, window.end});
    return result;
}

std::uint64_t IntervalSet::overlap(const IntervalSet& other) const {
    std::uint64_t sum = 0;
    for (const Interval& each : intervals_) sum += other.length(each);
    return sum;
}

}  // namespace perfgate::model

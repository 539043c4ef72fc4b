// SPDX-License-Identifier: Apache-2.0
#include "activity/nesting.hpp"

#include <algorithm>

namespace perfgate::activity {

Nesting::Nesting(const Timeline& timeline) {
    const auto ranges = timeline.ranges();
    parents_.assign(ranges.size(), none);
    depths_.assign(ranges.size(), 0);
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> open;  // by thread, innermost last
    // Takes off what has ended by the time; what is below one that is still open stays until then.
    const auto close = [&](std::uint32_t thread, std::uint64_t time) {
        std::vector<std::size_t>& stack = open[thread];
        while (!stack.empty() && ranges[stack.back()].time.end <= time) {
            const std::uint64_t end = ranges[stack.back()].time.end;
            while (!stack.empty() && ranges[stack.back()].time.end <= end) stack.pop_back();
            changes_[thread].push_back({end, stack.empty() ? none : stack.back()});
        }
    };
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const Range& range = ranges[i];
        close(range.thread, range.time.begin);
        std::vector<std::size_t>& stack = open[range.thread];
        if (!stack.empty()) {
            parents_[i] = stack.back();
            depths_[i] = depths_[stack.back()] + 1;
        }
        if (range.time.length() == 0) continue;
        stack.push_back(i);
        changes_[range.thread].push_back({range.time.begin, i});
    }
    for (const auto& each : open) close(each.first, UINT64_MAX);
}

std::optional<std::size_t> Nesting::parent(std::size_t range) const {
    if (parents_[range] == none) return std::nullopt;
    return parents_[range];
}

std::optional<std::size_t> Nesting::at(std::uint32_t thread, std::uint64_t time) const {
    const auto found = changes_.find(thread);
    if (found == changes_.end()) return std::nullopt;
    const auto after =
        std::partition_point(found->second.begin(), found->second.end(),
                             [&](const Change& change) { return change.time <= time; });
    if (after == found->second.begin() || (after - 1)->innermost == none) return std::nullopt;
    return (after - 1)->innermost;
}

}  // namespace perfgate::activity

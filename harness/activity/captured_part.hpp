// SPDX-License-Identifier: Apache-2.0
// The part of a process that a capture range leaves, as windows of time. Pure functions.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "activity/timeline.hpp"
#include "model/capture_range.hpp"

namespace perfgate::activity {

inline constexpr Interval always{0, std::numeric_limits<std::uint64_t>::max()};

struct CapturedPart {
    bool whole = true;  ///< nothing is left out
    /// Not empty each, in order and disjoint.
    std::vector<Interval> windows{always};
    std::string missing;  ///< why there are no windows; empty if there are some
    std::string note;     ///< what a reader of the numbers should know

    /// Whether one window has all of that time.
    [[nodiscard]] bool contains(Interval time) const;
    /// What was launched in the windows.
    [[nodiscard]] std::vector<Work> launched(const Timeline& timeline) const;
    /// Leaves only what is in `others` as well, which are in order and disjoint.
    void restrict_to(const std::vector<Interval>& others);
};

CapturedPart captured_part(const Timeline& timeline, const model::CaptureRange& capture);

}  // namespace perfgate::activity

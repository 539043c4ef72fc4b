// SPDX-License-Identifier: Apache-2.0
// What the page of `perfgate profile --html` shows, as JSON on one line;
// report/html/src/profile/document.ts has its shape. It has no version, because the page comes from
// the same build.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "activity/profile.hpp"
#include "activity/timeline.hpp"

namespace perfgate::activity {

struct PageLimits {
    std::size_t events = 200'000;  ///< of all timelines together
    std::size_t processes = 16;
    std::size_t tracks = 128;            ///< of a process
    std::size_t rows = 1000;             ///< of a table
    std::size_t text_bytes = 8'000'000;  ///< of names; what comes later is cut short
};

/// The page says what the limits leave out. Names are made printable, but may contain markup: the
/// page's writer escapes it.
std::string page_data(const std::vector<Timeline>& processes, const std::vector<Profile>& profiles,
                      const PageLimits& limits = {});

}  // namespace perfgate::activity

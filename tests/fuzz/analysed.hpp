// SPDX-License-Identifier: Apache-2.0
// What a reader lets pass, the analysis has to take.
#pragma once

#include <vector>

#include "activity/analysis.hpp"
#include "activity/outputs.hpp"
#include "activity/recording.hpp"
#include "activity/timeline.hpp"

namespace perfgate::fuzz {

inline void analyse(const std::vector<activity::Recording>& recordings) {
    std::vector<activity::Timeline> timelines;
    std::vector<activity::Profile> profiles;
    for (const activity::Recording& recording : recordings) {
        timelines.emplace_back(recording);
        profiles.push_back(activity::profile_of(timelines.back()));
    }
    activity::write_profiles(profiles);
    activity::PageLimits limits;
    limits.events = 8;
    activity::page_data(timelines, profiles, limits);
}

}  // namespace perfgate::fuzz

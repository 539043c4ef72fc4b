// SPDX-License-Identifier: Apache-2.0
// Which metrics of a recorded program contain the host's time between launches, which recording
// lengthens, are shares of a span that does, or depend on when the host launches.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace perfgate::model {

inline constexpr std::string_view host_metrics[] = {"span",
                                                    "idle_share",
                                                    "longest_idle",
                                                    "exposed_copy_share",
                                                    "communication_share",
                                                    "exposed_communication_share",
                                                    "communication_skew",
                                                    "own_span"};

inline bool contains_host_time(std::string_view metric) {
    return std::find(std::begin(host_metrics), std::end(host_metrics), metric) !=
           std::end(host_metrics);
}

}  // namespace perfgate::model

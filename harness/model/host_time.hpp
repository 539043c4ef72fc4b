// SPDX-License-Identifier: Apache-2.0
// Which metrics of a recorded program contain the host's time between launches, which recording
// lengthens, are shares of a span that does, or depend on when the host launches.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
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
    return std::ranges::find(host_metrics, metric) != std::end(host_metrics);
}

// The detail of such a metric, and of no other, may say, behind what it consists of, what the host
// did meanwhile.

inline constexpr std::string_view host_mark = "; host: ";

inline std::string_view without_host(std::string_view detail) {
    return detail.substr(0, detail.rfind(host_mark));
}
/// Empty: it does not say.
inline std::string_view host_in(std::string_view detail) {
    const std::size_t mark = detail.rfind(host_mark);
    return mark == std::string_view::npos ? "" : detail.substr(mark + host_mark.size());
}
inline std::string with_host(std::string_view detail, std::string_view host) {
    std::string text(without_host(detail));
    text += host_mark;
    // A function may have any name.
    for (std::size_t mark = host.find(host_mark); mark != host.npos; mark = host.find(host_mark)) {
        text.append(host.substr(0, mark)).append(", ");
        host.remove_prefix(mark + host_mark.size());
    }
    return text.append(host);
}

}  // namespace perfgate::model

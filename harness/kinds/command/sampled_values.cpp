// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "activity/analysis.hpp"
#include "activity/samples.hpp"
#include "kinds/command/instances.hpp"
#include "kinds/command/pieces.hpp"
#include "util/text.hpp"

namespace perfgate::command {
namespace {

using activity::DeviceSamples;
using activity::Interval;

/// A share is a mean, but bytes are a sum: time without samples has bytes that nobody counted.
constexpr double least_covered_share = 0.5, least_covered_bytes = 0.95;

/// The windows of each instance: one of a range, those that count of a process.
using Windows = std::vector<std::pair<const activity::Timeline*, std::vector<Interval>>>;

Windows windows_of(const Recorded& recorded, const Piece& piece) {
    Windows windows;
    if (piece.kind == Piece::Kind::range) {
        for (const Instance& each :
             instances_of(recorded, piece.pattern, piece, piece.skip).counted) {
            const auto work = activity::summarise(*each.timeline, each.time, each.thread);
            windows.emplace_back(each.timeline, std::vector{work.window});
        }
        return windows;
    }
    for (const auto& [timeline, part] : recorded.processes()) {
        if (part.launched(timeline).empty()) continue;
        windows.emplace_back(&timeline,
                             part.whole ? std::vector{timeline.device_span()} : part.windows);
    }
    return windows;
}

}  // namespace

SampledValues sampled_values_of(const Recorded& recorded, const Piece& piece) {
    SampledValues values;
    values.problem = recorded.missing();
    if (!values.problem.empty()) return values;
    std::map<const activity::Timeline*, DeviceSamples> samples;
    const Windows windows = windows_of(recorded, piece);
    std::size_t worked = 0;              // instances
    std::set<std::string_view> unknown;  // rows without a value of an instance
    for (const auto& [timeline, own] : windows) {
        const DeviceSamples& device = samples.try_emplace(timeline, *timeline).first->second;
        double seconds = 0;
        for (const Interval& window : own) seconds += as_double(window.length()) / 1e9;
        if (timeline->work().empty() || seconds == 0) continue;  // as of a process that loads data
        ++worked;
        const bool too_early =
            piece.kind == Piece::Kind::range && own.front().begin < device.begin();
        for (const activity::SampledRow& row : activity::sampled_rows()) {
            auto mean =
                device.over(row, own, row.is_share ? least_covered_share : least_covered_bytes);
            // The ends of a window have bytes, too.
            if (mean && !row.is_share) {
                mean = device.over(row, own, least_covered_bytes, DeviceSamples::Across::in_part);
            }
            if (!mean) {
                if (!too_early) unknown.insert(row.name);
                continue;
            }
            values.samples[std::string(row.name)].push_back(row.is_share ? mean->value
                                                                         : mean->value * seconds);
        }
    }
    std::erase_if(values.samples, [&](const auto& each) { return unknown.contains(each.first); });
    for (const auto& [name, found] : values.samples) {
        if (found.size() == worked) continue;
        values.details[name] = fmt::format("{} of {}; the others began before the GPU was sampled",
                                           found.size(), util::counted(worked, "instance"));
    }
    const bool any =
        std::ranges::any_of(samples, [](const auto& each) { return each.second.any(); });
    if (windows.empty()) {
        values.problem = fmt::format("nothing matches '{}' in the run in which the GPU was sampled",
                                     util::printable(piece.pattern, 100));
    } else if (!any) {
        values.problem = "the GPU was not sampled while the program used it";
    } else {
        values.absent =
            "the GPU does not sample it together with the others, or did not sample enough of each "
            "instance: half of its time, of bytes 95 %";
    }
    return values;
}

}  // namespace perfgate::command

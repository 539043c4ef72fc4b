// SPDX-License-Identifier: Apache-2.0
#include "activity/range_kernels.hpp"

#include <string_view>
#include <unordered_map>
#include <utility>

namespace perfgate::activity {
namespace {

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

/// For each launch configuration the place of its kernel in the profile.
std::vector<std::size_t> places_of(const Recording& recording, const Profile& profile) {
    std::unordered_map<std::string_view, std::size_t> by_symbol;
    for (std::size_t i = 0; i < profile.kernels.size(); ++i) {
        by_symbol.emplace(profile.kernels[i].symbol, i);
    }
    std::vector<std::size_t> places;
    places.reserve(recording.configurations.size());
    for (const LaunchConfiguration& each : recording.configurations) {
        const auto place = by_symbol.find(recording.text(each.symbol));
        places.push_back(place == by_symbol.end() ? nowhere : place->second);
    }
    return places;
}

/// Nothing if one of them is not in the profile, which may cover a part of the range only.
std::vector<RangeKernel> kernels_of(const Timeline& timeline, bool own_thread,
                                    const RangeSummary& range,
                                    const std::vector<std::size_t>& places) {
    const Records& records = timeline.recording().records;
    std::vector<RangeKernel> kernels;
    std::unordered_map<std::size_t, std::size_t> known;
    for (const RangeInstance& instance : range.instances) {
        for (const Work& work : timeline.launched_in(instance.range.time)) {
            if (work.kind != WorkKind::kernel) continue;
            if (own_thread && work.thread != instance.range.thread) continue;
            const std::size_t place = places[records.kernels[work.index].configuration];
            if (place == nowhere) return {};
            const auto [seen, added] = known.try_emplace(place, kernels.size());
            if (added) kernels.push_back({place});
            RangeKernel& kernel = kernels[seen->second];
            ++kernel.launches;
            kernel.total_ns += work.time.length();
        }
    }
    return kernels;
}

}  // namespace

void add_range_kernels(const Timeline& timeline, bool own_thread, Profile& profile,
                       const RangeKernelLimits& limits) {
    const std::vector<std::size_t> places = places_of(timeline.recording(), profile);
    std::size_t left = limits.in_all;
    for (RangeSummary& range : profile.ranges) {
        std::vector<RangeKernel> kernels = kernels_of(timeline, own_thread, range, places);
        if (kernels.size() > limits.of_a_range || kernels.size() > left) continue;
        left -= kernels.size();
        range.kernels = std::move(kernels);
    }
}

}  // namespace perfgate::activity

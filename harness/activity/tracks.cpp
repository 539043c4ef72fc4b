// SPDX-License-Identifier: Apache-2.0
#include "activity/tracks.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "activity/waiting.hpp"

namespace perfgate::activity {
namespace {

constexpr std::size_t most_rows(TrackKind kind) {
    return kind == TrackKind::ranges ? 16 : 4;
}

bool overlaps(Interval time, Interval window) {
    return time.begin < window.end && time.end > window.begin;
}

void assign_rows(Track& track) {
    track.recorded = track.events.size();
    std::ranges::stable_sort(track.events, [](const auto& a, const auto& b) {
        return a.time.begin != b.time.begin ? a.time.begin < b.time.begin : a.time.end > b.time.end;
    });
    Rows rows(most_rows(track.kind));
    for (TrackEvent& event : track.events) event.row = rows.row_for(event.time);
    track.rows = rows.count();
    std::ranges::stable_sort(track.events,
                             [](const auto& a, const auto& b) { return a.row < b.row; });
}

EventKind kind_of(WorkKind kind) {
    switch (kind) {
        case WorkKind::kernel:
            return EventKind::kernel;
        case WorkKind::copy:
            return EventKind::copy;
        case WorkKind::memset:
            return EventKind::memset;
    }
    return EventKind::kernel;
}

/// Merges what of one row is not kept into at most `most` events, and at least two.
void merge_row(const std::vector<TrackEvent>& left_out, std::size_t most,
               std::vector<TrackEvent>& to) {
    if (left_out.empty()) return;
    const std::uint64_t begin = left_out.front().time.begin;
    const std::uint64_t cell =
        (left_out.back().time.begin - begin) / std::max<std::size_t>(most, 2) + 1;
    std::uint64_t last_cell = UINT64_MAX, longest = 0;
    for (const TrackEvent& event : left_out) {
        const std::uint64_t own_cell = (event.time.begin - begin) / cell;
        if (own_cell != last_cell) {
            to.push_back(event);
            last_cell = own_cell;
            longest = event.time.length();
            continue;
        }
        TrackEvent& merged = to.back();
        merged.time.end = std::max(merged.time.end, event.time.end);
        ++merged.merged;
        merged.covered_ns += event.time.length();
        if (event.time.length() > longest) {
            longest = event.time.length();
            merged.kind = event.kind;
            merged.index = event.index;
        }
    }
}

/// `share`: how many events may come of one that is left out.
void merge_short(Track& track, std::uint64_t longer_than, double share) {
    std::vector<TrackEvent> result, kept, left_out;
    for (auto event = track.events.begin(); event != track.events.end();) {
        const std::uint32_t row = event->row;
        kept.clear();
        left_out.clear();
        for (; event != track.events.end() && event->row == row; ++event) {
            (event->time.length() > longer_than ? kept : left_out).push_back(*event);
        }
        const auto first = static_cast<std::ptrdiff_t>(result.size());
        merge_row(left_out, static_cast<std::size_t>(share * static_cast<double>(left_out.size())),
                  result);
        // Merged ones come first where both begin, so that they are drawn below.
        const auto middle = static_cast<std::ptrdiff_t>(result.size());
        result.insert(result.end(), kept.begin(), kept.end());
        std::inplace_merge(
            result.begin() + first, result.begin() + middle, result.end(),
            [](const auto& a, const auto& b) { return a.time.begin < b.time.begin; });
    }
    track.events = std::move(result);
}

}  // namespace

std::uint32_t Rows::row_for(Interval time) {
    std::size_t row = 0;
    while (row < ends_.size() && ends_[row] > time.begin) ++row;
    row = std::min(row, most_ - 1);
    if (row == ends_.size()) ends_.push_back(0);
    ends_[row] = std::max(ends_[row], time.end);
    return static_cast<std::uint32_t>(row);
}

std::vector<Track> tracks_of(const Timeline& timeline, Interval window) {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Track> streams;
    for (std::size_t i = 0; i < timeline.work().size(); ++i) {
        const Work& work = timeline.work()[i];
        if (!overlaps(work.time, window)) continue;
        const Place& place = timeline.place(work);
        Track& track = streams[{place.device, place.context, place.stream}];
        track.device = place.device;
        track.context = place.context;
        track.stream = place.stream;
        track.events.push_back({work.time, kind_of(work.kind), 0, i, 1, work.time.length()});
    }
    std::map<std::pair<std::uint32_t, TrackKind>, Track> threads;
    const auto add = [&](std::uint32_t thread, TrackKind kind, const TrackEvent& event) {
        Track& track = threads[{thread, kind}];
        track.kind = kind;
        track.thread = thread;
        track.events.push_back(event);
    };
    for (std::size_t i = 0; i < timeline.ranges().size(); ++i) {
        const Range& range = timeline.ranges()[i];
        if (!overlaps(range.time, window)) continue;
        add(range.thread, TrackKind::ranges,
            {range.time, EventKind::range, 0, i, 1, range.time.length()});
    }
    std::unordered_map<StringId, EventKind> kinds;
    for (std::size_t i = 0; i < timeline.api_calls().size(); ++i) {
        const ApiCall& call = timeline.api_calls()[i];
        const Interval time{call.start_ns, call.end_ns};
        if (!overlaps(time, window)) continue;
        const auto [kind, added] = kinds.try_emplace(call.name, EventKind::call);
        if (added && waits_for_device(timeline.recording().text(call.name))) {
            kind->second = EventKind::wait;
        }
        add(call.thread, TrackKind::calls, {time, kind->second, 0, i, 1, time.length()});
    }
    std::vector<Track> tracks;
    tracks.reserve(streams.size() + threads.size());
    for (auto& each : streams) tracks.push_back(std::move(each.second));
    for (auto& each : threads) tracks.push_back(std::move(each.second));
    for (Track& track : tracks) assign_rows(track);
    return tracks;
}

std::size_t drop_small_tracks(std::vector<Track>& tracks, std::size_t most) {
    if (tracks.size() <= most) return 0;
    // In the order that they have. Ranges stay with the calls of their thread.
    std::map<std::uint32_t, std::size_t> of_thread;
    for (const Track& track : tracks) {
        if (track.kind != TrackKind::device) of_thread[track.thread] += track.recorded;
    }
    const auto weight = [&](std::size_t i) {
        const Track& track = tracks[i];
        return track.kind == TrackKind::device ? track.recorded : of_thread[track.thread];
    };
    std::vector<std::size_t> order(tracks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return weight(a) > weight(b); });
    const std::size_t dropped = order.size() - most;
    order.resize(most);
    std::ranges::sort(order);
    std::vector<Track> kept;
    kept.reserve(most);
    for (const std::size_t i : order) kept.push_back(std::move(tracks[i]));
    tracks = std::move(kept);
    return dropped;
}

Reduction reduce(const std::vector<Track*>& tracks, std::size_t limit) {
    Reduction reduction;
    std::vector<std::uint64_t> lengths;
    for (const Track* track : tracks) {
        for (const TrackEvent& event : track->events) lengths.push_back(event.time.length());
    }
    reduction.kept = reduction.recorded = lengths.size();
    if (lengths.size() <= limit) return reduction;

    // Half of the room is for the longest, what remains for what the others are merged into.
    const auto most_kept = static_cast<std::ptrdiff_t>(limit / 2);
    std::nth_element(lengths.begin(), lengths.begin() + most_kept, lengths.end(), std::greater<>());
    const std::uint64_t longer_than = lengths[limit / 2];
    reduction.kept = static_cast<std::size_t>(
        std::count_if(lengths.begin(), lengths.begin() + most_kept,
                      [&](std::uint64_t length) { return length > longer_than; }));
    reduction.longer_than_ns = longer_than;
    const double share = static_cast<double>(limit - reduction.kept) /
                         static_cast<double>(reduction.recorded - reduction.kept);
    for (Track* track : tracks) merge_short(*track, longer_than, share);
    return reduction;
}

}  // namespace perfgate::activity

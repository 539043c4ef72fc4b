// SPDX-License-Identifier: Apache-2.0
#include "activity/tracks.hpp"

#include <algorithm>
#include <functional>
#include <map>
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
    std::stable_sort(track.events.begin(), track.events.end(), [](const auto& a, const auto& b) {
        return a.time.begin != b.time.begin ? a.time.begin < b.time.begin : a.time.end > b.time.end;
    });
    std::vector<std::uint64_t> ends;  // of each row
    for (TrackEvent& event : track.events) {
        std::size_t row = 0;
        while (row < ends.size() && ends[row] > event.time.begin) ++row;
        row = std::min(row, most_rows(track.kind) - 1);
        if (row == ends.size()) ends.push_back(0);
        ends[row] = std::max(ends[row], event.time.end);
        event.row = static_cast<std::uint32_t>(row);
    }
    track.rows = static_cast<std::uint32_t>(ends.size());
    std::stable_sort(track.events.begin(), track.events.end(),
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

/// What of one row is not kept, in pieces of at least `cell` ns.
void merge_row(const std::vector<TrackEvent>& left_out, std::uint64_t cell,
               std::vector<TrackEvent>& to) {
    for (const TrackEvent& event : left_out) {
        const bool joins = !to.empty() && to.back().kind == EventKind::merged &&
                           to.back().row == event.row &&
                           to.back().time.begin / cell == event.time.begin / cell;
        if (joins) {
            to.back().time.end = std::max(to.back().time.end, event.time.end);
            ++to.back().index;
            to.back().covered_ns += event.time.length();
        } else {
            to.push_back({event.time, EventKind::merged, event.row, 1, event.time.length()});
        }
    }
}

void merge_short(Track& track, const std::function<bool(const TrackEvent&)>& is_kept,
                 std::uint64_t cell) {
    std::vector<TrackEvent> result, kept, left_out;
    for (auto event = track.events.begin(); event != track.events.end();) {
        const std::uint32_t row = event->row;
        kept.clear();
        left_out.clear();
        for (; event != track.events.end() && event->row == row; ++event) {
            (is_kept(*event) ? kept : left_out).push_back(*event);
        }
        const auto first = static_cast<std::ptrdiff_t>(result.size());
        merge_row(left_out, cell, result);
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
        track.events.push_back({work.time, kind_of(work.kind), 0, i, 0});
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
        add(range.thread, TrackKind::ranges, {range.time, EventKind::range, 0, i, 0});
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
        add(call.thread, TrackKind::calls, {time, kind->second, 0, i, 0});
    }
    std::vector<Track> tracks;
    for (auto& each : streams) tracks.push_back(std::move(each.second));
    for (auto& each : threads) tracks.push_back(std::move(each.second));
    for (Track& track : tracks) assign_rows(track);
    return tracks;
}

Reduction reduce(std::vector<Track*> tracks, std::size_t limit) {
    Reduction reduction;
    std::size_t rows = 0;
    Interval span{UINT64_MAX, 0};
    std::vector<std::uint64_t> lengths;
    for (const Track* track : tracks) {
        reduction.recorded += track->events.size();
        rows += track->rows;
        for (const TrackEvent& event : track->events) {
            lengths.push_back(event.time.length());
            span.begin = std::min(span.begin, event.time.begin);
            span.end = std::max(span.end, event.time.end);
        }
    }
    reduction.kept = reduction.recorded;
    if (reduction.recorded <= limit) return reduction;

    // Half of the room is for the longest, half for what the others are merged into.
    const std::size_t most_kept = limit / 2;
    std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(most_kept),
                     lengths.end(), std::greater<>());
    const std::uint64_t longer_than = lengths[most_kept];
    reduction.shortest_kept_ns = longer_than + 1;
    const std::size_t cells =
        std::max<std::size_t>((limit - most_kept) / std::max<std::size_t>(rows, 1), 2);
    // A row has one cell more than fit into the span, where it begins within a cell.
    const std::uint64_t cell = span.length() / (cells - 1) + 1;
    reduction.kept = 0;
    for (Track* track : tracks) {
        merge_short(
            *track,
            [&](const TrackEvent& event) {
                const bool kept = event.time.length() > longer_than;
                reduction.kept += kept ? 1 : 0;
                return kept;
            },
            cell);
    }
    return reduction;
}

}  // namespace perfgate::activity

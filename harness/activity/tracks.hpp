// SPDX-License-Identifier: Apache-2.0
// What a drawing of a timeline has: tracks with rows of events, so many that a page can hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "activity/timeline.hpp"

namespace perfgate::activity {

enum class TrackKind : std::uint8_t { device, ranges, calls };
enum class EventKind : std::uint8_t { kernel, copy, memset, range, call, wait, merged };

struct TrackEvent {
    Interval time;
    EventKind kind = EventKind::kernel;
    std::uint32_t row = 0;
    /// In the timeline's work, ranges or calls; of `merged`: how many events it stands for.
    std::uint64_t index = 0;
    std::uint64_t covered_ns = 0;  ///< of `merged`: the sum of their lengths
};

struct Track {
    TrackKind kind = TrackKind::device;
    std::uint32_t device = 0, context = 0, stream = 0;  ///< of TrackKind::device
    std::uint32_t thread = 0;                           ///< of the others
    std::uint32_t rows = 0;
    std::size_t recorded = 0;        ///< events before any were merged
    std::vector<TrackEvent> events;  ///< by row, then by begin
};

/// Streams by device, then for each thread its ranges and its calls. Events of a track that overlap
/// are in different rows; where there are more than a drawing has room for, the last row has the
/// rest.
std::vector<Track> tracks_of(const Timeline& timeline, Interval window);

struct Reduction {
    std::size_t recorded = 0;
    std::size_t kept = 0;  ///< events that are still one by one
    std::uint64_t shortest_kept_ns = 0;
};

/// Leaves at most `limit` events in all: the longest as they are; the others merged with their
/// neighbours of the same row, so that a drawing still shows where something happened.
Reduction reduce(std::vector<Track*> tracks, std::size_t limit);

}  // namespace perfgate::activity

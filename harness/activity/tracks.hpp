// SPDX-License-Identifier: Apache-2.0
// What a drawing of a timeline has: tracks with rows of events, so many that a page can hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "activity/timeline.hpp"
#include "util/text.hpp"

namespace perfgate::activity {

enum class TrackKind : std::uint8_t { device, ranges, calls };
enum class EventKind : std::uint8_t { kernel, copy, memset, range, call, wait };

constexpr std::string_view to_text(TrackKind kind) {
    return util::word_of<TrackKind::calls>(kind, {"device", "ranges", "calls"});
}
constexpr std::string_view to_text(EventKind kind) {
    return util::word_of<EventKind::wait>(kind,
                                          {"kernel", "copy", "memset", "range", "call", "wait"});
}

struct TrackEvent {
    Interval time;
    EventKind kind = EventKind::kernel;
    std::uint32_t row = 0;
    std::uint64_t index = 0;       ///< in the timeline's work, ranges or calls
    std::uint64_t merged = 1;      ///< how many it stands for; `index` is the longest of them
    std::uint64_t covered_ns = 0;  ///< the sum of their lengths
};

struct Track {
    TrackKind kind = TrackKind::device;
    std::uint32_t device = 0, context = 0, stream = 0;  ///< of TrackKind::device
    std::uint32_t thread = 0;                           ///< of the others
    std::uint32_t rows = 0;
    std::size_t recorded = 0;        ///< events before any were merged
    std::vector<TrackEvent> events;  ///< by row, then by begin
};

/// Gives intervals rows, in the order of their begins: those that overlap are in different rows,
/// but for the last one where there is a most.
class Rows {
  public:
    explicit Rows(std::size_t most = SIZE_MAX) : most_(most) {}

    std::uint32_t row_for(Interval time);
    [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(ends_.size()); }

  private:
    std::size_t most_;
    std::vector<std::uint64_t> ends_;  ///< of each row
};

/// Streams by device, then for each thread its ranges and its calls. Events of a track that overlap
/// are in different rows; where there are more than a drawing has room for, the last row has the
/// rest.
std::vector<Track> tracks_of(const Timeline& timeline, Interval window);

/// Leaves at most this many, those with the most events. Returns how many it drops.
std::size_t drop_small_tracks(std::vector<Track>& tracks, std::size_t most);

struct Reduction {
    std::size_t recorded = 0;
    std::size_t kept = 0;              ///< events that are still one by one
    std::uint64_t longer_than_ns = 0;  ///< what is kept, where not all is
};

/// Leaves at most `limit` events in all, or two for each row: the longest as they are; the others
/// merged with their neighbours of the same row, so that a drawing still shows where something
/// happened.
Reduction reduce(const std::vector<Track*>& tracks, std::size_t limit);

}  // namespace perfgate::activity

// SPDX-License-Identifier: Apache-2.0
#include "activity/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "activity/analysis.hpp"
#include "activity/timeline.hpp"
#include "activity/tracks.hpp"
#include "document/json_writer.hpp"
#include "model/quantity.hpp"
#include "util/text.hpp"

namespace perfgate::activity {
namespace {

using document::JsonLayout;
using document::JsonWriter;
using document::write_field;
using document::write_unless_default;

constexpr std::size_t longest_name = 1000, short_name = 60;
constexpr std::size_t busy_pieces = 600;  ///< of the time, for the overview

/// Texts by number, in order of first use.
class Texts {
  public:
    explicit Texts(std::size_t bytes) : room_(bytes) {}

    std::int64_t number(std::string_view text) {
        const auto [known, added] = numbers_.try_emplace(std::string(text), numbers_.size());
        if (added) {
            texts_.push_back(
                util::printable(text, text.size() <= room_ ? longest_name : short_name));
            room_ -= std::min(room_, texts_.back().size());
        }
        return static_cast<std::int64_t>(known->second);
    }

    [[nodiscard]] const std::vector<std::string>& all() const { return texts_; }

  private:
    std::unordered_map<std::string, std::size_t> numbers_;
    std::vector<std::string> texts_;
    std::size_t room_;
};

/// What an event is, apart from its time.
struct Kind {
    EventKind kind = EventKind::kernel;
    std::int64_t name = 0;
    bool merged = false;  ///< several events; of the longest of them are the kind and the name
    const LaunchConfiguration* launch = nullptr;  ///< of a kernel
    const Copy* copy = nullptr;                   ///< of a copy: one of those that are alike
};

/// Each kind once, by number.
class Kinds {
  public:
    /// `other` tells two apart that have one name.
    std::int64_t number(const Kind& kind, std::uint64_t other = 0) {
        const auto [known, added] =
            numbers_.try_emplace({kind.kind, kind.name, kind.merged, other}, kinds_.size());
        if (added) kinds_.push_back(kind);
        return static_cast<std::int64_t>(known->second);
    }

    [[nodiscard]] const std::vector<Kind>& all() const { return kinds_; }

  private:
    std::map<std::tuple<EventKind, std::int64_t, bool, std::uint64_t>, std::size_t> numbers_;
    std::vector<Kind> kinds_;
};

std::string dimensions_text(const std::array<std::uint32_t, 3>& size) {
    return fmt::format("{}×{}×{}", size[0], size[1], size[2]);
}

void write_kind(JsonWriter& json, const Kind& kind) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "kind", static_cast<std::int64_t>(kind.kind));
    write_field(json, "name", kind.name);
    write_unless_default(json, "merged", kind.merged);
    if (kind.launch != nullptr) {
        const LaunchConfiguration& launch = *kind.launch;
        write_field(json, "grid", dimensions_text(launch.grid));
        write_field(json, "block", dimensions_text(launch.block));
        write_field(json, "registers", std::uint64_t{launch.registers_per_thread});
        write_field(json, "shared_bytes",
                    std::uint64_t{launch.static_smem_bytes} + launch.dynamic_smem_bytes);
    }
    if (kind.copy != nullptr) {
        write_field(json, "from", to_text(kind.copy->source));
        write_field(json, "to", to_text(kind.copy->destination));
    }
    json.end_object();
}

void write_durations(JsonWriter& json, const Durations& time) {
    write_field(json, "count", time.count);
    write_field(json, "total_ns", time.total_ns);
    write_field(json, "median_ns", time.median_ns);
    write_field(json, "min_ns", time.minimum_ns);
    write_field(json, "max_ns", time.maximum_ns);
}

/// The window of the profile; for a profile of the whole program all that is on record.
Interval shown_time(const Timeline& timeline, const Profile& profile) {
    return profile.window == timeline.device_span() ? timeline.span() : profile.window;
}

/// The tracks of a process that the page shows, and how many it leaves out.
struct Drawing {
    Interval time;
    std::vector<Track> tracks;
    std::size_t tracks_left_out = 0;
};

Drawing drawing_of(const Timeline& timeline, const Profile& profile, std::size_t most_tracks) {
    Drawing drawing;
    drawing.time = shown_time(timeline, profile);
    drawing.tracks = tracks_of(timeline, drawing.time);
    drawing.tracks_left_out = drop_small_tracks(drawing.tracks, most_tracks);
    return drawing;
}

class ProcessWriter {
  public:
    ProcessWriter(JsonWriter& json, Texts& texts, Kinds& kinds, std::uint32_t process,
                  const Timeline& timeline, const Profile& profile, const PageLimits& limits)
        : json_(json),
          texts_(texts),
          kinds_(kinds),
          process_(process),
          timeline_(timeline),
          profile_(profile),
          limits_(limits),
          nesting_(timeline),
          works_(work_of_ranges(timeline, profile)) {}

    void write(const Drawing& drawing) {
        origin_ = drawing.time.begin;
        json_.begin_object(JsonLayout::compact);
        write_head(drawing);
        write_tables();
        write_busy(drawing.time);
        json_.key("tracks");
        json_.begin_array(JsonLayout::compact);
        for (const Track& track : drawing.tracks) write_track(track);
        json_.end_array();
        json_.end_object();
    }

  private:
    void write_head(const Drawing& drawing);
    void write_work(const WorkSummary& work);
    void write_tables();
    void write_busy(Interval time);
    void write_track(const Track& track);
    void write_event(const TrackEvent& event);
    std::int64_t kind_of(const TrackEvent& event);

    std::uint64_t since_origin(std::uint64_t time) const { return time - std::min(time, origin_); }

    std::int64_t range_at(std::uint32_t thread, std::uint64_t time) {
        const auto range = thread == 0 ? std::nullopt : nesting_.at(thread, time);
        return range ? texts_.number(timeline_.range_name(timeline_.ranges()[*range])) : -1;
    }

    /// The first rows of a table; the page says how many more there are.
    template <class Items, class Row>
    void write_table(std::string_view key, const Items& items, const Row& row) {
        json_.key(key);
        json_.begin_object(JsonLayout::compact);
        write_field(json_, "all", static_cast<std::uint64_t>(items.size()));
        json_.key("rows");
        json_.begin_array(JsonLayout::compact);
        for (std::size_t i = 0; i < std::min(items.size(), limits_.rows); ++i) {
            json_.begin_object(JsonLayout::compact);
            row(items[i]);
            json_.end_object();
        }
        json_.end_array();
        json_.end_object();
    }

    void write_calls(std::string_view key, const std::vector<CallSummary>& calls) {
        write_table(key, calls, [&](const CallSummary& call) {
            write_field(json_, "name", texts_.number(call.name));
            write_durations(json_, call.time);
            write_unless_default(json_, "idle_ns", call.idle_ns);
        });
    }

    JsonWriter& json_;
    Texts& texts_;
    Kinds& kinds_;
    std::uint32_t process_;
    const Timeline& timeline_;
    const Profile& profile_;
    const PageLimits& limits_;
    Nesting nesting_;
    std::vector<const WorkSummary*> works_;
    std::uint64_t origin_ = 0;
};

void ProcessWriter::write_work(const WorkSummary& work) {
    write_field(json_, "span_ns", work.span_ns);
    write_field(json_, "gpu_time_ns", work.gpu_time_ns);
    write_field(json_, "idle_ns", work.idle_ns);
    write_field(json_, "kernel_time_ns", work.kernel_time_ns);
    write_field(json_, "kernels", work.kernels);
    if (profile_.knows_sms()) write_field(json_, "underfilled_time_ns", work.underfilled_time_ns);
    write_field(json_, "short_kernels", work.short_kernels);
    write_field(json_, "copies", work.copies);
    write_field(json_, "pageable_copies", work.pageable_copies);
    write_field(json_, "copied_bytes", work.copied_bytes);
    write_field(json_, "copy_time_ns", work.copy_time_ns);
    write_field(json_, "overlapped_copy_ns", work.overlapped_copy_ns);
    write_field(json_, "memsets", work.memsets);
    write_field(json_, "graph_launches", work.graph_launches);
    write_field(json_, "synchronisations", work.synchronisations);
}

void ProcessWriter::write_head(const Drawing& drawing) {
    const auto field = [&](const char* key) {
        const auto found = profile_.header.find(key);
        return found == profile_.header.end() ? std::string()
                                              : util::printable(found->second, longest_name);
    };
    for (const char* key : {"pid", "rank", "command", "level"}) {
        write_unless_default(json_, key, field(key));
    }
    std::vector<std::string> incomplete;
    for (const std::string& reason : profile_.incomplete) {
        incomplete.push_back(util::printable(reason));
        if (incomplete.size() == limits_.rows) break;
    }
    write_unless_default(json_, "incomplete", incomplete);
    write_field(json_, "advice", advice(profile_));
    write_field(json_, "notes", notes(profile_));
    write_field(json_, "length_ns", drawing.time.length());
    write_field(json_, "has_calls", !profile_.calls.empty());
    write_unless_default(json_, "tracks_left_out",
                         static_cast<std::uint64_t>(drawing.tracks_left_out));
    json_.key("program");
    json_.begin_object(JsonLayout::compact);
    write_work(profile_.program);
    json_.end_object();
}

void ProcessWriter::write_tables() {
    write_table("devices", profile_.devices, [&](const DeviceSummary& device) {
        write_field(json_, "device", std::uint64_t{device.device});
        write_field(json_, "name", util::printable(device.name));
        write_field(json_, "busy_ns", device.busy_ns);
        write_field(json_, "kernels", device.kernels);
        write_field(json_, "peak_memory_bytes", device.peak_memory_bytes);
    });
    write_table("kernels", profile_.kernels, [&](const KernelSummary& kernel) {
        write_field(json_, "name", texts_.number(kernel.name));
        write_durations(json_, kernel.time);
        write_field(json_, "grid", dimensions_text(kernel.most_common.grid));
        write_field(json_, "block", dimensions_text(kernel.most_common.block));
        write_field(json_, "registers", std::uint64_t{kernel.most_common.registers_per_thread});
        write_field(json_, "configurations", static_cast<std::uint64_t>(kernel.configurations));
    });
    write_table("copies", profile_.copies, [&](const CopySummary& copy) {
        write_field(json_, "kind", to_text(copy.kind));
        write_field(json_, "memory", copy.memory);
        write_field(json_, "bytes", copy.bytes);
        write_field(json_, "bytes_per_s", copy.bytes_per_s());
        write_durations(json_, copy.time);
    });
    write_table("ranges", profile_.ranges, [&](const RangeSummary& range) {
        write_field(json_, "name", texts_.number(range.name));
        write_durations(json_, range.host_time);
        json_.key("work");
        json_.begin_object(JsonLayout::compact);
        write_work(range.total);
        json_.end_object();
    });
    write_calls("calls", profile_.calls);
    write_calls("waits", profile_.waits);
    write_table("gaps", profile_.gaps, [&](const Gap& gap) {
        write_field(json_, "begin_ns", since_origin(gap.time.begin));
        write_field(json_, "length_ns", gap.time.length());
        std::string cause = to_text(gap.cause);
        std::replace(cause.begin(), cause.end(), '_', ' ');
        write_field(json_, "cause", cause);
        write_unless_default(json_, "call", util::printable(gap.call));
        if (gap.cause != GapCause::not_recorded) {
            write_field(json_, "in_calls_ns", gap.in_calls_ns);
        }
        write_field(json_, "before", texts_.number(gap.before));
        write_field(json_, "after", texts_.number(gap.after));
        if (!gap.range.empty()) write_field(json_, "range", texts_.number(gap.range));
    });
}

void ProcessWriter::write_busy(Interval time) {
    // In per mille of each piece.
    json_.key("busy");
    json_.begin_array(JsonLayout::compact);
    const std::uint64_t length = time.length() / busy_pieces;
    for (std::size_t i = 0; length != 0 && i < busy_pieces; ++i) {
        const std::uint64_t begin = time.begin + i * length;
        const Interval piece{begin, i + 1 == busy_pieces ? time.end : begin + length};
        json_.value(static_cast<std::uint64_t>(1000.0 *
                                               static_cast<double>(timeline_.busy().length(piece)) /
                                               static_cast<double>(piece.length())));
    }
    json_.end_array();
}

std::int64_t ProcessWriter::kind_of(const TrackEvent& event) {
    const Recording& recording = timeline_.recording();
    Kind kind;
    kind.kind = event.kind;
    kind.merged = event.merged > 1;
    std::uint64_t other = 0;
    switch (event.kind) {
        case EventKind::kernel:
            kind.launch = &timeline_.configuration(timeline_.work()[event.index]);
            kind.name = texts_.number(util::demangled(recording.text(kind.launch->symbol)));
            other = std::uint64_t{process_} << 32 | kind.launch->id;
            break;
        case EventKind::copy:
            kind.copy = &timeline_.copy(timeline_.work()[event.index]);
            kind.name = texts_.number(to_text(kind.copy->kind));
            other = static_cast<std::uint64_t>(kind.copy->source) << 8 |
                    static_cast<std::uint64_t>(kind.copy->destination);
            break;
        case EventKind::memset:
            kind.name = texts_.number("memset");
            break;
        case EventKind::range:
            kind.name = texts_.number(timeline_.range_name(timeline_.ranges()[event.index]));
            break;
        case EventKind::call:
        case EventKind::wait:
            kind.name =
                texts_.number(call_name(recording.text(timeline_.api_calls()[event.index].name)));
            break;
    }
    if (!kind.merged) return kinds_.number(kind, other);
    kind.launch = nullptr;
    kind.copy = nullptr;
    return kinds_.number(kind);
}

/// Two numbers more for each event: see document.ts.
void ProcessWriter::write_event(const TrackEvent& event) {
    const auto pair = [&](std::int64_t first, std::int64_t second) {
        json_.value(first);
        json_.value(second);
    };
    const auto with_range = [&](std::uint64_t first, std::uint32_t thread, std::uint64_t time) {
        json_.value(first);
        json_.value(range_at(thread, time));
    };
    if (event.merged > 1) {
        json_.value(event.merged);
        json_.value(event.covered_ns);
        return;
    }
    switch (event.kind) {
        case EventKind::kernel: {
            const Work& work = timeline_.work()[event.index];
            if (work.thread == 0) return pair(-1, -1);
            return with_range(work.time.begin - std::min(work.time.begin, work.launch_ns),
                              work.thread, work.launch_ns);
        }
        case EventKind::copy:
        case EventKind::memset: {
            const Work& work = timeline_.work()[event.index];
            const std::uint64_t bytes =
                event.kind == EventKind::copy
                    ? timeline_.copy(work).bytes
                    : timeline_.recording().records.memsets[work.index].bytes;
            return with_range(bytes, work.thread, work.launch_ns);
        }
        case EventKind::range: {
            const WorkSummary* work = works_[event.index];
            if (work == nullptr) return pair(-1, -1);
            json_.value(work->gpu_time_ns);
            json_.value(work->kernels);
            return;
        }
        case EventKind::call:
        case EventKind::wait: {
            const ApiCall& call = timeline_.api_calls()[event.index];
            return with_range(call.result, call.thread, call.start_ns);
        }
    }
}

void ProcessWriter::write_track(const Track& track) {
    json_.begin_object(JsonLayout::compact);
    write_field(json_, "kind", static_cast<std::int64_t>(track.kind));
    if (track.kind == TrackKind::device) {
        write_field(json_, "device", std::uint64_t{track.device});
        write_field(json_, "context", std::uint64_t{track.context});
        write_field(json_, "stream", std::uint64_t{track.stream});
    } else {
        write_field(json_, "thread", std::uint64_t{track.thread});
    }
    write_field(json_, "recorded", static_cast<std::uint64_t>(track.recorded));
    json_.key("rows");
    json_.begin_array(JsonLayout::compact);
    auto event = track.events.begin();
    for (std::uint32_t row = 0; row < track.rows; ++row) {
        json_.begin_array(JsonLayout::compact);
        std::uint64_t before = 0;
        for (; event != track.events.end() && event->row == row; ++event) {
            const std::uint64_t begin = since_origin(event->time.begin);
            json_.value(begin - before);
            // Of a range that began before the time that is shown, the part that is shown.
            json_.value(since_origin(event->time.end) -
                        std::min(begin, since_origin(event->time.end)));
            json_.value(kind_of(*event));
            write_event(*event);
            before = begin;
        }
        json_.end_array();
    }
    json_.end_array();
    json_.end_object();
}

std::vector<std::string> left_out_sentences(const Reduction& reduction, std::size_t processes,
                                            const PageLimits& limits) {
    std::vector<std::string> sentences;
    if (reduction.kept < reduction.recorded) {
        sentences.push_back(fmt::format(
            "The timeline shows {} of {} events one by one, those longer than {}; the others are "
            "merged into paler blocks. The tables count all of them. --capture range:, or delay: "
            "and duration:, makes a page that has a part of the recording in full.",
            reduction.kept, reduction.recorded,
            model::quantity_text(static_cast<double>(reduction.longer_than_ns), "ns")));
    }
    if (processes > limits.processes) {
        sentences.push_back(
            fmt::format("The page has the first {} of {} processes.", limits.processes, processes));
    }
    return sentences;
}

}  // namespace

std::string page_data(const std::vector<Timeline>& processes, const std::vector<Profile>& profiles,
                      const PageLimits& limits) {
    std::vector<Drawing> drawings;
    std::vector<Track*> tracks;
    for (std::size_t i = 0; i < std::min(processes.size(), limits.processes); ++i) {
        drawings.push_back(drawing_of(processes[i], profiles[i], limits.tracks));
    }
    for (Drawing& drawing : drawings) {
        for (Track& track : drawing.tracks) tracks.push_back(&track);
    }
    const Reduction reduction = reduce(tracks, limits.events);

    Texts texts(limits.text_bytes);
    Kinds kinds;
    JsonWriter json(JsonLayout::compact);
    json.begin_object(JsonLayout::compact);
    write_field(json, "left_out", left_out_sentences(reduction, processes.size(), limits));
    json.key("processes");
    json.begin_array(JsonLayout::compact);
    for (std::size_t i = 0; i < drawings.size(); ++i) {
        ProcessWriter(json, texts, kinds, static_cast<std::uint32_t>(i), processes[i], profiles[i],
                      limits)
            .write(drawings[i]);
    }
    json.end_array();
    write_field(json, "texts", texts.all());
    json.key("kinds");
    json.begin_array(JsonLayout::compact);
    for (const Kind& kind : kinds.all()) write_kind(json, kind);
    json.end_array();
    json.end_object();
    return json.finish();
}

}  // namespace perfgate::activity

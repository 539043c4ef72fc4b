// SPDX-License-Identifier: Apache-2.0
#include "activity/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "activity/analysis.hpp"
#include "activity/profile_fields.hpp"
#include "activity/samples.hpp"
#include "activity/timeline.hpp"
#include "model/quantity.hpp"
#include "util/text.hpp"

namespace perfgate::activity {
namespace {

constexpr std::size_t longest_name = 1000, short_name = 60;
constexpr std::size_t busy_pieces = 600;  ///< of the time, for the overview

std::string_view clean(std::string_view text, std::string& room) {
    room = util::printable(text, longest_name);
    return room;
}

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

    const std::string& shown(std::string_view text) {
        return texts_[static_cast<std::size_t>(number(text))];
    }

    [[nodiscard]] const std::vector<std::string>& all() const { return texts_; }

  private:
    std::unordered_map<std::string, std::size_t> numbers_;
    std::vector<std::string> texts_;
    std::size_t room_;
};

/// Each kind once, by number.
class Kinds {
  public:
    /// `other` tells two apart that have one name.
    std::int64_t number(const PageKind& kind, std::uint64_t other = 0) {
        const auto [known, added] =
            numbers_.try_emplace({kind.kind, kind.name, kind.merged, other}, kinds_.size());
        if (added) kinds_.push_back(kind);
        return static_cast<std::int64_t>(known->second);
    }

    [[nodiscard]] const std::vector<PageKind>& all() const { return kinds_; }

  private:
    std::map<std::tuple<EventKind, std::int64_t, bool, std::uint64_t>, std::size_t> numbers_;
    std::vector<PageKind> kinds_;
};

std::string dimensions_text(const std::array<std::uint32_t, 3>& size) {
    return fmt::format("{}×{}×{}", size[0], size[1], size[2]);
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

/// The first rows of a table.
template <class Item>
std::vector<Item> first_rows(const std::vector<Item>& items, std::size_t rows) {
    return {items.begin(),
            items.begin() + static_cast<std::ptrdiff_t>(std::min(items.size(), rows))};
}

class ProcessMaker {
  public:
    ProcessMaker(Texts& texts, Kinds& kinds, std::uint32_t process, const Timeline& timeline,
                 const Profile& profile, const PageLimits& limits)
        : texts_(texts),
          kinds_(kinds),
          process_(process),
          timeline_(timeline),
          profile_(profile),
          limits_(limits),
          nesting_(timeline),
          works_(work_of_ranges(timeline, profile)) {}

    PageProcess make(const Drawing& drawing) {
        origin_ = drawing.time.begin;
        PageProcess process;
        process.profile = shown_profile();
        process.all = {{"devices", profile_.devices.size()},
                       {"kernels", profile_.kernels.size()},
                       {"copies", profile_.copies.size()},
                       {"calls", profile_.calls.size()},
                       {"waits", profile_.waits.size()},
                       {"ranges", profile_.ranges.size()},
                       {"communication", profile_.communication.size()},
                       {"gaps", profile_.gaps.size()},
                       {"host", profile_.host.waiting.size()}};
        process.advice = advice(profile_);
        process.notes = notes(profile_);
        process.flame = profile_.flame;
        process.length_ns = drawing.time.length();
        process.tracks_left_out = drawing.tracks_left_out;
        process.busy = busy(drawing.time);
        process.samples = samples(drawing.time);
        for (const Track& track : drawing.tracks) process.tracks.push_back(page_track(track));
        return process;
    }

  private:
    Profile shown_profile();
    std::vector<std::uint64_t> busy(Interval time) const;
    std::vector<PageSamples> samples(Interval time) const;
    PageTrack page_track(const Track& track);
    std::array<std::int64_t, 2> details_of(const TrackEvent& event);
    std::int64_t kind_of(const TrackEvent& event);

    std::uint64_t since_origin(std::uint64_t time) const { return time - std::min(time, origin_); }

    std::int64_t range_at(std::uint32_t thread, std::uint64_t time) {
        const auto range = thread == 0 ? std::nullopt : nesting_.at(thread, time);
        return range ? texts_.number(timeline_.range_name(timeline_.ranges()[*range])) : -1;
    }

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

/// The part of the profile that the page shows. It uses the names of the timeline's events, so that
/// one text finds both.
Profile ProcessMaker::shown_profile() {
    Profile shown;
    for (const char* key : {"pid", "rank", "command", "level"}) {
        const auto found = profile_.header.find(key);
        if (found != profile_.header.end()) shown.header.insert(*found);
    }
    shown.incomplete = first_rows(profile_.incomplete, limits_.rows);
    shown.program = profile_.program;
    shown.devices = first_rows(profile_.devices, limits_.rows);
    shown.kernels = first_rows(profile_.kernels, limits_.rows);
    for (KernelSummary& kernel : shown.kernels) {
        kernel.name = texts_.shown(kernel.name);
        kernel.symbol.clear();
    }
    shown.copies = first_rows(profile_.copies, limits_.rows);
    shown.communication = first_rows(profile_.communication, limits_.rows);
    for (CollectiveSummary& each : shown.communication) each.name = texts_.shown(each.name);
    shown.sampled = profile_.sampled;
    shown.calls = first_rows(profile_.calls, limits_.rows);
    shown.waits = first_rows(profile_.waits, limits_.rows);
    for (auto* calls : {&shown.calls, &shown.waits}) {
        for (CallSummary& call : *calls) call.name = texts_.shown(call.name);
    }
    for (const RangeSummary& range : profile_.ranges) {
        if (shown.ranges.size() == limits_.rows) break;
        shown.ranges.push_back({texts_.shown(range.name),
                                {},
                                range.left_open,
                                range.host_time,
                                range.total,
                                {},
                                range.sampled});
    }
    shown.host.waiting = first_rows(profile_.host.waiting, limits_.rows);
    shown.host.sampled_ns = profile_.host.sampled_ns;
    shown.gaps = first_rows(profile_.gaps, limits_.rows);
    for (Gap& gap : shown.gaps) {
        gap.time = {since_origin(gap.time.begin), since_origin(gap.time.begin) + gap.time.length()};
        for (std::string* name : {&gap.before, &gap.after, &gap.range}) {
            if (!name->empty()) *name = texts_.shown(*name);
        }
    }
    return shown;
}

/// Equal pieces of the time, for the overview; the last one reaches to its end.
std::vector<Interval> pieces_of(Interval time) {
    std::vector<Interval> pieces;
    const std::uint64_t length = time.length() / busy_pieces;
    for (std::size_t i = 0; length != 0 && i < busy_pieces; ++i) {
        const std::uint64_t begin = time.begin + i * length;
        pieces.push_back({begin, i + 1 == busy_pieces ? time.end : begin + length});
    }
    return pieces;
}

/// In per mille of each piece, rounded up: 0 is idle.
std::vector<std::uint64_t> ProcessMaker::busy(Interval time) const {
    std::vector<std::uint64_t> shares;
    for (const Interval& piece : pieces_of(time)) {
        shares.push_back(static_cast<std::uint64_t>(
            std::ceil(1000.0 * static_cast<double>(timeline_.busy().length(piece)) /
                      static_cast<double>(piece.length()))));
    }
    return shares;
}

std::vector<PageSamples> ProcessMaker::samples(Interval time) const {
    const DeviceSamples all(timeline_);
    std::vector<PageSamples> rows;
    for (const SampledRow& row : sampled_rows()) {
        std::vector<double> means;
        bool any = false;
        for (const Interval& piece : pieces_of(time)) {
            const auto mean = all.over(row, {&piece, 1}, 0.5, DeviceSamples::Across::in_part);
            any = any || mean;
            means.push_back(mean ? mean->value : -1);
        }
        if (!any) continue;
        PageSamples& made = rows.emplace_back();
        made.name = row.mean_name();
        made.label = row.label;
        made.unit = row.is_share ? "%" : "bytes/s";
        if (!row.is_share) made.most = *std::ranges::max_element(means);
        for (const double mean : means) {
            const double share = made.most > 0 ? std::min(mean / made.most, 1.0) : 0;
            made.values.push_back(mean < 0 ? -1 : std::lround(1000 * share));
        }
    }
    return rows;
}

std::int64_t ProcessMaker::kind_of(const TrackEvent& event) {
    const Recording& recording = timeline_.recording();
    PageKind kind;
    kind.kind = event.kind;
    kind.merged = event.merged > 1;
    std::uint64_t other = 0;
    switch (event.kind) {
        case EventKind::kernel: {
            const LaunchConfiguration& launch =
                timeline_.configuration(timeline_.work()[event.index]);
            kind.name = texts_.number(util::demangled(recording.text(launch.symbol)));
            if (kind.merged) break;
            kind.grid = dimensions_text(launch.grid);
            kind.block = dimensions_text(launch.block);
            kind.registers = launch.registers_per_thread;
            kind.shared_bytes = std::uint64_t{launch.static_smem_bytes} + launch.dynamic_smem_bytes;
            other = std::uint64_t{process_} << 32 | launch.id;
            break;
        }
        case EventKind::copy: {
            const Copy& copy = timeline_.copy(timeline_.work()[event.index]);
            kind.name = texts_.number(to_text(copy.kind));
            if (kind.merged) break;
            kind.from = to_text(copy.source);
            kind.to = to_text(copy.destination);
            other = static_cast<std::uint64_t>(copy.source) << 8 |
                    static_cast<std::uint64_t>(copy.destination);
            break;
        }
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
    return kinds_.number(kind, other);
}

/// Two numbers more for each event: see PageTrack.
std::array<std::int64_t, 2> ProcessMaker::details_of(const TrackEvent& event) {
    const auto with_range = [&](std::uint64_t first, std::uint32_t thread, std::uint64_t time) {
        return std::array{static_cast<std::int64_t>(first), range_at(thread, time)};
    };
    const auto pair = [](std::uint64_t first, std::uint64_t second) {
        return std::array{static_cast<std::int64_t>(first), static_cast<std::int64_t>(second)};
    };
    constexpr std::array<std::int64_t, 2> unknown{-1, -1};
    if (event.merged > 1) return pair(event.merged, event.covered_ns);
    switch (event.kind) {
        case EventKind::kernel: {
            const Work& work = timeline_.work()[event.index];
            if (work.thread == 0) return unknown;
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
            return work == nullptr ? unknown : pair(work->gpu_time_ns, work->kernels);
        }
        case EventKind::call:
        case EventKind::wait: {
            const ApiCall& call = timeline_.api_calls()[event.index];
            return with_range(call.result, call.thread, call.start_ns);
        }
    }
    return unknown;
}

PageTrack ProcessMaker::page_track(const Track& track) {
    PageTrack made{
        track.kind, track.device, track.context, track.stream, track.thread, track.recorded, {}};
    made.rows.resize(track.rows);
    std::vector<std::uint64_t> before(track.rows, 0);
    for (const TrackEvent& event : track.events) {
        const std::uint64_t begin = since_origin(event.time.begin);
        // A range that began before the shown time is cut at its beginning.
        const std::uint64_t length =
            since_origin(event.time.end) - std::min(begin, since_origin(event.time.end));
        const auto [first, second] = details_of(event);
        const std::int64_t numbers[] = {static_cast<std::int64_t>(begin - before[event.row]),
                                        static_cast<std::int64_t>(length), kind_of(event), first,
                                        second};
        made.rows[event.row].insert(made.rows[event.row].end(), std::begin(numbers),
                                    std::end(numbers));
        before[event.row] = begin;
    }
    return made;
}

std::vector<std::string> left_out_sentences(const Reduction& reduction, std::size_t processes,
                                            const PageLimits& limits) {
    std::vector<std::string> sentences;
    if (reduction.kept < reduction.recorded) {
        sentences.push_back(fmt::format(
            "The timeline shows {} of {} events one by one, those longer than {}; the others are "
            "merged into paler blocks. The tables count all of them. With --capture the page has a "
            "part of the recording in full.",
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

    Page page;
    page.left_out = left_out_sentences(reduction, processes.size(), limits);
    Texts texts(limits.text_bytes);
    Kinds kinds;
    for (std::size_t i = 0; i < drawings.size(); ++i) {
        page.processes.push_back(ProcessMaker(texts, kinds, static_cast<std::uint32_t>(i),
                                              processes[i], profiles[i], limits)
                                     .make(drawings[i]));
    }
    page.texts = texts.all();
    page.kinds = kinds.all();
    document::JsonWriter json(document::JsonLayout::compact, 0, clean);
    write(json, page);
    return json.finish();
}

}  // namespace perfgate::activity

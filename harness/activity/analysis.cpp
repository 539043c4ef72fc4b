// SPDX-License-Identifier: Apache-2.0
#include "activity/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "activity/capture.hpp"
#include "activity/host_stacks.hpp"
#include "activity/memory_use.hpp"
#include "activity/samples.hpp"
#include "activity/waiting.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::activity {

namespace {

std::uint64_t nanoseconds(double seconds) {
    return static_cast<std::uint64_t>(std::min(seconds, 1e9) * 1e9);
}

std::vector<CopySummary> copies_in(const Timeline& timeline, std::span<const Work> launched) {
    struct Seen {
        std::vector<std::uint64_t> bytes, lengths;
    };
    const auto memory_of = [](const Copy& copy) {
        const bool from_host =
            copy.source == MemoryKind::pageable || copy.source == MemoryKind::pinned;
        const bool to_host =
            copy.destination == MemoryKind::pageable || copy.destination == MemoryKind::pinned;
        const MemoryKind kind = !from_host && to_host ? copy.destination : copy.source;
        return std::string(to_text(kind));
    };
    std::map<std::pair<CopyKind, std::string>, Seen> by_kind;
    for (const Work& work : launched) {
        if (work.kind != WorkKind::copy) continue;
        const Copy& copy = timeline.copy(work);
        Seen& seen = by_kind[{copy.kind, memory_of(copy)}];
        seen.bytes.push_back(copy.bytes);
        seen.lengths.push_back(work.time.length());
    }
    std::vector<CopySummary> copies;
    copies.reserve(by_kind.size());
    for (auto& [key, seen] : by_kind) {
        const auto [least, most] = std::ranges::minmax_element(seen.bytes);
        CopySummary& copy = copies.emplace_back();
        copy.kind = key.first;
        copy.memory = key.second;
        copy.bytes = std::accumulate(seen.bytes.begin(), seen.bytes.end(), std::uint64_t{0});
        copy.minimum_bytes = *least;
        copy.maximum_bytes = *most;
        copy.median_bytes = median(std::move(seen.bytes));
        copy.time = durations(std::move(seen.lengths));
    }
    std::ranges::stable_sort(
        copies, [](const auto& a, const auto& b) { return a.time.total_ns > b.time.total_ns; });
    return copies;
}

std::vector<RangeSummary> ranges_of(const Timeline& timeline, const ProfileOptions& options,
                                    const CapturedPart& part) {
    const CapturedPart captured = captured_part(timeline, options.capture);
    const auto counts = [&](const Range& range) {
        // Of a part by time, the ranges that begin in it.
        const bool begins = std::ranges::any_of(part.windows, [&](const Interval& window) {
            return range.time.begin >= window.begin && range.time.begin < window.end;
        });
        return begins && captured.contains(range.time);
    };
    std::vector<RangeSummary> ranges;
    std::unordered_map<std::string, std::size_t> by_name;
    for (const Range& range : timeline.ranges()) {
        if (!counts(range)) continue;
        const std::string name = timeline.range_name(range);
        const auto [known, added] = by_name.try_emplace(name, ranges.size());
        if (added) ranges.emplace_back().name = name;
        RangeSummary& summary = ranges[known->second];
        if (range.open) {
            ++summary.left_open;
            continue;
        }
        std::optional<std::uint32_t> thread;
        if (options.own_thread) thread = range.thread;
        summary.instances.push_back({range, summarise(timeline, range.time, thread)});
    }
    for (RangeSummary& summary : ranges) {
        std::vector<std::uint64_t> lengths;
        for (const RangeInstance& instance : summary.instances) {
            lengths.push_back(instance.range.time.length());
            summary.total += instance.work;
        }
        summary.host_time = durations(std::move(lengths));
    }
    std::ranges::stable_sort(ranges, [](const auto& a, const auto& b) {
        return a.host_time.total_ns > b.host_time.total_ns;
    });
    return ranges;
}

/// The range whose time is lost in the program and not in CUDA: of those that lose at least half of
/// what the worst one does, the one that is idle for the largest share; it may be within others.
IdleRange idle_range_of(const Timeline& timeline, const HostSamples& samples,
                        const std::vector<RangeSummary>& ranges,
                        std::span<const Interval> program) {
    constexpr std::size_t most_ranges = 8;
    std::vector<IdleRange> found;
    std::vector<std::vector<Interval>> gaps;
    for (const RangeSummary& range : ranges) {
        IdleRange each{range.name, range.instances.size(), 0, 0, 0};
        std::vector<Interval> windows;
        for (const RangeInstance& instance : range.instances) {
            for (const Interval& part : program) {
                const Interval window = intersection(instance.range.time, part);
                if (window.length() == 0) continue;
                each.length_ns += window.length();
                windows.push_back(window);
            }
        }
        gaps.push_back(gaps_in(timeline, windows));
        for (const Interval& gap : gaps.back()) each.idle_ns += gap.length();
        found.push_back(std::move(each));
    }
    std::vector<std::size_t> order(found.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return found[a].idle_ns > found[b].idle_ns; });
    order.resize(std::min(order.size(), most_ranges));
    std::uint64_t most = 0;
    for (const std::size_t i : order) {
        for (const IdleCause& each : idle_causes(timeline, gaps[i])) {
            if (each.cause == GapCause::nothing_submitted) found[i].unsubmitted_ns += each.idle_ns;
        }
        most = std::max(most, found[i].unsubmitted_ns);
    }
    const auto share = [](const IdleRange& range) {
        return range.length_ns == 0 ? 0
                                    : static_cast<double>(range.unsubmitted_ns) /
                                          static_cast<double>(range.length_ns);
    };
    IdleRange worst;
    std::size_t place = 0;
    for (const std::size_t i : order) {
        if (found[i].unsubmitted_ns * 2 < most || share(found[i]) <= share(worst)) continue;
        worst = found[i];
        place = i;
    }
    if (!samples.empty() && !worst.name.empty()) {
        worst.host = samples.in(host_pieces(timeline, gaps[place]));
    }
    return worst;
}

/// Adds what the host's samples say about the gaps, the calls that wait, and sampling itself.
void add_host(const Timeline& timeline, const HostSamples& samples, Profile& profile) {
    const Recording& recording = timeline.recording();
    if (recording.records.host_samplings.empty()) return;
    profile.sampling = recording.records.host_samplings.back();
    profile.python = recording.text(profile.sampling.python);
    if (samples.empty()) return;
    const auto pieces = host_pieces(timeline, gaps_in(timeline, profile.windows));
    profile.host = samples.in(pieces);
    profile.flame = samples.flame(pieces);
    for (Gap& gap : profile.gaps) {
        const HostStacks stacks = samples.in(host_pieces(timeline, std::span(&gap.time, 1)));
        if (!stacks.waiting.empty()) gap.host = stacks.waiting.front().name;
    }
    if (profile.waits.empty()) return;
    CallSummary& worst = profile.waits.front();
    std::vector<HostPiece> calls;
    for (const ApiCall* call : waits_before_gaps(timeline, profile.windows)) {
        if (call_name(recording.text(call->name)) == worst.name) {
            calls.push_back({{call->start_ns, call->end_ns}, call->thread});
        }
    }
    worst.caller = host_text(samples.in(calls), 1);
}

std::vector<DeviceSummary> devices_of(const Timeline& timeline, const CapturedPart& part,
                                      std::span<const Work> launched) {
    const Recording& recording = timeline.recording();
    std::map<std::uint32_t, std::vector<Interval>> busy;
    std::map<std::uint32_t, std::uint64_t> kernels;
    for (const Work& work : launched) {
        const std::uint32_t device = timeline.place(work).device;
        busy[device].push_back(work.time);
        if (work.kind == WorkKind::kernel) ++kernels[device];
    }
    const MemoryUse memory(recording);
    std::vector<DeviceSummary> devices;
    for (auto& [device, times] : busy) {
        DeviceSummary& summary = devices.emplace_back();
        summary.device = device;
        for (const Device& each : recording.records.devices) {
            if (each.id == device) summary.name = recording.text(each.name);
        }
        summary.sms = timeline.sm_count(device);
        summary.busy_ns = IntervalSet(std::move(times)).length();
        summary.kernels = kernels[device];
        if (memory.problem().empty()) {
            for (const Interval& window : part.windows) {
                summary.peak_memory_bytes =
                    std::max(summary.peak_memory_bytes, memory.peak(device, window));
            }
        }
    }
    return devices;
}

}  // namespace

CapturedPart part_of(const Timeline& timeline, const ProfileOptions& options) {
    CapturedPart part = captured_part(timeline, options.capture);
    if (part.missing.empty() && options.timed()) {
        const std::uint64_t begin = timeline.span().begin + nanoseconds(options.delay_s);
        const std::uint64_t end = begin + nanoseconds(options.duration_s);
        part.restrict_to({{begin, std::min(end, timeline.span().end)}});
        if (part.windows.empty()) {
            part.missing = fmt::format("--capture delay: and duration: leave nothing of the {}",
                                       options.capture.is_stated() ? "capture range" : "program");
        }
    }
    return part;
}

Profile profile_of(const Timeline& timeline, const ProfileOptions& options) {
    const Recording& recording = timeline.recording();
    Profile profile;
    profile.header = recording.header;
    profile.incomplete = recording.incomplete;
    profile.end = recording.end;
    profile.counts = recording.counts;
    profile.by_launch = timeline.has_launches();
    profile.without_launch = profile.by_launch ? timeline.without_launch() : 0;

    const CapturedPart part = part_of(timeline, options);
    if (!part.missing.empty()) throw util::Error(part.missing);
    profile.windows = part.whole ? std::vector{timeline.device_span()} : part.windows;
    profile.window = profile.windows.empty()
                         ? Interval{}
                         : Interval{profile.windows.front().begin, profile.windows.back().end};
    profile.note = part.note;
    const std::vector<Work> launched = part.launched(timeline);
    profile.program = summarise(timeline, part);
    profile.devices = devices_of(timeline, part, launched);
    profile.kernels = kernels_of(timeline, launched);
    profile.copies = copies_in(timeline, launched);
    std::vector<std::uint64_t> memsets;
    for (const Work& work : launched) {
        if (work.kind != WorkKind::memset) continue;
        memsets.push_back(work.time.length());
        profile.memset_bytes += recording.records.memsets[work.index].bytes;
    }
    profile.memsets = durations(std::move(memsets));
    profile.calls = calls_by_name(timeline, part.windows);
    const std::vector<Interval> all{timeline.span()};
    profile.waits = waits_by_name(timeline, part.whole ? all : profile.windows);
    profile.uncapturable = uncapturable_calls(timeline, part.windows);
    // Outside any range a program starts and ends, and nobody would capture that.
    std::erase_if(profile.uncapturable, [](const auto& call) { return call.range.empty(); });
    profile.ranges = ranges_of(timeline, options, part);
    const HostSamples samples(timeline);
    profile.idle_range = idle_range_of(timeline, samples, profile.ranges, profile.windows);
    add_range_kernels(timeline, options.own_thread, profile);
    profile.gaps = longest_gaps(timeline, profile.windows, options.gaps);
    add_host(timeline, samples, profile);
    add_overheads(recording.records.overheads, profile);
    add_samples(timeline, profile);
    return profile;
}

std::vector<const WorkSummary*> work_of_ranges(const Timeline& timeline, const Profile& profile) {
    // The instances of each name come in the order of the timeline, less those that are left out.
    struct Instances {
        const std::vector<RangeInstance>* all = nullptr;
        std::size_t next = 0;
    };
    std::unordered_map<std::string_view, Instances> by_name;
    for (const RangeSummary& each : profile.ranges) by_name[each.name] = {&each.instances, 0};
    std::vector<const WorkSummary*> works;
    works.reserve(timeline.ranges().size());
    for (const Range& range : timeline.ranges()) {
        works.push_back(nullptr);
        const auto found = by_name.find(timeline.range_name(range));
        if (found == by_name.end() || range.open) continue;
        Instances& instances = found->second;
        if (instances.next == instances.all->size()) continue;
        const RangeInstance& next = (*instances.all)[instances.next];
        if (!(next.range.time == range.time) || next.range.thread != range.thread) continue;
        works.back() = &next.work;
        ++instances.next;
    }
    return works;
}

std::string_view to_text(CopyKind kind) {
    return util::word_of<CopyKind::peer_to_peer>(
        kind, {"unknown", "host to device", "device to host", "host to array", "array to host",
               "array to array", "array to device", "device to array", "device to device",
               "host to host", "peer to peer"});
}

std::string_view to_text(MemoryKind kind) {
    return util::word_of<MemoryKind::managed_static>(
        kind, {"unknown", "pageable", "pinned", "device", "array", "managed", "device", "managed"});
}

std::string_view to_text(GapCause cause) {
    return util::word_of<GapCause::not_recorded>(
        cause, {"synchronisation", "api_call", "nothing_submitted", "not_recorded"});
}

namespace {

/// Names the driver's work, where it is about the program's code.
enum class About { other, compiling, loading };

struct Kind {
    std::uint32_t number;  ///< CUpti_ActivityOverheadKind, see cupti_activity.h
    OverheadSource source;
    About about;
    const char* name;
};
constexpr Kind call_kinds[] = {
    {1, OverheadSource::driver, About::compiling, "driver compiler"},
    {1U << 16, OverheadSource::cupti, About::other, "CUPTI buffer flush"},
    {2U << 16, OverheadSource::cupti, About::other, "CUPTI instrumentation"},
    {3U << 16, OverheadSource::cupti, About::other, "CUPTI resources"},
    {4U << 16, OverheadSource::driver, About::loading, "module loading by the runtime"},
    {5U << 16, OverheadSource::driver, About::loading, "lazy function loading"},
    {6U << 16, OverheadSource::driver, About::other, "command buffer full"},
    {7U << 16, OverheadSource::cupti, About::other, "activity buffer request"},
    {8U << 16, OverheadSource::cupti, About::other, "UVM set-up"},
};

Kind kind_of(std::uint32_t number) {
    const auto* const known = std::ranges::find(call_kinds, number, &Kind::number);
    return known != std::end(call_kinds)
               ? *known
               : Kind{number, OverheadSource::unknown, About::other, nullptr};
}

}  // namespace

std::string_view to_text(OverheadSource source) {
    return util::word_of<OverheadSource::driver>(source, {"unknown", "cupti", "driver"});
}

std::string overhead_name(std::uint32_t number) {
    const Kind kind = kind_of(number);
    return kind.name != nullptr ? kind.name : fmt::format("overhead {}", number);
}

void add_overheads(const std::vector<Overhead>& records, Profile& profile) {
    std::map<std::uint32_t, std::vector<std::uint64_t>> lengths;
    std::vector<Interval> by_cupti, compiling, loading;
    for (const Overhead& each : records) {
        if (each.end_ns <= each.start_ns) continue;
        const Interval time{each.start_ns, each.end_ns};
        lengths[each.kind].push_back(time.length());
        const Kind kind = kind_of(each.kind);
        if (kind.source == OverheadSource::cupti) by_cupti.push_back(time);
        if (kind.about == About::compiling) compiling.push_back(time);
        if (kind.about == About::loading) loading.push_back(time);
    }
    profile.overhead_ns = IntervalSet(std::move(by_cupti)).length();
    const IntervalSet compiled(std::move(compiling)), loaded(std::move(loading));
    for (const Interval& window : profile.windows) {
        profile.compiling_ns += compiled.length(window);
        profile.loading_ns += loaded.length(window);
    }
    for (auto& [number, each] : lengths) {
        profile.overheads.push_back(
            {overhead_name(number), kind_of(number).source, durations(std::move(each))});
    }
}

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

/// The kernels of a range; nothing if one of them is not in the profile, which may cover a part of
/// the range only.
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

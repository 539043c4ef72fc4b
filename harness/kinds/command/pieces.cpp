// SPDX-License-Identifier: Apache-2.0
#include "kinds/command/pieces.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <utility>

#include "activity/analysis.hpp"
#include "activity/capture.hpp"
#include "activity/host_stacks.hpp"
#include "activity/memory_use.hpp"
#include "activity/waiting.hpp"
#include "kinds/command/communication.hpp"
#include "kinds/command/instances.hpp"
#include "model/interval.hpp"
#include "model/quantity.hpp"
#include "stats/quantiles.hpp"
#include "util/text.hpp"

namespace perfgate::command {
namespace {

using activity::Timeline;
using activity::Work;
using activity::WorkKind;
using activity::WorkSummary;
using model::Interval;

std::string on_record(const std::set<std::string>& names, std::string_view what) {
    if (names.empty()) return fmt::format("the program had no {}", what);
    std::vector<std::string> quoted;
    quoted.reserve(names.size());
    for (const std::string& name : names) {
        quoted.push_back(fmt::format("'{}'", util::printable(name, 80)));
    }
    return fmt::format("recorded: {}{}", fmt::join(quoted, ", "),
                       names.size() == most_names ? ", …" : "");
}

/// "'*flash*' with grid 8x1x1".
std::string kernels_in_words(const Piece& piece) {
    return fmt::format("'{}'{}{}", util::printable(piece.pattern, 100),
                       piece.size.is_any() ? "" : " with ", model::in_words(piece.size));
}

/// Why no instance counts; empty: some do. `wanted` is in quotes, `where` as Recorded has it.
std::string none_counts(std::size_t matched, std::size_t counted, const std::string& wanted,
                        std::string_view what, const std::string& where, std::int64_t skip,
                        const std::set<std::string>& others) {
    if (counted > 0) return {};
    if (matched > 0) {
        return fmt::format("'skip: {}' leaves none of {}{}", skip, util::counted(matched, what),
                           where);
    }
    return fmt::format("no {}{} matches {}: {}", what, where, wanted, on_record(others, what));
}

/// Calls of the host that launched kernels: those of a graph are one.
std::size_t host_launches(const Timeline& timeline, std::span<const Work> launched,
                          std::optional<std::uint32_t> thread) {
    std::set<std::uint32_t> correlations;
    for (const Work& work : launched) {
        if (work.kind == WorkKind::kernel && (!thread || work.thread == *thread)) {
            correlations.insert(timeline.place(work).correlation);
        }
    }
    return correlations.size();
}

void count(const WorkSummary& work, std::size_t launches, std::map<std::string, double>& counts) {
    counts["kernels"] += as_double(work.kernels);
    counts["short_kernels"] += as_double(work.short_kernels);
    counts["host_launches"] += as_double(launches);
    counts["graph_launches"] += as_double(work.graph_launches);
    counts["copies"] += as_double(work.copies);
    counts["pageable_copies"] += as_double(work.pageable_copies);
    counts["copied_bytes"] += as_double(work.copied_bytes);
    counts["memsets"] += as_double(work.memsets);
}

double percent(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : 100 * as_double(part) / as_double(whole);
}

/// Whether the number of SMs of every device with a kernel is on record.
bool knows_sms(const Timeline& timeline) {
    return std::ranges::all_of(timeline.work(), [&](const Work& work) {
        return work.kind != WorkKind::kernel || timeline.sm_count(timeline.place(work).device) != 0;
    });
}

bool all_of(const Recorded& recorded, bool (*knows)(const Timeline&)) {
    return std::ranges::all_of(recorded.processes(), [&](const RecordedProcess& process) {
        return knows(process.timeline);
    });
}

/// Whether the default stream of every context with work is on record.
bool knows_streams(const Timeline& timeline) {
    const auto& contexts = timeline.recording().records.contexts;
    return std::ranges::all_of(timeline.work(), [&](const Work& work) {
        return std::ranges::any_of(contexts, [&](const auto& context) {
            return context.id == timeline.place(work).context;
        });
    });
}

/// A graph's work is in the stream of its launch, whatever it was captured from.
std::uint64_t legacy_stream_launches(const Instance& instance) {
    const auto launched = instance.timeline->launched_in(instance.time);
    return static_cast<std::uint64_t>(std::ranges::count_if(launched, [&](const Work& work) {
        return (!instance.thread || work.thread == *instance.thread) &&
               instance.timeline->graph(work).node == 0 &&
               instance.timeline->in_legacy_stream(work);
    }));
}

void divide(std::map<std::string, double>& counts, std::size_t instances) {
    for (auto& [name, value] : counts) value /= as_double(instances);
}

/// One sample of each metric that a summary alone gives.
void add_samples(const WorkSummary& work, bool sms_known, PieceValues& values) {
    const auto add = [&](const char* metric, double value) {
        values.samples[metric].push_back(value);
    };
    add("gpu_time", as_double(work.gpu_time_ns));
    add("span", as_double(work.span_ns));
    add("idle_share", percent(work.idle_ns, work.span_ns));
    add("longest_idle", as_double(work.longest_idle_ns));
    add("copy_time", as_double(work.copy_time_ns));
    add("exposed_copy_share", percent(work.copy_time_ns - work.overlapped_copy_ns, work.span_ns));
    add("communication_time", as_double(work.communication_ns));
    add("communication_share", percent(work.communication_ns, work.span_ns));
    add("exposed_communication_share", percent(work.exposed_communication_ns, work.span_ns));
    if (sms_known) {
        add("underfilled_share", percent(work.underfilled_time_ns, work.kernel_time_ns));
    }
}

void add_communication(Communication found, PieceValues& values) {
    values.communicating = found.processes;
    const auto add = [&](const char* metric, std::vector<double> samples, const std::string& why) {
        if (!samples.empty()) {
            values.samples[metric] = std::move(samples);
        } else if (!why.empty()) {
            values.not_known[metric] = why;
        }
    };
    add("communication_skew", std::move(found.skews), found.problem);
    add("own_span", std::move(found.own_spans), found.problem);
    add("bus_bandwidth", std::move(found.bus_bandwidths), found.no_bandwidth);
    values.details["communication_skew"] = values.details["own_span"] = std::move(found.last);
    if (found.not_counted.empty()) {
        values.counts["communication_calls"] = found.calls;
        values.counts["communicated_bytes"] = found.bytes;
        values.details["communication_calls"] = values.details["communicated_bytes"] =
            std::move(found.sizes);
    } else {
        values.not_known["communication_calls"] = found.not_counted;
        values.not_known["communicated_bytes"] = found.not_counted;
    }
}

PieceValues of_program(const Recorded& recorded) {
    PieceValues values;
    values.instances = 1;
    WorkSummary all;
    std::uint64_t longest = 0;
    for (const auto& [timeline, part] : recorded.processes()) {
        const WorkSummary work = activity::summarise(timeline, part);
        all += work;
        longest = std::max(longest, work.span_ns);
        count(work, host_launches(timeline, part.launched(timeline), std::nullopt), values.counts);
    }
    if (all.gpu_time_ns == 0) {
        values.problem =
            fmt::format("the program did nothing on the device{}: no kernel, copy or memset ran",
                        recorded.where());
        return values;
    }
    add_samples(all, all_of(recorded, &knows_sms), values);
    values.samples["span"] = {as_double(longest)};
    add_communication(communication_of(recorded), values);
    return values;
}

/// The instances that count. Sets their number in `values`, and the problem if there are none.
Instances ranges_of(const Recorded& recorded, const std::string& pattern, const Piece& piece,
                    PieceValues& values) {
    Instances found = instances_of(recorded, pattern, piece, piece.skip);
    const std::string wanted = fmt::format("'{}'", util::printable(pattern, 100));
    values.problem = none_counts(found.matched, found.counted.size(), wanted, "NVTX range",
                                 recorded.where(), piece.skip, found.others);
    if (found.matched == 0 && found.outside != 0) {
        values.problem =
            fmt::format("{} {} {}, none wholly{}", util::counted(found.outside, "NVTX range"),
                        found.outside == 1 ? "matches" : "match", wanted, recorded.where());
    }
    values.instances = found.counted.size();
    if (found.open != 0) {
        values.note = fmt::format("{} that {} {} never ended: what was launched there is in none",
                                  util::counted(found.open, "NVTX range"),
                                  found.open == 1 ? "matches" : "match", wanted);
    }
    return found;
}

PieceValues of_range(const Recorded& recorded, const Piece& piece) {
    PieceValues values;
    const Instances found = ranges_of(recorded, piece.pattern, piece, values);
    const bool sms_known = all_of(recorded, &knows_sms);
    const bool streams_known = all_of(recorded, &knows_streams);
    bool worked = false;
    for (const Instance& each : found.counted) {
        const WorkSummary work = activity::summarise(*each.timeline, each.time, each.thread);
        worked = worked || work.gpu_time_ns > 0;
        add_samples(work, sms_known, values);
        if (streams_known) {
            values.counts["legacy_stream_launches"] += as_double(legacy_stream_launches(each));
        }
        count(work,
              host_launches(*each.timeline, each.timeline->launched_in(each.time), each.thread),
              values.counts);
    }
    add_communication(communication_of(recorded, found.counted), values);
    divide(values.counts, std::max<std::size_t>(1, values.instances));
    if (values.problem.empty() && !worked) {
        values.idle = fmt::format(
            "no kernel, copy or memset was launched in any of {} NVTX ranges that match '{}'",
            values.instances, util::printable(piece.pattern, 100));
    }
    return values;
}

PieceValues of_kernels(const Recorded& recorded, const Piece& piece) {
    PieceValues values;
    KernelPattern kernels(piece);
    std::size_t matched = 0, counted = 0;
    for (const auto& [timeline, part] : recorded.processes()) {
        std::int64_t left = piece.skip;
        for (const Work& work : part.launched(timeline)) {
            if (work.kind != WorkKind::kernel || !kernels.matches(timeline, work)) continue;
            ++matched;
            if (left-- > 0) continue;
            ++counted;
            values.samples["gpu_time"].push_back(as_double(work.time.length()));
        }
    }
    values.problem = none_counts(matched, counted, kernels_in_words(piece), "kernel",
                                 recorded.where(), piece.skip, kernels.others());
    values.instances = counted;
    values.counts["kernels"] = as_double(counted);
    return values;
}

PieceValues of_kernels_within(const Recorded& recorded, const Piece& piece) {
    PieceValues values;
    const Instances found = ranges_of(recorded, piece.within, piece, values);
    KernelPattern kernels(piece);
    std::size_t matched = 0;
    for (const Instance& each : found.counted) {
        std::vector<Interval> busy;
        for (const Work& work : each.timeline->launched_in(each.time)) {
            if (work.kind != WorkKind::kernel || (each.thread && work.thread != *each.thread)) {
                continue;
            }
            if (kernels.matches(*each.timeline, work)) busy.push_back(work.time);
        }
        matched += busy.size();
        values.counts["kernels"] += as_double(busy.size());
        values.samples["gpu_time"].push_back(
            as_double(activity::IntervalSet(std::move(busy)).length()));
    }
    divide(values.counts, std::max<std::size_t>(1, values.instances));
    if (values.problem.empty() && matched == 0) {
        values.problem =
            fmt::format("no kernel matches {} within {} NVTX ranges that match '{}': {}",
                        kernels_in_words(piece), values.instances,
                        util::printable(piece.within, 100), on_record(kernels.others(), "kernel"));
    }
    return values;
}

/// How often calls were made, by their name and the range that they were made in.
using CallsByName = std::map<std::pair<std::string, std::string>, std::uint64_t>;

double mean(std::uint64_t count, std::size_t instances) {
    return as_double(count) / as_double(instances);
}

/// A part of a sum, with its size.
using Part = std::pair<std::uint64_t, std::string>;

/// "a, b and 3 more", the largest first.
std::string largest_of(std::vector<Part> parts, std::size_t most) {
    std::ranges::stable_sort(parts, std::greater{}, &Part::first);
    std::string text;
    for (std::size_t i = 0; i < std::min(parts.size(), most); ++i) {
        text += (i == 0 ? "" : ", ") + parts[i].second;
    }
    if (parts.size() > most) text += fmt::format(" and {} more", parts.size() - most);
    return text;
}

/// "cudaStreamSynchronize 1, cudaMalloc 0.5 in forward": means, the most frequent first.
std::string in_words(const CallsByName& calls, std::size_t instances) {
    constexpr std::size_t most_calls = 6;
    std::vector<Part> parts;
    for (const auto& [call, count] : calls) {
        const auto& [name, range] = call;
        parts.emplace_back(
            count, fmt::format("{} {:.3g}{}", util::printable(name, 80), mean(count, instances),
                               range.empty() ? "" : " in " + util::printable(range, 80)));
    }
    return largest_of(std::move(parts), most_calls);
}

/// "after cudaStreamSynchronize", "in cudaMalloc", "nothing submitted".
std::string in_words(activity::GapCause cause, const std::string& call) {
    if (cause == activity::GapCause::nothing_submitted) return "nothing submitted";
    return (cause == activity::GapCause::synchronisation ? "after " : "in ") +
           util::printable(call, 80);
}

/// Idle time by its cause, over all processes.
class IdleTime {
  public:
    void add(const Timeline& timeline, std::vector<Interval> gaps) {
        for (const activity::IdleCause& each : activity::idle_causes(timeline, std::move(gaps))) {
            times_[{each.cause, each.call}] += each.idle_ns;
        }
    }

    /// "after cudaStreamSynchronize 1.20 ms, nothing submitted 300.0 µs": means, the longest first.
    [[nodiscard]] std::string text(std::size_t instances) const {
        constexpr std::size_t most_causes = 4;
        std::vector<Part> parts;
        for (const auto& [cause, idle_ns] : times_) {
            const std::string time = model::quantity_text(mean(idle_ns, instances), "ns");
            parts.emplace_back(idle_ns, in_words(cause.first, cause.second) + ' ' + time);
        }
        return largest_of(std::move(parts), most_causes);
    }

  private:
    std::map<std::pair<activity::GapCause, std::string>, std::uint64_t> times_;
};

/// The most device memory that a process holds on a device in any of the windows.
ApiCount memory_peak(const std::map<const Timeline*, std::vector<Interval>>& windows) {
    bool any = false;
    std::uint64_t most = 0;
    for (const auto& [timeline, own] : windows) {
        const activity::MemoryUse memory(timeline->recording());
        if (!memory.problem().empty()) return {std::nullopt, "", memory.problem()};
        any = any || memory.any();
        for (const Interval& window : own) most = std::max(most, memory.peak(window));
    }
    if (!any) return {std::nullopt, "", "the recording has no allocation of device memory"};
    return {as_double(most)};
}

PieceValues values_of_instances(const Recorded& recorded, const Piece& piece) {
    switch (piece.kind) {
        case Piece::Kind::program:
            return of_program(recorded);
        case Piece::Kind::range:
            return of_range(recorded, piece);
        case Piece::Kind::kernels:
            return piece.within.empty() ? of_kernels(recorded, piece)
                                        : of_kernels_within(recorded, piece);
    }
    return {};
}

}  // namespace

PieceValues values_of(const Recorded& recorded, const Piece& piece) {
    if (std::string missing = recorded.missing(); !missing.empty()) {
        PieceValues nothing;
        nothing.problem = std::move(missing);
        return nothing;
    }
    PieceValues values = values_of_instances(recorded, piece);
    if (piece.kind != Piece::Kind::program) {
        const std::size_t processes = std::max<std::size_t>(1, recorded.working());
        values.counts["instances"] = as_double(values.instances) / as_double(processes);
    }
    return values;
}

std::optional<double> recording_overhead(const Recorded& bare, const Recorded& recorded,
                                         const Piece& piece) {
    if (piece.kind != Piece::Kind::range) return std::nullopt;
    const auto rank = [](const Instance& each) { return each.timeline->recording().field("rank"); };
    std::map<std::string, std::set<std::size_t>> counted;  // places, by rank
    std::vector<double> with_lengths, without_lengths, spans;
    for (const Instance& each : instances_of(recorded, piece.pattern, piece, piece.skip).counted) {
        counted[rank(each)].insert(each.place);
        with_lengths.push_back(as_double(each.time.length()));
        spans.push_back(
            as_double(activity::summarise(*each.timeline, each.time, each.thread).span_ns));
    }
    // A bare run does not show what is captured: its instances are the same by their place.
    for (const Instance& each : instances_of(bare, piece.pattern, piece, 0).counted) {
        if (!counted[rank(each)].contains(each.place)) continue;
        without_lengths.push_back(as_double(each.time.length()));
    }
    if (without_lengths.empty()) return std::nullopt;
    const double without = stats::median(without_lengths);
    if (without <= 0) return std::nullopt;
    const double extra = stats::median(with_lengths) - without;
    return extra / std::max(without, stats::median(spans) - extra);
}

std::map<std::string, ApiCount> api_counts_of(const Recorded& recorded, const Piece& piece) {
    if (!recorded.missing().empty()) return {};
    std::map<std::string, ApiCount> counts;
    const bool has_calls =
        all_of(recorded, [](const Timeline& timeline) { return timeline.recording().has_calls(); });
    const auto of_calls = [&](ApiCount count) {
        return has_calls ? std::move(count)
                         : ApiCount{{}, "", "the recording has no calls of CUDA by the host"};
    };
    if (piece.kind == Piece::Kind::range) {
        const Instances found = instances_of(recorded, piece.pattern, piece, piece.skip);
        if (found.counted.empty()) return counts;
        CallsByName waits, uncapturable;
        std::uint64_t synchronisations = 0;
        std::map<const Timeline*, std::vector<Interval>> windows, open, longest_gaps;
        for (const Instance& each : found.counted) {
            const WorkSummary work = activity::summarise(*each.timeline, each.time, each.thread);
            synchronisations += work.synchronisations;
            windows[each.timeline].push_back(work.window);
            open[each.timeline].push_back(each.time);
            const Interval gap = activity::longest_gap(*each.timeline, work.window);
            if (gap.length() != 0) longest_gaps[each.timeline].push_back(gap);
            for (const activity::UncapturableCall& call :
                 activity::uncapturable_calls(*each.timeline, each.time, each.thread)) {
                uncapturable[{call.name, call.range}] += call.count;
                if (activity::waits_for_device(call.name)) waits[{call.name, ""}] += call.count;
            }
        }
        std::uint64_t all = 0;
        for (const auto& [name, count] : uncapturable) all += count;
        const std::size_t instances = found.counted.size();
        counts["syncs"] = of_calls({mean(synchronisations, instances), in_words(waits, instances)});
        counts["uncapturable_calls"] =
            of_calls({mean(all, instances), in_words(uncapturable, instances)});
        counts["memory_peak"] = memory_peak(open);
        IdleTime idle, longest;
        for (const auto& [timeline, own] : windows) {
            idle.add(*timeline, activity::gaps_in(*timeline, own));
        }
        for (auto& [timeline, own] : longest_gaps) longest.add(*timeline, std::move(own));
        const auto add_causes = [&](const char* metric, const IdleTime& time) {
            const std::string causes = time.text(instances);
            if (!causes.empty()) counts[metric] = {std::nullopt, causes + " per instance"};
        };
        add_causes("idle_share", idle);
        add_causes("longest_idle", longest);
    } else if (piece.kind == Piece::Kind::program) {
        IdleTime idle, longest;
        Interval longest_gap;
        const Timeline* with_longest = nullptr;
        std::uint64_t synchronisations = 0;
        std::map<const Timeline*, std::vector<Interval>> captured;
        activity::ProfileOptions options;
        options.capture = recorded.capture();
        for (const auto& [timeline, part] : recorded.processes()) {
            if (!part.missing.empty()) continue;
            const activity::Profile profile = activity::profile_of(timeline, options);
            synchronisations += profile.program.synchronisations;
            idle.add(timeline, activity::gaps_in(timeline, profile.windows));
            for (const Interval& window : profile.windows) {
                const Interval gap = activity::longest_gap(timeline, window);
                if (gap.length() <= longest_gap.length()) continue;
                longest_gap = gap;
                with_longest = &timeline;
            }
            captured[&timeline] = part.windows;
        }
        counts["syncs"] = of_calls({as_double(synchronisations)});
        counts["memory_peak"] = memory_peak(captured);
        counts["idle_share"] = {std::nullopt, idle.text(1)};
        if (with_longest != nullptr) longest.add(*with_longest, {longest_gap});
        counts["longest_idle"] = {std::nullopt, longest.text(1)};
    }
    return counts;
}

std::string host_of(const Recorded& recorded, const Piece& piece) {
    std::map<const Timeline*, std::vector<Interval>> windows;
    if (piece.kind == Piece::Kind::range) {
        for (const Instance& each :
             instances_of(recorded, piece.pattern, piece, piece.skip).counted) {
            windows[each.timeline].push_back(
                activity::summarise(*each.timeline, each.time, each.thread).window);
        }
    } else if (piece.kind == Piece::Kind::program) {
        for (const auto& [timeline, part] : recorded.processes()) {
            windows[&timeline] = part.whole ? std::vector{timeline.device_span()} : part.windows;
        }
    }
    activity::HostStacks longest;
    for (const auto& [timeline, own] : windows) {
        const activity::HostSamples samples(*timeline);
        if (samples.empty()) continue;
        activity::HostStacks stacks =
            samples.in(activity::host_pieces(*timeline, activity::gaps_in(*timeline, own)));
        if (stacks.time_ns > longest.time_ns) longest = std::move(stacks);
    }
    return activity::host_text(longest);
}

}  // namespace perfgate::command

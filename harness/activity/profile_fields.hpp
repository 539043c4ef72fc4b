// SPDX-License-Identifier: Apache-2.0
// Descriptions of a profile and of the data of its page (document/archive.hpp), from which the
// document, its reader, the page's data and the page's types (report/html/src/profile/data.ts) are
// made.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "activity/profile.hpp"
#include "activity/tracks.hpp"
#include "document/archive.hpp"

namespace perfgate::document {

template <>
inline constexpr JsonLayout layout_of<activity::Profile> = JsonLayout::lines;

}  // namespace perfgate::document

namespace perfgate::activity {

using document::Described;
using document::JsonValue;
using document::lines;

/// The document without its schema.
struct ProfileDocument {
    std::vector<Profile> processes;
};

PERFGATE_FIELDS(Durations, required(count, total_ns, median_ns),
                named(required, "min_ns", minimum_ns), named(required, "max_ns", maximum_ns))

PERFGATE_FIELDS(WorkSummary, required(span_ns, gpu_time_ns, idle_ns),
                also(archive.derived("idle_share", [&] { return of.idle_share(); })),
                required(kernels, kernel_time_ns), optional(underfilled_time_ns),
                required(short_kernels, copies, pageable_copies, copied_bytes, copy_time_ns,
                         overlapped_copy_ns, memsets, graph_launches, synchronisations,
                         communication_ns, exposed_communication_ns))

template <class Archive>
void describe(Archive& archive, Described<Archive, KernelSummary>& of) {
    PERFGATE_GROUPS(required(name, symbol), named(optional, "code", fingerprint),
                    also(describe(archive, of.time)), optional(order), required(configurations));
    auto& common = of.most_common;
    archive.required("grid", common.grid);
    archive.required("block", common.block);
    archive.required("registers", common.registers_per_thread);
    archive.required("static_smem_bytes", common.static_smem_bytes);
    archive.required("dynamic_smem_bytes", common.dynamic_smem_bytes);
}

PERFGATE_FIELDS(CopySummary, required(kind, memory, bytes),
                named(optional, "min_bytes", minimum_bytes), optional(median_bytes),
                named(optional, "max_bytes", maximum_bytes),
                also(archive.derived("bytes_per_s", [&] { return of.bytes_per_s(); })),
                also(describe(archive, of.time)))

PERFGATE_FIELDS(CollectiveSummary, required(name, communicator, ranks, calls, bytes, bus_bytes),
                also(describe(archive, of.time)), optional(transfer_ns),
                also(archive.derived("algorithm_bytes_per_s",
                                     [&] { return of.algorithm_bytes_per_s(); })),
                also(archive.derived("bus_bytes_per_s", [&] { return of.bus_bytes_per_s(); })),
                optional(compared, last, wait_ns))

PERFGATE_FIELDS(SampledMean, named(required, "mean", value), required(low_share))

PERFGATE_FIELDS(CallSummary, required(name), also(describe(archive, of.time)), optional(idle_ns))

PERFGATE_FIELDS(OverheadSummary, required(name), optional(source), also(describe(archive, of.time)))

PERFGATE_FIELDS(UncapturableCall, required(name, why, range, count))

PERFGATE_FIELDS(DeviceSummary, required(device, name), optional(sms),
                required(busy_ns, kernels, peak_memory_bytes))

PERFGATE_FIELDS(RangeInstance, named(required, "begin_ns", range.time.begin),
                named(required, "end_ns", range.time.end), named(required, "thread", range.thread),
                also(describe(archive, of.work)))

PERFGATE_FIELDS(RangeKernel, required(kernel), named(required, "count", launches),
                required(total_ns))

PERFGATE_FIELDS(RangeSummary, required(name), optional(left_open),
                also(describe(archive, of.host_time)), named(required, "work", total),
                optional(kernels, sampled), required(instances))

PERFGATE_FIELDS(Interval, named(required, "begin_ns", begin), named(required, "end_ns", end))

PERFGATE_FIELDS(Gap, also(describe(archive, of.time)), required(cause), optional(call),
                required(in_calls_ns, before, after), optional(range, host))

PERFGATE_FIELDS(HostActivity, required(name), optional(state, file, line), required(time_ns))

PERFGATE_FIELDS(FlameFrame, optional(parent), required(name), optional(file), required(time_ns))

PERFGATE_FIELDS(Counts, required(counted_with_callbacks, kernel_launches, captured_launches,
                                 graph_launches, failed_launches, unreadable_modules))

template <class Archive>
void describe(Archive& archive, Described<Archive, Profile>& of) {
    PERFGATE_GROUPS(
        named(required, "recording", header), required(end, incomplete, by_launch, without_launch),
        also(describe(archive, of.window)), optional(note), required(program), optional(sampled),
        required(counts), with(required, devices, lines), with(required, kernels, lines),
        with(required, copies, lines), with(optional, communication, lines),
        required(memsets, memset_bytes), with(required, calls, lines), with(required, waits, lines),
        with(optional, uncapturable, lines), with(required, ranges, lines));
    archive.check([&](JsonValue object) {
        for (const RangeSummary& range : of.ranges) {
            for (const RangeKernel& use : range.kernels) {
                if (use.kernel >= of.kernels.size()) {
                    object.at("ranges").fail("a kernel of a range is not among 'kernels'");
                }
            }
        }
    });
    PERFGATE_GROUPS(with(required, gaps, lines), named(optional, "host", host.waiting, lines),
                    named(optional, "host_sampled_ns", host.sampled_ns), required(overhead_ns),
                    optional(compiling_ns, loading_ns), with(required, overheads, lines));
}

PERFGATE_FIELDS(ProfileDocument, with(required, processes, lines))

// --- the page

/// Events and calls of a timeline as the page draws them.
struct PageTrack {
    TrackKind kind = TrackKind::device;
    std::uint32_t device = 0, context = 0, stream = 0;  ///< of TrackKind::device
    std::uint32_t thread = 0;                           ///< of the others
    std::uint64_t recorded = 0;                         ///< events before any were merged
    /// Five numbers for each event: begin after that of the one before, length, kind, and two more:
    /// of merged ones how many and the sum of their lengths; of a kernel the time since its launch,
    /// of a copy and a memset the bytes, of a call its result, and of all of these the text of the
    /// range; of a range GPU time and kernels. -1: not known.
    std::vector<std::vector<std::int64_t>> rows;
};

/// The kind of an event, without its time. Merged events have the kind of the longest one.
struct PageKind {
    EventKind kind = EventKind::kernel;
    std::int64_t name = 0;  ///< in the page's texts
    bool merged = false;
    std::string grid, block;
    std::uint32_t registers = 0;
    std::uint64_t shared_bytes = 0;
    std::string from, to;  ///< of a copy
};

/// What the GPU measured, in equal pieces of the time.
struct PageSamples {
    std::string name;  ///< as in Profile::sampled
    std::string label;
    double most = 100;                 ///< of the values: 100 %, or the largest in bytes/s
    std::string unit;                  ///< "%", "bytes/s"
    std::vector<std::int64_t> values;  ///< in per mille of `most`; -1: not sampled
};

struct PageProcess {
    Profile profile;                           ///< the first rows of its tables; gaps from the
                                               ///< begin of the drawing
    std::map<std::string, std::uint64_t> all;  ///< rows of each table
    std::vector<std::string> advice, notes;
    std::uint64_t length_ns = 0;
    std::uint64_t tracks_left_out = 0;
    std::vector<std::uint64_t> busy;  ///< the GPU in equal pieces of the time, in per mille
    std::vector<PageSamples> samples;
    std::vector<PageTrack> tracks;
    std::vector<FlameFrame> flame;
};

struct Page {
    std::vector<std::string> left_out;
    std::vector<PageProcess> processes;
    std::vector<std::string> texts;
    std::vector<PageKind> kinds;
};

PERFGATE_FIELDS(PageTrack, required(kind), optional(device, context, stream, thread),
                required(recorded, rows))

PERFGATE_FIELDS(PageKind, required(kind, name),
                optional(merged, grid, block, registers, shared_bytes, from, to))

PERFGATE_FIELDS(PageSamples, required(name, label, most, unit, values))

PERFGATE_FIELDS(PageProcess, required(profile, all, advice, notes, length_ns),
                optional(tracks_left_out), required(busy), optional(samples), required(tracks),
                optional(flame))

PERFGATE_FIELDS(Page, required(left_out, processes, texts, kinds))

}  // namespace perfgate::activity

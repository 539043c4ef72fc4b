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

using activity::CopyKind;
using activity::GapCause;
using activity::OverheadSource;

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

template <class Archive>
void describe(Archive& archive, Described<Archive, Durations>& time) {
    archive.required("count", time.count);
    archive.required("total_ns", time.total_ns);
    archive.required("median_ns", time.median_ns);
    archive.required("min_ns", time.minimum_ns);
    archive.required("max_ns", time.maximum_ns);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, WorkSummary>& work) {
    archive.required("span_ns", work.span_ns);
    archive.required("gpu_time_ns", work.gpu_time_ns);
    archive.required("idle_ns", work.idle_ns);
    archive.derived("idle_share", [&] { return work.idle_share(); });
    archive.required("kernels", work.kernels);
    archive.required("kernel_time_ns", work.kernel_time_ns);
    archive.optional("underfilled_time_ns", work.underfilled_time_ns);
    archive.required("short_kernels", work.short_kernels);
    archive.required("copies", work.copies);
    archive.required("pageable_copies", work.pageable_copies);
    archive.required("copied_bytes", work.copied_bytes);
    archive.required("copy_time_ns", work.copy_time_ns);
    archive.required("overlapped_copy_ns", work.overlapped_copy_ns);
    archive.required("memsets", work.memsets);
    archive.required("graph_launches", work.graph_launches);
    archive.required("synchronisations", work.synchronisations);
    archive.required("communication_ns", work.communication_ns);
    archive.required("exposed_communication_ns", work.exposed_communication_ns);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, KernelSummary>& kernel) {
    archive.required("name", kernel.name);
    archive.required("symbol", kernel.symbol);
    archive.optional("code", kernel.fingerprint);
    describe(archive, kernel.time);
    archive.optional("order", kernel.order);
    archive.required("configurations", kernel.configurations);
    auto& common = kernel.most_common;
    archive.required("grid", common.grid);
    archive.required("block", common.block);
    archive.required("registers", common.registers_per_thread);
    archive.required("static_smem_bytes", common.static_smem_bytes);
    archive.required("dynamic_smem_bytes", common.dynamic_smem_bytes);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, CopySummary>& copy) {
    archive.required("kind", copy.kind);
    archive.required("memory", copy.memory);
    archive.required("bytes", copy.bytes);
    archive.optional("min_bytes", copy.minimum_bytes);
    archive.optional("median_bytes", copy.median_bytes);
    archive.optional("max_bytes", copy.maximum_bytes);
    archive.derived("bytes_per_s", [&] { return copy.bytes_per_s(); });
    describe(archive, copy.time);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, CollectiveSummary>& collective) {
    archive.required("name", collective.name);
    archive.required("communicator", collective.communicator);
    archive.required("ranks", collective.ranks);
    archive.required("calls", collective.calls);
    archive.required("bytes", collective.bytes);
    archive.required("bus_bytes", collective.bus_bytes);
    describe(archive, collective.time);
    archive.optional("transfer_ns", collective.transfer_ns);
    archive.derived("algorithm_bytes_per_s", [&] { return collective.algorithm_bytes_per_s(); });
    archive.derived("bus_bytes_per_s", [&] { return collective.bus_bytes_per_s(); });
    archive.required("last", collective.last);
    archive.required("wait_ns", collective.wait_ns);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, SampledMean>& sampled) {
    archive.required("mean", sampled.value);
    archive.required("low_share", sampled.low_share);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, CallSummary>& call) {
    archive.required("name", call.name);
    describe(archive, call.time);
    archive.optional("idle_ns", call.idle_ns);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, OverheadSummary>& overhead) {
    archive.required("name", overhead.name);
    archive.optional("source", overhead.source);
    describe(archive, overhead.time);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, UncapturableCall>& call) {
    archive.required("name", call.name);
    archive.required("why", call.why);
    archive.required("range", call.range);
    archive.required("count", call.count);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, DeviceSummary>& device) {
    archive.required("device", device.device);
    archive.required("name", device.name);
    archive.optional("sms", device.sms);
    archive.required("busy_ns", device.busy_ns);
    archive.required("kernels", device.kernels);
    archive.required("peak_memory_bytes", device.peak_memory_bytes);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, RangeInstance>& instance) {
    archive.required("begin_ns", instance.range.time.begin);
    archive.required("end_ns", instance.range.time.end);
    archive.required("thread", instance.range.thread);
    describe(archive, instance.work);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, RangeKernel>& use) {
    archive.required("kernel", use.kernel);
    archive.required("count", use.launches);
    archive.required("total_ns", use.total_ns);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, RangeSummary>& range) {
    archive.required("name", range.name);
    archive.optional("left_open", range.left_open);
    describe(archive, range.host_time);
    archive.required("work", range.total);
    archive.optional("kernels", range.kernels);
    archive.optional("sampled", range.sampled);
    archive.required("instances", range.instances);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Interval>& time) {
    archive.required("begin_ns", time.begin);
    archive.required("end_ns", time.end);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Gap>& gap) {
    describe(archive, gap.time);
    archive.required("cause", gap.cause);
    archive.optional("call", gap.call);
    archive.required("in_calls_ns", gap.in_calls_ns);
    archive.required("before", gap.before);
    archive.required("after", gap.after);
    archive.optional("range", gap.range);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Counts>& counts) {
    archive.required("counted_with_callbacks", counts.counted_with_callbacks);
    archive.required("kernel_launches", counts.kernel_launches);
    archive.required("captured_launches", counts.captured_launches);
    archive.required("graph_launches", counts.graph_launches);
    archive.required("failed_launches", counts.failed_launches);
    archive.required("unreadable_modules", counts.unreadable_modules);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Profile>& profile) {
    archive.required("recording", profile.header);
    archive.required("end", profile.end);
    archive.required("incomplete", profile.incomplete);
    archive.required("by_launch", profile.by_launch);
    archive.required("without_launch", profile.without_launch);
    describe(archive, profile.window);
    archive.optional("note", profile.note);
    archive.required("program", profile.program);
    archive.optional("sampled", profile.sampled);
    archive.required("counts", profile.counts);
    archive.required("devices", profile.devices, lines);
    archive.required("kernels", profile.kernels, lines);
    archive.required("copies", profile.copies, lines);
    archive.optional("communication", profile.communication, lines);
    archive.required("memsets", profile.memsets);
    archive.required("memset_bytes", profile.memset_bytes);
    archive.required("calls", profile.calls, lines);
    archive.required("waits", profile.waits, lines);
    archive.optional("uncapturable", profile.uncapturable, lines);
    archive.required("ranges", profile.ranges, lines);
    archive.check([&](JsonValue object) {
        for (const RangeSummary& range : profile.ranges) {
            for (const RangeKernel& use : range.kernels) {
                if (use.kernel >= profile.kernels.size()) {
                    object.at("ranges").fail("a kernel of a range is not among 'kernels'");
                }
            }
        }
    });
    archive.required("gaps", profile.gaps, lines);
    archive.required("overhead_ns", profile.overhead_ns);
    archive.optional("compiling_ns", profile.compiling_ns);
    archive.optional("loading_ns", profile.loading_ns);
    archive.required("overheads", profile.overheads, lines);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, ProfileDocument>& document) {
    archive.required("processes", document.processes, lines);
}

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
    std::string label;
    double most = 100;                  ///< of the values: 100 %, or the largest in bytes/s
    std::string unit;                   ///< "%", "bytes/s"
    std::vector<std::uint64_t> values;  ///< in per mille of `most`
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
};

struct Page {
    std::vector<std::string> left_out;
    std::vector<PageProcess> processes;
    std::vector<std::string> texts;
    std::vector<PageKind> kinds;
};

template <class Archive>
void describe(Archive& archive, Described<Archive, PageTrack>& track) {
    archive.required("kind", track.kind);
    archive.optional("device", track.device);
    archive.optional("context", track.context);
    archive.optional("stream", track.stream);
    archive.optional("thread", track.thread);
    archive.required("recorded", track.recorded);
    archive.required("rows", track.rows);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, PageKind>& kind) {
    archive.required("kind", kind.kind);
    archive.required("name", kind.name);
    archive.optional("merged", kind.merged);
    archive.optional("grid", kind.grid);
    archive.optional("block", kind.block);
    archive.optional("registers", kind.registers);
    archive.optional("shared_bytes", kind.shared_bytes);
    archive.optional("from", kind.from);
    archive.optional("to", kind.to);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, PageSamples>& samples) {
    archive.required("label", samples.label);
    archive.required("most", samples.most);
    archive.required("unit", samples.unit);
    archive.required("values", samples.values);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, PageProcess>& process) {
    archive.required("profile", process.profile);
    archive.required("all", process.all);
    archive.required("advice", process.advice);
    archive.required("notes", process.notes);
    archive.required("length_ns", process.length_ns);
    archive.optional("tracks_left_out", process.tracks_left_out);
    archive.required("busy", process.busy);
    archive.optional("samples", process.samples);
    archive.required("tracks", process.tracks);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, Page>& page) {
    archive.required("left_out", page.left_out);
    archive.required("processes", page.processes);
    archive.required("texts", page.texts);
    archive.required("kinds", page.kinds);
}

}  // namespace perfgate::activity

// SPDX-License-Identifier: Apache-2.0
// The document `perfgate.profile`, version 1.
#include "activity/analysis.hpp"
#include "document/json_writer.hpp"

namespace perfgate::activity {
namespace {

using document::JsonLayout;
using document::JsonWriter;
using document::write_field;

void write_durations(JsonWriter& json, const Durations& time) {
    write_field(json, "count", time.count);
    write_field(json, "total_ns", time.total_ns);
    write_field(json, "median_ns", time.median_ns);
    write_field(json, "min_ns", time.minimum_ns);
    write_field(json, "max_ns", time.maximum_ns);
}

void write_work(JsonWriter& json, const WorkSummary& work) {
    write_field(json, "span_ns", work.span_ns);
    write_field(json, "gpu_time_ns", work.gpu_time_ns);
    write_field(json, "idle_ns", work.idle_ns);
    write_field(json, "idle_share", work.idle_share());
    write_field(json, "kernels", work.kernels);
    write_field(json, "kernel_time_ns", work.kernel_time_ns);
    write_field(json, "short_kernels", work.short_kernels);
    write_field(json, "copies", work.copies);
    write_field(json, "pageable_copies", work.pageable_copies);
    write_field(json, "copied_bytes", work.copied_bytes);
    write_field(json, "copy_time_ns", work.copy_time_ns);
    write_field(json, "overlapped_copy_ns", work.overlapped_copy_ns);
    write_field(json, "memsets", work.memsets);
    write_field(json, "graph_launches", work.graph_launches);
    write_field(json, "synchronisations", work.synchronisations);
    write_field(json, "communication_ns", work.communication_ns);
    write_field(json, "exposed_communication_ns", work.exposed_communication_ns);
}

template <class Items, class Write>
void write_list(JsonWriter& json, std::string_view key, const Items& items, const Write& write) {
    json.key(key);
    json.begin_array(JsonLayout::lines);
    for (const auto& item : items) {
        json.begin_object(JsonLayout::compact);
        write(item);
        json.end_object();
    }
    json.end_array();
}

void write_dimensions(JsonWriter& json, std::string_view key,
                      const std::array<std::uint32_t, 3>& dimensions) {
    json.key(key);
    json.begin_array(JsonLayout::compact);
    for (const std::uint32_t each : dimensions) json.value(std::uint64_t{each});
    json.end_array();
}

void write_kernel(JsonWriter& json, const KernelSummary& kernel) {
    write_field(json, "name", kernel.name);
    if (kernel.symbol != kernel.name) write_field(json, "symbol", kernel.symbol);
    write_unless_default(json, "code", kernel.fingerprint);
    write_durations(json, kernel.time);
    write_field(json, "configurations", std::uint64_t{kernel.configurations});
    write_dimensions(json, "grid", kernel.most_common.grid);
    write_dimensions(json, "block", kernel.most_common.block);
    write_field(json, "registers", std::uint64_t{kernel.most_common.registers_per_thread});
    write_field(json, "static_smem_bytes", std::uint64_t{kernel.most_common.static_smem_bytes});
    write_field(json, "dynamic_smem_bytes", std::uint64_t{kernel.most_common.dynamic_smem_bytes});
}

void write_range(JsonWriter& json, const RangeSummary& range) {
    write_field(json, "name", range.name);
    write_unless_default(json, "left_open", std::uint64_t{range.left_open});
    write_durations(json, range.host_time);
    json.key("work");
    json.begin_object(JsonLayout::compact);
    write_work(json, range.total);
    json.end_object();
    json.key("instances");
    json.begin_array(JsonLayout::compact);
    for (const RangeInstance& instance : range.instances) {
        json.begin_object(JsonLayout::compact);
        write_field(json, "begin_ns", instance.range.time.begin);
        write_field(json, "end_ns", instance.range.time.end);
        write_field(json, "thread", std::uint64_t{instance.range.thread});
        write_work(json, instance.work);
        json.end_object();
    }
    json.end_array();
}

void write_one(JsonWriter& json, const Profile& profile) {
    json.begin_object(JsonLayout::lines);
    for (const auto& [key, value] : profile.header) write_unless_default(json, key, value);
    write_field(json, "end", profile.end);
    write_field(json, "incomplete", profile.incomplete);
    write_field(json, "ranges_by", profile.by_launch ? "launch" : "device");
    write_field(json, "without_launch", profile.without_launch);
    json.key("program");
    json.begin_object(JsonLayout::compact);
    write_field(json, "begin_ns", profile.window.begin);
    write_field(json, "end_ns", profile.window.end);
    write_work(json, profile.program);
    json.end_object();
    json.key("counts");
    json.begin_object(JsonLayout::compact);
    const Counts& counts = profile.counts;
    write_field(json, "counted_with_callbacks", counts.counted_with_callbacks != 0);
    write_field(json, "kernel_launches", counts.kernel_launches);
    write_field(json, "captured_launches", counts.captured_launches);
    write_field(json, "graph_launches", counts.graph_launches);
    write_field(json, "failed_launches", counts.failed_launches);
    write_field(json, "unreadable_modules", counts.unreadable_modules);
    json.end_object();
    write_list(json, "devices", profile.devices, [&](const DeviceSummary& device) {
        write_field(json, "device", std::uint64_t{device.device});
        write_field(json, "name", device.name);
        write_field(json, "busy_ns", device.busy_ns);
        write_field(json, "kernels", device.kernels);
        write_field(json, "peak_memory_bytes", device.peak_memory_bytes);
    });
    write_list(json, "kernels", profile.kernels,
               [&](const KernelSummary& kernel) { write_kernel(json, kernel); });
    write_list(json, "copies", profile.copies, [&](const CopySummary& copy) {
        write_field(json, "kind", to_text(copy.kind));
        write_field(json, "memory", copy.memory);
        write_field(json, "bytes", copy.bytes);
        write_field(json, "bytes_per_s", copy.bytes_per_s());
        write_durations(json, copy.time);
    });
    json.key("memsets");
    json.begin_object(JsonLayout::compact);
    write_field(json, "bytes", profile.memset_bytes);
    write_durations(json, profile.memsets);
    json.end_object();
    const auto write_call = [&](const CallSummary& call) {
        write_field(json, "name", call.name);
        write_durations(json, call.time);
        write_unless_default(json, "idle_ns", call.idle_ns);
    };
    write_list(json, "calls", profile.calls, write_call);
    write_list(json, "waits", profile.waits, write_call);
    write_list(json, "ranges", profile.ranges,
               [&](const RangeSummary& range) { write_range(json, range); });
    write_list(json, "gaps", profile.gaps, [&](const Gap& gap) {
        write_field(json, "begin_ns", gap.time.begin);
        write_field(json, "length_ns", gap.time.length());
        write_field(json, "cause", to_text(gap.cause));
        write_unless_default(json, "call", gap.call);
        write_field(json, "in_calls_ns", gap.in_calls_ns);
        write_field(json, "before", gap.before);
        write_field(json, "after", gap.after);
        write_unless_default(json, "range", gap.range);
    });
    write_list(json, "overheads", profile.overheads.by_kind, [&](const auto& overhead) {
        write_field(json, "name", overhead_name(overhead.first));
        write_durations(json, overhead.second);
    });
    json.end_object();
}

}  // namespace

std::string write_profiles(const std::vector<Profile>& profiles) {
    JsonWriter json;
    json.begin_object(JsonLayout::lines);
    write_field(json, "schema", "perfgate.profile");
    write_field(json, "version", std::int64_t{1});
    json.key("processes");
    json.begin_array(JsonLayout::lines);
    for (const Profile& profile : profiles) write_one(json, profile);
    json.end_array();
    json.end_object();
    return json.finish();
}

}  // namespace perfgate::activity

// SPDX-License-Identifier: Apache-2.0
#include "activity/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>

#include "activity/host_stacks.hpp"
#include "activity/profile.hpp"
#include "activity/samples.hpp"
#include "activity/tracks.hpp"
#include "document/json_writer.hpp"
#include "util/text.hpp"

namespace perfgate::activity {
namespace {

using document::JsonLayout;
using document::write_field;

/// The format has one row of processes: host processes keep their pid, and a device of a process is
/// a process of its own behind them.
constexpr std::int64_t device_pids = 1'000'000'000;
/// Samples of a thread stand beside its ranges and calls, which they do not nest with.
constexpr std::int64_t sampled_threads = 2'000'000'000;

/// The tracks of device work: one for each stream, and more where its work overlaps, as parallel
/// branches of a CUDA graph do. Slices of one track must nest.
class DeviceTracks {
  public:
    struct Track {
        std::uint32_t device = 0;
        std::int64_t thread = 0;
        std::string name;
    };

    explicit DeviceTracks(const Timeline& timeline) : threads_(timeline.work().size()) {
        const auto work = timeline.work();
        struct Stream {
            Rows rows;
            std::int64_t first_thread = 0;
        };
        // A stream has a number in each context.
        std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Stream> streams;
        const auto stream_of = [&](std::size_t index) -> Stream& {
            const Place& place = timeline.place(work[index]);
            return streams[{place.device, place.context, place.stream}];
        };
        std::vector<std::size_t> by_begin(work.size());
        std::iota(by_begin.begin(), by_begin.end(), std::size_t{0});
        std::ranges::stable_sort(by_begin, [&](std::size_t a, std::size_t b) {
            return work[a].time.begin < work[b].time.begin;
        });
        for (const std::size_t i : by_begin) {
            threads_[i] = stream_of(i).rows.row_for(work[i].time);
        }
        std::int64_t next_thread = 1;
        for (auto& [key, stream] : streams) {
            const auto& [device, context, number] = key;
            stream.first_thread = next_thread;
            for (std::uint32_t row = 0; row < stream.rows.count(); ++row) {
                all_.push_back({device, next_thread++,
                                row == 0 ? fmt::format("stream {}", number)
                                         : fmt::format("stream {} ({})", number, row + 1)});
            }
        }
        for (std::size_t i = 0; i < work.size(); ++i) threads_[i] += stream_of(i).first_thread;
    }

    [[nodiscard]] const std::vector<Track>& all() const { return all_; }
    /// Of a piece of the timeline's work.
    [[nodiscard]] std::int64_t thread(std::size_t work) const { return threads_[work]; }

  private:
    std::vector<Track> all_;
    std::vector<std::int64_t> threads_;
};

class Writer {
  public:
    explicit Writer(std::uint64_t origin) : origin_(origin) {
        json_.begin_object(JsonLayout::lines);
        write_field(json_, "displayTimeUnit", "ns");
        json_.key("traceEvents");
        json_.begin_array(JsonLayout::lines);
    }

    std::string finish() {
        json_.end_array();
        json_.end_object();
        return json_.finish();
    }

    void add(const Timeline& timeline, std::int64_t order);

  private:
    /// Begins an event; the caller adds fields and calls end_object.
    void begin(std::string_view phase, std::string_view category, std::string_view name,
               std::int64_t pid, std::int64_t tid, std::uint64_t time) {
        json_.begin_object(JsonLayout::compact);
        write_field(json_, "ph", phase);
        write_field(json_, "cat", category);
        write_field(json_, "name", name);
        write_field(json_, "pid", pid);
        write_field(json_, "tid", tid);
        write_field(json_, "ts", microseconds(time - std::min(time, origin_)));
    }

    static std::int64_t device_pid(std::int64_t order, std::uint32_t device) {
        return device_pids + order * 1000 + device;
    }

    static double microseconds(std::uint64_t ns) { return static_cast<double>(ns) / 1000; }

    void name(std::string_view what, std::int64_t pid, std::int64_t tid, const std::string& name) {
        json_.begin_object(JsonLayout::compact);
        write_field(json_, "ph", "M");
        write_field(json_, "name", what);
        write_field(json_, "pid", pid);
        write_field(json_, "tid", tid);
        json_.key("args");
        json_.begin_object(JsonLayout::compact);
        write_field(json_, "name", name);
        json_.end_object();
        json_.end_object();
    }

    void add_ranges(const Timeline& timeline, std::int64_t pid);
    void add_calls(const Timeline& timeline, std::int64_t pid);
    void add_work(const Timeline& timeline, std::int64_t pid, std::int64_t order);
    void add_host(const Timeline& timeline, std::int64_t pid);
    void add_samples(const Timeline& timeline, std::int64_t order);

    document::JsonWriter json_;
    std::uint64_t origin_;
    std::uint64_t next_flow_ = 1;
};

void Writer::add(const Timeline& timeline, std::int64_t order) {
    const Recording& recording = timeline.recording();
    const std::int64_t pid = util::parsed<std::int64_t>(recording.field("pid")).value_or(0);
    const std::string& rank = recording.field("rank");
    name(
        "process_name", pid, 0,
        fmt::format("{}{}", rank.empty() ? "" : "rank " + rank + ": ", recording.field("command")));
    add_ranges(timeline, pid);
    add_calls(timeline, pid);
    add_work(timeline, pid, order);
    add_host(timeline, pid);
    add_samples(timeline, order);
}

void Writer::add_host(const Timeline& timeline, std::int64_t pid) {
    const Recording& recording = timeline.recording();
    const HostSamples samples(timeline);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> threads;
    for (const HostSample& sample : recording.records.host_samples) {
        if (sample.frame == 0) continue;
        const auto [thread, added] =
            threads.try_emplace({sample.process, sample.thread},
                                sampled_threads + static_cast<std::int64_t>(threads.size()));
        if (added) {
            name("thread_name", pid, thread->second,
                 fmt::format(
                     "stacks of thread {}{}", sample.thread,
                     sample.process == pid ? "" : fmt::format(" of process {}", sample.process)));
        }
        const std::string stack = samples.stack_text(sample.frame);
        begin("X", "host", std::string_view(stack).substr(stack.rfind(';') + 1), pid,
              thread->second, sample.start_ns);
        write_field(json_, "dur", microseconds(sample.end_ns - sample.start_ns));
        json_.key("args");
        json_.begin_object(JsonLayout::compact);
        write_field(json_, "state", activity::to_text(sample.state));
        write_field(json_, "stack", stack);
        json_.end_object();
        json_.end_object();
    }
}

/// A counter track for each row.
void Writer::add_samples(const Timeline& timeline, std::int64_t order) {
    const DeviceSamples all(timeline);
    for (const auto& [device, samples] : all.by_device()) {
        for (const SampledRow& row : sampled_rows()) {
            const std::string name =
                fmt::format("{} ({})", row.label, row.is_share ? "%" : "bytes/s");
            for (const DeviceSample& sample : samples) {
                const auto value = value_of(row, sample);
                if (!value) continue;
                begin("C", "gpu", name, device_pid(order, device), 0, sample.start_ns);
                json_.key("args");
                json_.begin_object(JsonLayout::compact);
                write_field(json_, "value", *value);
                json_.end_object();
                json_.end_object();
            }
        }
    }
}

void Writer::add_ranges(const Timeline& timeline, std::int64_t pid) {
    // Slices of one thread must nest. Ranges of push and pop do; others overlap, and stand as
    // asynchronous events, which may.
    std::map<std::uint32_t, std::vector<std::uint64_t>> open;  // thread → ends, outermost first
    std::uint64_t id = 0;
    for (const Range& range : timeline.ranges()) {
        auto& ends = open[range.thread];
        while (!ends.empty() && ends.back() <= range.time.begin) ends.pop_back();
        const bool nests = ends.empty() || range.time.end <= ends.back();
        const std::string name = timeline.range_name(range);
        if (nests) {
            ends.push_back(range.time.end);
            begin("X", "nvtx", name, pid, range.thread, range.time.begin);
            write_field(json_, "dur", microseconds(range.time.length()));
            json_.end_object();
            continue;
        }
        ++id;
        for (const bool first : {true, false}) {
            begin(first ? "b" : "e", "nvtx", name, pid, range.thread,
                  first ? range.time.begin : range.time.end);
            write_field(json_, "id", fmt::format("range{}-{}", pid, id));
            json_.end_object();
        }
    }
}

void Writer::add_calls(const Timeline& timeline, std::int64_t pid) {
    const Recording& recording = timeline.recording();
    for (const ApiCall& call : timeline.api_calls()) {
        begin("X", "cuda", call_name(recording.text(call.name)), pid, call.thread, call.start_ns);
        write_field(json_, "dur", microseconds(call.end_ns - call.start_ns));
        json_.key("args");
        json_.begin_object(JsonLayout::compact);
        write_field(json_, "correlation", std::uint64_t{call.correlation});
        if (call.result != 0) write_field(json_, "result", std::uint64_t{call.result});
        json_.end_object();
        json_.end_object();
    }
}

void Writer::add_work(const Timeline& timeline, std::int64_t pid, std::int64_t order) {
    const Recording& recording = timeline.recording();
    const DeviceTracks tracks(timeline);
    std::set<std::uint32_t> devices;
    std::unordered_map<std::uint32_t, std::string> names;  // configuration → demangled
    for (std::size_t i = 0; i < timeline.work().size(); ++i) {
        const Work& work = timeline.work()[i];
        const Place& place = timeline.place(work);
        const std::int64_t thread = tracks.thread(i);
        devices.insert(place.device);
        std::string_view category = "memset", name = "memset";
        if (work.kind == WorkKind::kernel) {
            const std::uint32_t id = recording.records.kernels[work.index].configuration;
            const auto [known, added] = names.try_emplace(id);
            if (added) {
                known->second =
                    util::demangled(recording.text(recording.configurations[id].symbol));
            }
            category = "kernel";
            name = known->second;
        } else if (work.kind == WorkKind::copy) {
            category = "copy";
            name = to_text(timeline.copy(work).kind);
        }
        begin("X", category, name, device_pid(order, place.device), thread, work.time.begin);
        write_field(json_, "dur", microseconds(work.time.length()));
        json_.key("args");
        json_.begin_object(JsonLayout::compact);
        write_field(json_, "correlation", std::uint64_t{place.correlation});
        if (work.kind == WorkKind::kernel) {
            const LaunchConfiguration& launch = timeline.configuration(work);
            write_field(json_, "grid",
                        fmt::format("{},{},{}", launch.grid[0], launch.grid[1], launch.grid[2]));
            write_field(json_, "block",
                        fmt::format("{},{},{}", launch.block[0], launch.block[1], launch.block[2]));
            write_field(json_, "registers", std::uint64_t{launch.registers_per_thread});
        } else if (work.kind == WorkKind::copy) {
            write_field(json_, "bytes", timeline.copy(work).bytes);
        }
        json_.end_object();
        json_.end_object();
        if (work.thread == 0) continue;
        // An arrow from the launch to its work.
        const std::uint64_t flow = next_flow_++;
        begin("s", "launch", "launch", pid, work.thread, work.launch_ns);
        write_field(json_, "id", flow);
        json_.end_object();
        begin("f", "launch", "launch", device_pid(order, place.device), thread,
              std::max(work.time.begin, work.launch_ns));
        write_field(json_, "id", flow);
        write_field(json_, "bp", "e");
        json_.end_object();
    }
    for (const std::uint32_t device : devices) {
        std::string model;
        for (const Device& each : recording.records.devices) {
            if (each.id == device) model = recording.text(each.name);
        }
        name("process_name", device_pid(order, device), 0,
             fmt::format("GPU {} {} (process {})", device, model, pid));
    }
    for (const DeviceTracks::Track& track : tracks.all()) {
        name("thread_name", device_pid(order, track.device), track.thread, track.name);
    }
}

}  // namespace

std::string write_trace(const std::vector<Timeline>& processes) {
    std::uint64_t origin = std::numeric_limits<std::uint64_t>::max();
    for (const Timeline& each : processes) {
        if (each.span().begin != 0) origin = std::min(origin, each.span().begin);
    }
    Writer writer(origin);
    std::int64_t order = 0;
    for (const Timeline& each : processes) writer.add(each, order++);
    return writer.finish();
}

}  // namespace perfgate::activity

// SPDX-License-Identifier: Apache-2.0
#include "activity/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "activity/analysis.hpp"
#include "activity/communication.hpp"
#include "activity/database_schema.hpp"
#include "activity/host_stacks.hpp"
#include "activity/timeline.hpp"
#include "activity/waiting.hpp"
#include "sqlite/database.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::activity {
namespace {

/// Names come from the program. Without control characters no tool is misled that prints them.
std::string text(std::string_view from_program) {
    return util::printable(from_program, max_string_bytes);
}

template <class Value>
std::optional<Value> unless(const Value& value, const Value& unknown) {
    return value == unknown ? std::nullopt : std::optional(value);
}

std::string_view to_text(SynchronisationKind kind) {
    return util::word_of<SynchronisationKind::context>(
        kind, {"unknown", "event", "stream waits for event", "stream", "context"});
}

/// Rows for a table, through one prepared statement.
class Table {
  public:
    Table(const sqlite::Database& database, const std::string& name)
        : columns_(sqlite::Statement(database, "SELECT * FROM " + name).columns()),
          insert_(database, insertion(name, columns_)) {}

    /// One value for each column, in order. An empty optional is NULL.
    template <class... Values>
    void row(const Values&... values) {
        (bind(values), ...);
        step();
    }
    /// SQLite's integers are signed; what does not fit is the largest.
    template <std::integral Number>
    void bind(Number value) {
        constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
        const auto kept =
            std::signed_integral<Number> ? value : std::min<std::uint64_t>(value, largest);
        insert_.bind(static_cast<std::int64_t>(kept));
    }
    void bind(double value) { insert_.bind(value); }
    void bind(std::string_view text) { insert_.bind(text); }
    void bind(const std::string& text) { insert_.bind(std::string_view(text)); }
    void bind(const char* text) { insert_.bind(std::string_view(text)); }
    void bind(std::nullptr_t) { insert_.bind(std::optional<double>()); }
    template <class Value>
    void bind(const std::optional<Value>& value) {
        value ? bind(*value) : bind(nullptr);
    }
    /// Ends a row whose values were bound one by one.
    void step() {
        if (insert_.bound() != columns_) {
            throw util::Error("a row of {} values for {} columns", insert_.bound(), columns_);
        }
        insert_.step();
    }

  private:
    static std::string insertion(const std::string& name, int columns) {
        std::string places = "?";
        for (int i = 1; i < columns; ++i) places += ",?";
        return fmt::format("INSERT INTO {} VALUES ({})", name, places);
    }

    int columns_;
    sqlite::Statement insert_;
};

void bind(Table& table, const WorkSummary& work, bool knows_sms) {
    for (const std::uint64_t value :
         {work.span_ns, work.gpu_time_ns, work.idle_ns, work.kernel_time_ns, work.kernels,
          work.copies, work.pageable_copies, work.copied_bytes, work.copy_time_ns,
          work.overlapped_copy_ns, work.memsets, work.graph_launches, work.synchronisations,
          work.communication_ns, work.exposed_communication_ns}) {
        table.bind(value);
    }
    table.bind(knows_sms ? std::optional(work.underfilled_time_ns) : std::nullopt);
}

constexpr int work_columns = 16;
constexpr int longest_value_bytes = 1 << 30;

class DatabaseWriter {
  public:
    explicit DatabaseWriter(const sqlite::Database& database) : database_(database) {}

    void add(const Timeline& timeline, const Profile& profile) {
        ++process_;
        add_process(timeline, profile);
        add_devices(timeline.recording(), profile);
        add_configurations(timeline.recording());
        const Nesting nesting(timeline);
        add_ranges(timeline, profile, nesting);
        add_work(timeline, nesting);
        add_calls(timeline, nesting);
        add_others(timeline.recording());
        add_collectives(timeline);
        add_samples(timeline.recording());
        add_gaps(timeline, profile);
        add_host_samples(timeline);
        first_range_ += timeline.ranges().size();
        first_configuration_ += timeline.recording().configurations.size();
    }

  private:
    void add_process(const Timeline& timeline, const Profile& profile) {
        Table& processes = table("processes");
        const Recording& recording = timeline.recording();
        processes.bind(process_);
        processes.bind(util::parsed<std::int64_t>(recording.field("pid")));
        processes.bind(util::parsed<std::int64_t>(recording.field("rank")));
        const std::string command = text(recording.field("command"));
        const std::string level = text(recording.field("level")), end = text(recording.end);
        processes.bind(command);
        processes.bind(level);
        processes.bind(unless(std::string_view(end), std::string_view()));
        processes.bind(profile.incomplete.empty());
        for (const Interval& time : {timeline.span(), profile.window}) {
            processes.bind(time.begin);
            processes.bind(time.end);
        }
        bind(processes, profile.program, profile.knows_sms());
        processes.step();
        for (const std::string& problem : profile.incomplete) {
            table("problems").row(process_, text(problem));
        }
        for (const auto& [key, value] : recording.header) {
            table("recording_facts").row(process_, text(key), text(value));
        }
        const Counts& counts = recording.counts;
        if (counts.counted_with_callbacks != 0) {
            table("launch_counts")
                .row(process_, counts.kernel_launches, counts.captured_launches,
                     counts.graph_launches, counts.failed_launches);
        }
        for (const ClockReading& clock : recording.records.clocks) {
            table("clock_readings")
                .row(process_, clock.time_ns, clock.realtime_ns, clock.monotonic_ns);
        }
    }

    void add_devices(const Recording& recording, const Profile& profile) {
        for (const Device& device : recording.records.devices) {
            std::string uuid;
            for (const std::uint8_t byte : device.uuid) uuid += fmt::format("{:02x}", byte);
            std::optional<std::uint64_t> busy, peak;
            for (const DeviceSummary& summary : profile.devices) {
                if (summary.device != device.id) continue;
                busy = summary.busy_ns;
                peak = unless(summary.peak_memory_bytes, std::uint64_t{0});
            }
            constexpr std::uint64_t largest_kb = UINT64_MAX / 1000;
            table("devices").row(process_, device.id, text(recording.text(device.name)), uuid,
                                 device.memory_bytes,
                                 std::min(device.memory_bandwidth_kb_per_s, largest_kb) * 1000,
                                 fmt::format("{}.{}", device.cc_major, device.cc_minor),
                                 device.sm_count, device.mig, busy, peak);
        }
    }

    void add_configurations(const Recording& recording) {
        const auto codes = machine_code(recording);
        for (const LaunchConfiguration& each : recording.configurations) {
            if (each.id == 0) continue;
            const std::string& symbol = recording.text(each.symbol);
            const std::uint64_t name = name_id(util::demangled(symbol));
            const auto code = codes.find(symbol);
            const std::string fingerprint = code == codes.end() ? "" : text(code->second);
            table("launch_configurations")
                .row(configuration_id(each.id), process_, name, name_id(symbol),
                     unless(std::string_view(fingerprint), std::string_view()), each.grid[0],
                     each.grid[1], each.grid[2], each.block[0], each.block[1], each.block[2],
                     each.cluster[0], each.cluster[1], each.cluster[2], each.registers_per_thread,
                     each.static_smem_bytes, each.dynamic_smem_bytes, each.local_bytes_per_thread,
                     each.cooperative);
        }
    }

    void add_ranges(const Timeline& timeline, const Profile& profile, const Nesting& nesting) {
        Table& ranges = table("range_records");
        const std::vector<const WorkSummary*> works = work_of_ranges(timeline, profile);
        for (std::size_t i = 0; i < timeline.ranges().size(); ++i) {
            const Range& range = timeline.ranges()[i];
            const std::uint64_t name = name_id(timeline.range_name(range));
            ranges.bind(range_id(i));
            ranges.bind(process_);
            ranges.bind(range.time.begin);
            ranges.bind(range.time.end);
            ranges.bind(range.open);
            ranges.bind(range.thread);
            ranges.bind(name);
            ranges.bind(range_id(nesting.parent(i)));
            ranges.bind(nesting.depth(i));
            if (works[i] != nullptr) {
                bind(ranges, *works[i], profile.knows_sms());
            } else {
                for (int column = 0; column < work_columns; ++column) ranges.bind(nullptr);
            }
            ranges.step();
        }
    }

    void bind_place(Table& table, const Timeline& timeline, const Work& work,
                    const Nesting& nesting) {
        const Place& place = timeline.place(work);
        const GraphNode& graph = timeline.graph(work);
        const bool launched = work.thread != 0;
        table.bind(work.time.begin);
        table.bind(work.time.end);
        table.bind(launched ? std::optional(work.launch_ns) : std::nullopt);
        table.bind(launched ? std::optional(work.thread) : std::nullopt);
        table.bind(place.device);
        table.bind(place.context);
        table.bind(place.stream);
        table.bind(place.correlation);
        table.bind(unless(graph.graph, std::uint32_t{0}));
        table.bind(unless(graph.node, std::uint64_t{0}));
        table.bind(launched ? range_id(nesting.at(work.thread, work.launch_ns)) : std::nullopt);
    }

    void add_work(const Timeline& timeline, const Nesting& nesting) {
        const Records& records = timeline.recording().records;
        for (const Work& work : timeline.work()) {
            Table& to = table(work.kind == WorkKind::kernel ? "kernel_records"
                              : work.kind == WorkKind::copy ? "copies"
                                                            : "memsets");
            to.bind(process_);
            if (work.kind == WorkKind::kernel) {
                to.bind(configuration_id(records.kernels[work.index].configuration));
            } else if (work.kind == WorkKind::copy) {
                const Copy& copy = timeline.copy(work);
                to.bind(activity::to_text(copy.kind));
                to.bind(copy.bytes);
                to.bind(activity::to_text(copy.source));
                to.bind(activity::to_text(copy.destination));
                to.bind(copy.asynchronous);
            } else {
                to.bind(records.memsets[work.index].bytes);
            }
            bind_place(to, timeline, work, nesting);
            to.step();
        }
    }

    void add_calls(const Timeline& timeline, const Nesting& nesting) {
        for (const ApiCall& call : timeline.api_calls()) {
            const std::uint64_t name = name_id(call_name(timeline.recording().text(call.name)));
            table("api_call_records")
                .row(process_, name, call.start_ns, call.end_ns, call.thread, call.correlation,
                     call.result, range_id(nesting.at(call.thread, call.start_ns)));
        }
    }

    void add_others(const Recording& recording) {
        const Records& records = recording.records;
        for (const Synchronisation& each : records.synchronisations) {
            table("synchronisations")
                .row(process_, to_text(each.kind), each.start_ns, each.end_ns, each.context,
                     each.stream, each.correlation);
        }
        for (const Marker& mark : records.markers) {
            if (mark.kind != MarkerKind::instant) continue;
            const std::string& domain = recording.text(mark.domain);
            const std::string name =
                text(domain.empty() ? recording.text(mark.name)
                                    : domain + ":" + recording.text(mark.name));
            table("marks").row(process_, mark.time_ns, mark.thread, name);
        }
        for (const MemoryEvent& event : records.memory_events) {
            table("memory_events")
                .row(process_, event.time_ns,
                     std::string_view(event.release == 0 ? "allocation" : "release"),
                     activity::to_text(event.kind), event.address, event.bytes, event.pool,
                     event.device, event.context, event.correlation);
        }
        for (const ProfilerCall& call : records.profiler_calls) {
            if (call.kind == ProfilerCallKind::watched) continue;
            table("profiler_calls")
                .row(process_, call.time_ns, call.thread,
                     std::string_view(call.kind == ProfilerCallKind::start ? "start" : "stop"));
        }
        for (const Overhead& each : records.overheads) {
            table("overheads")
                .row(process_, overhead_name(each.kind), each.start_ns, each.end_ns, each.thread);
        }
    }

    void add_collectives(const Timeline& timeline) {
        for (const Collective& each : collectives_of(timeline)) {
            const std::string name = text(each.name);
            const bool ran = each.time.length() != 0;
            table("collectives")
                .row(process_, name, fmt::format("{:x}", each.communicator),
                     unless(each.ranks, std::uint32_t{0}), each.launched_ns, each.thread,
                     each.calls, each.bytes, unless(each.bus_bytes, 0.0),
                     ran ? std::optional(each.time.begin) : std::nullopt,
                     ran ? std::optional(each.time.end) : std::nullopt);
        }
    }

    void add_samples(const Recording& recording) {
        Table& samples = table("device_samples");
        for (const DeviceSample& sample : recording.records.device_samples) {
            samples.bind(process_);
            samples.bind(sample.device);
            samples.bind(sample.start_ns);
            samples.bind(sample.end_ns);
            for (const std::uint32_t bits : sample.bits) {
                const auto value = std::bit_cast<float>(bits);
                samples.bind(value < 0 ? std::nullopt : std::optional<double>(value));
            }
            samples.step();
        }
    }

    void add_gaps(const Timeline& timeline, const Profile& profile) {
        std::unordered_map<std::uint64_t, const Gap*> longest;
        for (const Gap& gap : profile.gaps) longest[gap.time.begin] = &gap;
        for (const Interval& time : gaps_in(timeline, profile.windows)) {
            const auto known = longest.find(time.begin);
            if (known == longest.end()) {
                table("gaps").row(process_, time.begin, time.end, nullptr, nullptr, nullptr,
                                  nullptr, nullptr, nullptr, nullptr);
                continue;
            }
            const Gap& gap = *known->second;
            const std::string call = text(gap.call), before = text(gap.before),
                              after = text(gap.after), range = text(gap.range);
            constexpr std::string_view none;
            table("gaps").row(
                process_, time.begin, time.end, activity::to_text(gap.cause),
                unless(std::string_view(call), none), gap.in_calls_ns,
                unless(std::string_view(before), none), unless(std::string_view(after), none),
                unless(std::string_view(range), none), unless(std::string_view(gap.host), none));
        }
    }

    void add_host_samples(const Timeline& timeline) {
        const HostSamples samples(timeline);
        std::unordered_map<std::uint32_t, std::uint64_t> stacks;
        for (const HostSample& sample : timeline.recording().records.host_samples) {
            std::optional<std::uint64_t> stack;
            if (sample.frame != 0) {
                const auto [known, added] = stacks.try_emplace(sample.frame);
                if (added) known->second = name_id(samples.stack_text(sample.frame));
                stack = known->second;
            }
            table("host_samples")
                .row(process_, sample.process, sample.thread, sample.start_ns, sample.end_ns,
                     activity::to_text(sample.state), stack);
        }
    }

    /// The table that has this name in the schema; it is prepared when it is first asked for.
    Table& table(const char* name) {
        return tables_.try_emplace(name, database_, name).first->second;
    }

    std::uint64_t name_id(std::string_view name) {
        const auto [known, added] = name_ids_.try_emplace(text(name), name_ids_.size() + 1);
        if (added) table("names").row(known->second, known->first);
        return known->second;
    }
    /// Ids of one process begin behind those of the one before.
    std::optional<std::uint64_t> range_id(std::optional<std::size_t> range) const {
        return range ? std::optional<std::uint64_t>(first_range_ + *range + 1) : std::nullopt;
    }
    /// None for 0, which is no configuration.
    std::optional<std::uint64_t> configuration_id(std::uint32_t id) const {
        return id == 0 ? std::nullopt : std::optional(first_configuration_ + id);
    }

    const sqlite::Database& database_;
    std::map<std::string, Table> tables_;
    std::unordered_map<std::string, std::uint64_t> name_ids_;
    std::uint64_t process_ = 0, first_range_ = 0, first_configuration_ = 0;
};

}  // namespace

void write_database(const std::filesystem::path& file, const std::vector<Timeline>& processes,
                    const std::vector<Profile>& profiles) {
    util::make_file_atomically(file, [&](const std::filesystem::path& temporary) {
        const sqlite::Database database(
            temporary, sqlite::Access::write,
            [&](sqlite::Problem, const std::string& reason) {
                return std::make_exception_ptr(util::Error("cannot write {}: SQLite: {}",
                                                           util::printable(file.native()), reason));
            },
            {.value_bytes = longest_value_bytes});
        // A file that is not finished is removed: it needs no journal beside it and no
        // synchronisation.
        database.execute("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; BEGIN");
        database.execute(database_tables);
        Table(database, "schema_version").row("perfgate.profile.sqlite", database_version);
        DatabaseWriter writer(database);
        for (std::size_t i = 0; i < processes.size(); ++i) writer.add(processes[i], profiles[i]);
        database.execute(database_indices);
        database.execute(fmt::format("PRAGMA user_version={}; COMMIT", database_version));
    });
}

}  // namespace perfgate::activity

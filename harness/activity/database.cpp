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
    explicit DatabaseWriter(const sqlite::Database& database)
        : processes_(database, "processes"),
          problems_(database, "problems"),
          facts_(database, "recording_facts"),
          counts_(database, "launch_counts"),
          clocks_(database, "clock_readings"),
          devices_(database, "devices"),
          names_(database, "names"),
          configurations_(database, "launch_configurations"),
          ranges_(database, "range_records"),
          kernels_(database, "kernel_records"),
          copies_(database, "copies"),
          memsets_(database, "memsets"),
          calls_(database, "api_call_records"),
          synchronisations_(database, "synchronisations"),
          marks_(database, "marks"),
          memory_(database, "memory_events"),
          profiler_calls_(database, "profiler_calls"),
          overheads_(database, "overheads"),
          collectives_(database, "collectives"),
          samples_(database, "device_samples"),
          gaps_(database, "gaps"),
          host_samples_(database, "host_samples") {}

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
    void add_process(const Timeline& timeline, const Profile& profile);
    void add_devices(const Recording& recording, const Profile& profile);
    void add_configurations(const Recording& recording);
    void add_ranges(const Timeline& timeline, const Profile& profile, const Nesting& nesting);
    void add_work(const Timeline& timeline, const Nesting& nesting);
    void add_calls(const Timeline& timeline, const Nesting& nesting);
    void add_others(const Recording& recording);
    void add_collectives(const Timeline& timeline);
    void add_samples(const Recording& recording);
    void add_gaps(const Timeline& timeline, const Profile& profile);
    void add_host_samples(const Timeline& timeline);

    void bind_place(Table& table, const Timeline& timeline, const Work& work,
                    const Nesting& nesting);

    std::uint64_t name_id(std::string_view name) {
        const auto [known, added] = name_ids_.try_emplace(text(name), name_ids_.size() + 1);
        if (added) names_.row(known->second, std::string_view(known->first));
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

    Table processes_, problems_, facts_, counts_, clocks_, devices_, names_, configurations_,
        ranges_, kernels_, copies_, memsets_, calls_, synchronisations_, marks_, memory_,
        profiler_calls_, overheads_, collectives_, samples_, gaps_, host_samples_;
    std::unordered_map<std::string, std::uint64_t> name_ids_;
    std::uint64_t process_ = 0, first_range_ = 0, first_configuration_ = 0;
};

void DatabaseWriter::add_process(const Timeline& timeline, const Profile& profile) {
    const Recording& recording = timeline.recording();
    processes_.bind(process_);
    processes_.bind(util::parsed<std::int64_t>(recording.field("pid")));
    processes_.bind(util::parsed<std::int64_t>(recording.field("rank")));
    const std::string command = text(recording.field("command"));
    const std::string level = text(recording.field("level")), end = text(recording.end);
    processes_.bind(std::string_view(command));
    processes_.bind(std::string_view(level));
    processes_.bind(unless(std::string_view(end), std::string_view()));
    processes_.bind(profile.incomplete.empty());
    for (const Interval& time : {timeline.span(), profile.window}) {
        processes_.bind(time.begin);
        processes_.bind(time.end);
    }
    bind(processes_, profile.program, profile.knows_sms());
    processes_.step();
    for (const std::string& problem : profile.incomplete) {
        problems_.row(process_, std::string_view(text(problem)));
    }
    for (const auto& [key, value] : recording.header) {
        facts_.row(process_, std::string_view(text(key)), std::string_view(text(value)));
    }
    const Counts& counts = recording.counts;
    if (counts.counted_with_callbacks != 0) {
        counts_.row(process_, counts.kernel_launches, counts.captured_launches,
                    counts.graph_launches, counts.failed_launches);
    }
    for (const ClockReading& clock : recording.records.clocks) {
        clocks_.row(process_, clock.time_ns, clock.realtime_ns, clock.monotonic_ns);
    }
}

void DatabaseWriter::add_devices(const Recording& recording, const Profile& profile) {
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
        devices_.row(process_, device.id, std::string_view(text(recording.text(device.name))),
                     std::string_view(uuid), device.memory_bytes,
                     std::min(device.memory_bandwidth_kb_per_s, largest_kb) * 1000,
                     std::string_view(fmt::format("{}.{}", device.cc_major, device.cc_minor)),
                     device.sm_count, device.mig, busy, peak);
    }
}

void DatabaseWriter::add_configurations(const Recording& recording) {
    const auto codes = machine_code(recording);
    for (const LaunchConfiguration& each : recording.configurations) {
        if (each.id == 0) continue;
        const std::string& symbol = recording.text(each.symbol);
        const std::uint64_t name = name_id(util::demangled(symbol));
        const auto code = codes.find(symbol);
        const std::string fingerprint = code == codes.end() ? "" : text(code->second);
        configurations_.row(configuration_id(each.id), process_, name, name_id(symbol),
                            unless(std::string_view(fingerprint), std::string_view()), each.grid[0],
                            each.grid[1], each.grid[2], each.block[0], each.block[1], each.block[2],
                            each.cluster[0], each.cluster[1], each.cluster[2],
                            each.registers_per_thread, each.static_smem_bytes,
                            each.dynamic_smem_bytes, each.local_bytes_per_thread, each.cooperative);
    }
}

void DatabaseWriter::add_ranges(const Timeline& timeline, const Profile& profile,
                                const Nesting& nesting) {
    const std::vector<const WorkSummary*> works = work_of_ranges(timeline, profile);
    for (std::size_t i = 0; i < timeline.ranges().size(); ++i) {
        const Range& range = timeline.ranges()[i];
        const std::uint64_t name = name_id(timeline.range_name(range));
        ranges_.bind(range_id(i));
        ranges_.bind(process_);
        ranges_.bind(range.time.begin);
        ranges_.bind(range.time.end);
        ranges_.bind(range.open);
        ranges_.bind(range.thread);
        ranges_.bind(name);
        ranges_.bind(range_id(nesting.parent(i)));
        ranges_.bind(nesting.depth(i));
        if (works[i] != nullptr) {
            bind(ranges_, *works[i], profile.knows_sms());
        } else {
            for (int column = 0; column < work_columns; ++column) ranges_.bind(nullptr);
        }
        ranges_.step();
    }
}

void DatabaseWriter::bind_place(Table& table, const Timeline& timeline, const Work& work,
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

void DatabaseWriter::add_work(const Timeline& timeline, const Nesting& nesting) {
    const Records& records = timeline.recording().records;
    for (const Work& work : timeline.work()) {
        Table& table = work.kind == WorkKind::kernel ? kernels_
                       : work.kind == WorkKind::copy ? copies_
                                                     : memsets_;
        table.bind(process_);
        if (work.kind == WorkKind::kernel) {
            table.bind(configuration_id(records.kernels[work.index].configuration));
        } else if (work.kind == WorkKind::copy) {
            const Copy& copy = timeline.copy(work);
            table.bind(activity::to_text(copy.kind));
            table.bind(copy.bytes);
            table.bind(activity::to_text(copy.source));
            table.bind(activity::to_text(copy.destination));
            table.bind(copy.asynchronous);
        } else {
            table.bind(records.memsets[work.index].bytes);
        }
        bind_place(table, timeline, work, nesting);
        table.step();
    }
}

void DatabaseWriter::add_calls(const Timeline& timeline, const Nesting& nesting) {
    for (const ApiCall& call : timeline.api_calls()) {
        const std::uint64_t name = name_id(call_name(timeline.recording().text(call.name)));
        calls_.row(process_, name, call.start_ns, call.end_ns, call.thread, call.correlation,
                   call.result, range_id(nesting.at(call.thread, call.start_ns)));
    }
}

void DatabaseWriter::add_others(const Recording& recording) {
    const Records& records = recording.records;
    for (const Synchronisation& each : records.synchronisations) {
        synchronisations_.row(process_, to_text(each.kind), each.start_ns, each.end_ns,
                              each.context, each.stream, each.correlation);
    }
    for (const Marker& mark : records.markers) {
        if (mark.kind != MarkerKind::instant) continue;
        const std::string& domain = recording.text(mark.domain);
        const std::string name = text(domain.empty() ? recording.text(mark.name)
                                                     : domain + ":" + recording.text(mark.name));
        marks_.row(process_, mark.time_ns, mark.thread, std::string_view(name));
    }
    for (const MemoryEvent& event : records.memory_events) {
        memory_.row(process_, event.time_ns,
                    std::string_view(event.release == 0 ? "allocation" : "release"),
                    activity::to_text(event.kind), event.address, event.bytes, event.pool,
                    event.device, event.context, event.correlation);
    }
    for (const ProfilerCall& call : records.profiler_calls) {
        if (call.kind == ProfilerCallKind::watched) continue;
        profiler_calls_.row(
            process_, call.time_ns, call.thread,
            std::string_view(call.kind == ProfilerCallKind::start ? "start" : "stop"));
    }
    for (const Overhead& each : records.overheads) {
        overheads_.row(process_, std::string_view(overhead_name(each.kind)), each.start_ns,
                       each.end_ns, each.thread);
    }
}

void DatabaseWriter::add_collectives(const Timeline& timeline) {
    for (const Collective& each : collectives_of(timeline)) {
        const std::string name = text(each.name);
        const bool ran = each.time.length() != 0;
        collectives_.row(process_, std::string_view(name),
                         std::string_view(fmt::format("{:x}", each.communicator)),
                         unless(each.ranks, std::uint32_t{0}), each.launched_ns, each.thread,
                         each.calls, each.bytes, unless(each.bus_bytes, 0.0),
                         ran ? std::optional(each.time.begin) : std::nullopt,
                         ran ? std::optional(each.time.end) : std::nullopt);
    }
}

void DatabaseWriter::add_samples(const Recording& recording) {
    for (const DeviceSample& sample : recording.records.device_samples) {
        samples_.bind(process_);
        samples_.bind(sample.device);
        samples_.bind(sample.start_ns);
        samples_.bind(sample.end_ns);
        for (const std::uint32_t bits : sample.bits) {
            const auto value = std::bit_cast<float>(bits);
            samples_.bind(value < 0 ? std::nullopt : std::optional<double>(value));
        }
        samples_.step();
    }
}

void DatabaseWriter::add_gaps(const Timeline& timeline, const Profile& profile) {
    std::unordered_map<std::uint64_t, const Gap*> longest;
    for (const Gap& gap : profile.gaps) longest[gap.time.begin] = &gap;
    for (const Interval& time : gaps_in(timeline, profile.windows)) {
        const auto known = longest.find(time.begin);
        if (known == longest.end()) {
            gaps_.row(process_, time.begin, time.end, nullptr, nullptr, nullptr, nullptr, nullptr,
                      nullptr, nullptr);
            continue;
        }
        const Gap& gap = *known->second;
        const std::string call = text(gap.call), before = text(gap.before), after = text(gap.after),
                          range = text(gap.range);
        constexpr std::string_view none;
        gaps_.row(process_, time.begin, time.end, activity::to_text(gap.cause),
                  unless(std::string_view(call), none), gap.in_calls_ns,
                  unless(std::string_view(before), none), unless(std::string_view(after), none),
                  unless(std::string_view(range), none), unless(std::string_view(gap.host), none));
    }
}

void DatabaseWriter::add_host_samples(const Timeline& timeline) {
    const HostSamples samples(timeline);
    std::unordered_map<std::uint32_t, std::uint64_t> stacks;
    for (const HostSample& sample : timeline.recording().records.host_samples) {
        std::optional<std::uint64_t> stack;
        if (sample.frame != 0) {
            const auto [known, added] = stacks.try_emplace(sample.frame);
            if (added) known->second = name_id(samples.stack_text(sample.frame));
            stack = known->second;
        }
        host_samples_.row(process_, sample.process, sample.thread, sample.start_ns, sample.end_ns,
                          activity::to_text(sample.state), stack);
    }
}

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
        Table(database, "schema_version")
            .row(std::string_view("perfgate.profile.sqlite"), database_version);
        DatabaseWriter writer(database);
        for (std::size_t i = 0; i < processes.size(); ++i) writer.add(processes[i], profiles[i]);
        database.execute(database_indices);
        database.execute(fmt::format("PRAGMA user_version={}; COMMIT", database_version));
    });
}

}  // namespace perfgate::activity

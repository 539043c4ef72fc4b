// SPDX-License-Identifier: Apache-2.0
#include "traces/traces.hpp"

#include <fmt/format.h>

#include <simdjson.h>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "traces/recording_builder.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::traces {
namespace {

using simdjson::ondemand::object;

std::string_view trimmed(std::string_view token) {
    while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') {
        token.remove_suffix(1);
    }
    return token;
}

/// A number that is whole; nothing for all else, also for texts ("pid": "Spans").
std::optional<std::int64_t> whole(std::string_view token) {
    return util::parsed<std::int64_t>(trimmed(token));
}

/// Microseconds as nanoseconds, without the rounding of a double. Nothing where it is negative or
/// out of range.
std::optional<std::uint64_t> nanoseconds(std::string_view token) {
    token = trimmed(token);
    const char* const end = token.data() + token.size();
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max() / 1000 - 1;
    std::uint64_t micros = 0;
    const auto [at, error] = std::from_chars(token.data(), end, micros);
    if (error == std::errc() && micros <= most) {
        if (at == end) return micros * 1000;
        std::uint64_t fraction = 0, digits = 0;
        const char* digit = at + 1;
        for (; *at == '.' && digit != end && *digit >= '0' && *digit <= '9'; ++digit) {
            if (digits++ < 3) fraction = 10 * fraction + static_cast<std::uint64_t>(*digit - '0');
        }
        for (std::uint64_t i = digits; i < 3; ++i) fraction *= 10;
        if (digits != 0 && digit == end) return micros * 1000 + fraction;
    }
    // As other programs write it: 1.7e15.
    const auto value = util::parsed<double>(token);
    if (!value || !(*value >= 0) || *value > static_cast<double>(most)) return std::nullopt;
    return static_cast<std::uint64_t>(std::llround(*value * 1000));
}

std::uint32_t number32(std::optional<std::int64_t> value) {
    return static_cast<std::uint32_t>(value.value_or(0));
}

/// An event as it was written; texts are valid until the next one is read.
struct Event {
    std::string_view phase, category, name;
    bool has_name = true;  ///< that can be read: those of Python functions may have bad escapes
    std::optional<std::int64_t> process, thread;
    std::optional<std::uint64_t> begin_ns, duration_ns;
    // Of its `args`:
    std::string_view named, wait;
    std::optional<std::int64_t> device, context, stream, correlation, bytes, registers,
        shared_memory, graph, graph_node;
    std::array<std::uint32_t, 3> grid{}, block{}, cluster{};

    [[nodiscard]] std::uint64_t end_ns() const { return *begin_ns + *duration_ns; }
};

/// Reads the members of one event.
class EventReader {
  public:
    /// False where the text is no object. What is not needed is not looked at: Kineto has written
    /// bare `inf`.
    bool read(std::string_view text, Event& event) {
        event = {};
        simdjson::ondemand::document document;
        object root;
        if (parser_.iterate(text.data(), text.size(), text.size() + JsonPieces::padding)
                    .get(document) != simdjson::SUCCESS ||
            document.get_object().get(root) != simdjson::SUCCESS) {
            return false;
        }
        return members(root, event, &EventReader::take);
    }

  private:
    using Value = simdjson::ondemand::value;

    bool members(object& from, Event& event,
                 bool (EventReader::*to)(std::string_view, Value&, Event&)) {
        for (auto each : from) {
            std::string_view key;
            Value value;
            if (each.unescaped_key().get(key) != simdjson::SUCCESS ||
                each.value().get(value) != simdjson::SUCCESS || !(this->*to)(key, value, event)) {
                return false;
            }
        }
        return true;
    }

    static bool text(Value& value, std::string_view& to) {
        simdjson::ondemand::json_type type{};
        if (value.type().get(type) != simdjson::SUCCESS) return false;
        if (type != simdjson::ondemand::json_type::string) return true;
        return value.get_string().get(to) == simdjson::SUCCESS;
    }

    static std::string_view token(Value& value) { return value.raw_json_token(); }

    static bool sizes(Value& value, std::array<std::uint32_t, 3>& to) {
        simdjson::ondemand::array array;
        simdjson::ondemand::json_type type{};
        if (value.type().get(type) != simdjson::SUCCESS) return false;
        // Triton's operators have a text there.
        if (type != simdjson::ondemand::json_type::array) return true;
        if (value.get_array().get(array) != simdjson::SUCCESS) return false;
        std::size_t place = 0;
        for (auto each : array) {
            Value size;
            if (each.get(size) != simdjson::SUCCESS) return false;
            if (place < to.size()) to.at(place++) = number32(whole(token(size)));
        }
        return true;
    }

    bool take(std::string_view key, Value& value, Event& event) {
        if (key == "ph") return text(value, event.phase);
        if (key == "cat") return text(value, event.category);
        if (key == "name") {
            event.has_name = text(value, event.name);
            return true;
        }
        if (key == "pid") event.process = whole(token(value));
        if (key == "tid") event.thread = whole(token(value));
        if (key == "ts") event.begin_ns = nanoseconds(token(value));
        if (key == "dur") event.duration_ns = nanoseconds(token(value));
        if (key != "args") return true;
        object args;
        simdjson::ondemand::json_type type{};
        if (value.type().get(type) != simdjson::SUCCESS) return false;
        if (type != simdjson::ondemand::json_type::object) return true;
        return value.get_object().get(args) == simdjson::SUCCESS &&
               members(args, event, &EventReader::take_argument);
    }

    bool take_argument(std::string_view key, Value& value, Event& event) {
        static constexpr std::pair<std::string_view, std::optional<std::int64_t> Event::*>
            numbers[] = {{"device", &Event::device},
                         {"context", &Event::context},
                         {"stream", &Event::stream},
                         {"correlation", &Event::correlation},
                         {"bytes", &Event::bytes},
                         {"registers per thread", &Event::registers},
                         {"shared memory", &Event::shared_memory},
                         {"graph id", &Event::graph},
                         {"graph node id", &Event::graph_node}};
        for (const auto& [name, member] : numbers) {
            if (key == name) event.*member = whole(token(value));
        }
        if (key == "grid") return sizes(value, event.grid);
        if (key == "block") return sizes(value, event.block);
        if (key == "cluster") return sizes(value, event.cluster);
        if (key == "cuda_sync_kind") return text(value, event.wait);
        if (key == "name") text(value, event.named);
        return true;
    }

    simdjson::ondemand::parser parser_;
};

using activity::CopyKind;
using activity::MemoryKind;
using activity::SynchronisationKind;

template <class Value, std::size_t size>
Value named(std::string_view name, const std::pair<std::string_view, Value> (&table)[size]) {
    for (const auto& [known, value] : table) {
        if (name == known) return value;
    }
    return {};
}

constexpr std::pair<std::string_view, CopyKind> copy_kinds[] = {
    {"HtoD", CopyKind::host_to_device},  {"DtoH", CopyKind::device_to_host},
    {"HtoA", CopyKind::host_to_array},   {"AtoH", CopyKind::array_to_host},
    {"AtoA", CopyKind::array_to_array},  {"AtoD", CopyKind::array_to_device},
    {"DtoA", CopyKind::device_to_array}, {"DtoD", CopyKind::device_to_device},
    {"HtoH", CopyKind::host_to_host},    {"PtoP", CopyKind::peer_to_peer}};
constexpr std::pair<std::string_view, MemoryKind> memory_kinds[] = {
    {"Pageable", MemoryKind::pageable},
    {"Pinned", MemoryKind::pinned},
    {"Device", MemoryKind::device},
    {"Array", MemoryKind::array},
    {"Managed", MemoryKind::managed},
    {"Device Static", MemoryKind::device_static},
    {"Managed Static", MemoryKind::managed_static}};
constexpr std::pair<std::string_view, SynchronisationKind> waits[] = {
    {"Event Sync", SynchronisationKind::event},
    {"Stream Wait Event", SynchronisationKind::stream_wait_event},
    {"Stream Sync", SynchronisationKind::stream},
    {"Context Sync", SynchronisationKind::context}};

/// "Memcpy HtoD (Pageable -> Device)".
void describe_copy(std::string_view name, activity::Copy& copy) {
    constexpr std::string_view start = "Memcpy ", arrow = " -> ";
    if (!name.starts_with(start)) return;
    name.remove_prefix(start.size());
    copy.kind = named(name.substr(0, name.find(' ')), copy_kinds);
    const std::size_t open = name.find('('), middle = name.find(arrow), close = name.find(')');
    if (open == name.npos || middle == name.npos || close == name.npos || open > middle ||
        middle + arrow.size() > close) {
        return;
    }
    copy.source = named(name.substr(open + 1, middle - open - 1), memory_kinds);
    const std::size_t second = middle + arrow.size();
    copy.destination = named(name.substr(second, close - second), memory_kinds);
}

class TraceReader {
  public:
    TraceReader(const Fill& fill, const std::string& source)
        : pieces_(fill, source), source_(source), builder_(source, "kineto", taken_) {}

    activity::Recording take() {
        bool any = false;
        if (!pieces_.enter_object()) refuse();
        while (const std::optional<std::string> key = pieces_.key()) {
            if (*key == "traceEvents") {
                if (!pieces_.enter_array()) refuse();
                any = true;
                events();
            } else if (*key == "deviceProperties") {
                member(&TraceReader::devices);
            } else if (*key == "distributedInfo") {
                member(&TraceReader::rank);
            } else if (*key == "WARNING" || *key == "ERROR") {
                logged_error_ = *key == "ERROR";
                member(&TraceReader::messages);
            } else {
                pieces_.skip();
            }
        }
        pieces_.finish();
        const activity::Records& records = builder_.records();
        if (!any) refuse();
        if (records.kernels.empty() && records.copies.empty() && records.memsets.empty() &&
            records.api_calls.empty()) {
            throw util::InputError(
                source_ + ": the trace has no CUDA activity: record it with ProfilerActivity.CUDA");
        }
        if (has_nanoseconds_ && kernels_without_length_ != 0) {
            builder_.add_problem(
                fmt::format("{} of 0 ns", util::counted(kernels_without_length_, "kernel")));
        }
        if (process_) {
            builder_.header("pid") = std::to_string(*process_);
            builder_.header("command") = names_[*process_];
        }
        // Static and dynamic shared memory in one figure.
        builder_.header("untold") = "static_smem dynamic_smem";
        return builder_.take();
    }

  private:
    using Element = simdjson::dom::element;

    [[noreturn]] void refuse() const {
        throw util::InputError(source_ + ": no trace of torch.profiler: it has no traceEvents");
    }

    /// A member of the root that is looked at as a whole.
    void member(void (TraceReader::*to)(Element)) {
        const std::string_view text = pieces_.value();
        Element root;
        if (dom_.parse(text.data(), text.size(), false).get(root) != simdjson::SUCCESS) {
            pieces_.fail("it is no JSON");
        }
        (this->*to)(root);
    }

    static std::uint64_t number_in(Element element, const char* key) {
        std::uint64_t value = 0;
        return element[key].get(value) == simdjson::SUCCESS ? value : 0;
    }

    void devices(Element root) {
        simdjson::dom::array array;
        if (root.get(array) != simdjson::SUCCESS) return;
        for (const Element each : array) {
            activity::Device device;
            std::string_view name;
            device.id = static_cast<std::uint32_t>(number_in(each, "id"));
            if (each["name"].get(name) == simdjson::SUCCESS) device.name = builder_.text(name);
            device.memory_bytes = number_in(each, "totalGlobalMem");
            device.cc_major = static_cast<std::uint32_t>(number_in(each, "computeMajor"));
            device.cc_minor = static_cast<std::uint32_t>(number_in(each, "computeMinor"));
            device.sm_count = static_cast<std::uint32_t>(number_in(each, "numSms"));
            builder_.add(builder_.records().devices, device);
        }
    }

    void rank(Element root) {
        std::int64_t rank = 0;
        if (root["rank"].get(rank) == simdjson::SUCCESS) {
            builder_.header("rank") = std::to_string(rank);
        }
    }

    /// What Kineto logged: its errors, and that CUPTI had to drop records.
    void messages(Element root) {
        simdjson::dom::array array;
        if (root.get(array) != simdjson::SUCCESS) return;
        for (const Element each : array) {
            std::string_view line;
            if (each.get(line) != simdjson::SUCCESS) continue;
            if (logged_error_ || line.find("Dropped") != line.npos) {
                builder_.add_problem(fmt::format("Kineto says: {}", line.substr(0, 300)));
            }
        }
    }

    void events() {
        EventReader reader;
        Event event;
        while (const std::optional<std::string_view> text = pieces_.element()) {
            if (!reader.read(*text, event)) pieces_.fail("this event is no JSON");
            take(event);
        }
    }

    void take(const Event& event) {
        if (event.phase == "M" && event.name == "process_name" && event.process) {
            constexpr std::size_t most_names = 10'000, longest_name = 4096;
            if (names_.size() < most_names) {
                names_.try_emplace(*event.process, event.named.substr(0, longest_name));
            }
        }
        if (event.phase != "X") return;
        // Older traces have capitals.
        const auto is = [&](std::string_view category, std::string_view old) {
            if (event.category != category && event.category != old) return false;
            if (!event.has_name) pieces_.fail("this event's name is no JSON");
            return true;
        };
        if (is("kernel", "Kernel")) return kernel(event);
        if (is("gpu_memcpy", "Memcpy")) return copy(event);
        if (is("gpu_memset", "Memset")) return memset(event);
        if (is("cuda_runtime", "Runtime") || is("cuda_driver", "cuda_driver")) return call(event);
        if (is("cuda_sync", "cuda_sync")) return wait(event);
        if (is("user_annotation", "user_annotation")) return range(event);
    }

    bool has_time(const Event& event) {
        const bool whole = event.begin_ns && event.duration_ns;
        return builder_.has_time(whole ? *event.begin_ns : 0, whole ? event.end_ns() : 0);
    }

    /// Other programs write traces of this format, too.
    [[nodiscard]] activity::Place place(const Event& event) const {
        if (!event.device || !event.stream || !event.correlation) {
            pieces_.fail(
                "a kernel, copy or memset without device, stream or correlation: no trace of "
                "torch.profiler");
        }
        return {number32(event.device), number32(event.context), number32(event.stream),
                number32(event.correlation)};
    }

    static activity::GraphNode graph(const Event& event) {
        return {static_cast<std::uint64_t>(event.graph_node.value_or(0)), number32(event.graph), 0};
    }

    void kernel(const Event& event) {
        if (!has_time(event)) return;
        has_nanoseconds_ |= *event.begin_ns % 1000 != 0 || *event.duration_ns % 1000 != 0;
        if (*event.duration_ns == 0) ++kernels_without_length_;
        activity::LaunchConfiguration launch;
        launch.symbol = builder_.text(event.name);
        launch.grid = event.grid;
        launch.block = event.block;
        launch.cluster = event.cluster;
        launch.registers_per_thread = number32(event.registers);
        launch.dynamic_smem_bytes = number32(event.shared_memory);
        builder_.add(builder_.records().kernels, {*event.begin_ns, event.end_ns(), place(event),
                                                  graph(event), builder_.configuration(launch), 0});
    }

    void copy(const Event& event) {
        if (!has_time(event)) return;
        activity::Copy copy;
        copy.start_ns = *event.begin_ns;
        copy.end_ns = event.end_ns();
        copy.bytes = static_cast<std::uint64_t>(event.bytes.value_or(0));
        copy.place = place(event);
        copy.graph = graph(event);
        describe_copy(event.name, copy);
        builder_.add(builder_.records().copies, copy);
    }

    void memset(const Event& event) {
        if (!has_time(event)) return;
        builder_.add(
            builder_.records().memsets,
            {*event.begin_ns, event.end_ns(), static_cast<std::uint64_t>(event.bytes.value_or(0)),
             place(event), graph(event)});
    }

    /// The calls of two processes have the same correlations.
    void call(const Event& event) {
        if (process_ && event.process && *process_ != *event.process) {
            throw util::InputError("{}: calls of processes {} and {}: name a trace of each process",
                                   source_, *process_, *event.process);
        }
        if (event.process) process_ = event.process;
        if (!has_time(event)) return;
        builder_.add(builder_.records().api_calls,
                     {*event.begin_ns, event.end_ns(), builder_.text(event.name),
                      number32(event.thread), number32(event.correlation), 0});
    }

    void wait(const Event& event) {
        if (!has_time(event)) return;
        builder_.add(
            builder_.records().synchronisations,
            {*event.begin_ns, event.end_ns(), named(event.wait, waits), number32(event.correlation),
             number32(event.context), number32(event.stream)});
    }

    void range(const Event& event) {
        if (!has_time(event)) return;
        activity::Marker marker;
        marker.name = builder_.text(event.name);
        marker.thread = number32(event.thread);
        builder_.add_range(*event.begin_ns, event.end_ns(), marker, marker.thread);
    }

    JsonPieces pieces_;
    const std::string& source_;
    Taken taken_;
    RecordingBuilder builder_;
    simdjson::dom::parser dom_;
    std::optional<std::int64_t> process_;
    std::map<std::int64_t, std::string> names_;  ///< of processes
    std::size_t kernels_without_length_ = 0;
    bool has_nanoseconds_ = false;  ///< older traces have whole microseconds, and kernels of 0
    bool logged_error_ = false;
};

}  // namespace

bool is_kineto(const Fill& fill) {
    try {
        JsonPieces pieces(fill, "");
        if (!pieces.enter_object()) return false;
        while (const std::optional<std::string> key = pieces.key()) {
            if (*key == "traceEvents") return true;
            if (*key == "schema") return false;  // a document of perfgate
            pieces.skip();
        }
    } catch (const util::InputError&) {
        // The reader of another format says what is wrong.
    }
    return false;
}

activity::Recording read_kineto(const Fill& fill, const std::string& source) {
    return TraceReader(fill, source).take();
}

}  // namespace perfgate::traces

// SPDX-License-Identifier: Apache-2.0
#include "traces/traces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "traces/export_file.hpp"
#include "traces/recording_builder.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::traces {
namespace {

using activity::CopyKind;
using activity::MemoryKind;

// A process and a thread are numbers of 64 bits: machine, process (24 bits), thread (24 bits).
std::int64_t process_of(std::int64_t global) {
    return global & ~std::int64_t{0xffffff};
}
std::uint32_t pid_of(std::int64_t global) {
    return static_cast<std::uint32_t>((global >> 24) & 0xffffff);
}
std::uint32_t thread_of(std::int64_t global) {
    return static_cast<std::uint32_t>(global & 0xffffff);
}

std::uint32_t number32(std::int64_t value) {
    return static_cast<std::uint32_t>(value);
}

/// Times before the capture began are 0.
std::uint64_t time_ns(std::int64_t value) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
}

/// An export counts from pageable memory, CUPTI from unknown.
MemoryKind memory_kind(const Row& row, int column) {
    constexpr std::int64_t last = 6;
    const std::int64_t value = row.integer(column);
    if (!row.has(column) || value < 0 || value > last) return MemoryKind::unknown;
    return static_cast<MemoryKind>(value + 1);
}

/// Beside CUPTI's kinds there are migrations of unified memory.
CopyKind copy_kind(std::int64_t value) {
    constexpr std::array migrations{CopyKind::host_to_device, CopyKind::device_to_host,
                                    CopyKind::device_to_device};
    constexpr auto last = static_cast<std::int64_t>(CopyKind::peer_to_peer);
    if (value >= 0 && value <= last) return static_cast<CopyKind>(value);
    const std::int64_t place = value - last - 1;
    if (place < 0 || place >= static_cast<std::int64_t>(migrations.size())) {
        return CopyKind::unknown;
    }
    return migrations.at(static_cast<std::size_t>(place));
}

constexpr std::int64_t nvtx_mark = 34, nvtx_push_pop = 59, nvtx_start_end = 60, nvtx_domain = 75;

class ExportReader {
  public:
    explicit ExportReader(const std::filesystem::path& file) : file_(file) {}

    std::vector<activity::Recording> take() {
        if (!file_.has_table("StringIds")) {
            throw util::InputError(
                "{}: no export of Nsight Systems: it has no table StringIds; of a recording of "
                "perfgate, name the folder that --out keeps",
                file_.name());
        }
        read_metadata();
        collect_strings();
        read_calls();
        read_kernels();
        read_copies();
        read_memsets();
        read_waits();
        read_ranges();
        drop_idle_processes();
        if (processes_.empty()) {
            throw util::InputError(
                "{}: the export has no CUDA activity: record it with --trace=cuda", file_.name());
        }
        read_devices();
        read_losses();
        return recordings();
    }

  private:
    RecordingBuilder& builder(std::int64_t process) {
        const auto found = processes_.find(process);
        if (found != processes_.end()) return found->second;
        constexpr std::size_t most_processes = 10'000;
        if (processes_.size() == most_processes) {
            throw util::InputError("{}: it has more than {} processes", file_.name(),
                                   most_processes);
        }
        return processes_.try_emplace(process, file_.name(), tool_, taken_).first->second;
    }

    /// Early exports do not say whose a kernel is.
    RecordingBuilder& builder(const Row& row, int column) {
        if (row.has(column)) return builder(process_of(row.integer(column)));
        if (processes_.empty()) return builder(0);
        if (processes_.size() > 1) {
            throw util::InputError(
                "{}: several processes, and work without globalPid: export it again, with a newer "
                "nsys",
                file_.name());
        }
        return processes_.begin()->second;
    }

    void read_metadata() {
        file_.rows("META_DATA_EXPORT", {{"name"}, {"value"}}, [&](const Row& row) {
            if (row.text(0) == "EXPORT_PRODUCT_VERSION") {
                tool_ = fmt::format("nsys {}", row.text(1).substr(0, 40));
            }
        });
        file_.rows("META_DATA_CAPTURE", {{"name"}, {"value"}}, [&](const Row& row) {
            if (row.text(0).ends_with(":ENVIRONMENT_VARIABLE")) take_rank(row.text(1));
        });
    }

    /// RANK="3", of the program that was started.
    void take_rank(std::string_view variable) {
        constexpr std::array<std::string_view, 4> names{"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                                        "SLURM_PROCID"};
        const std::size_t equals = variable.find("=\"");
        if (equals == variable.npos || !variable.ends_with('"')) return;
        const auto place = static_cast<std::size_t>(
            std::ranges::find(names, variable.substr(0, equals)) - names.begin());
        if (place >= rank_place_) return;
        const std::string_view value =
            variable.substr(equals + 2, std::max(variable.size() - equals, std::size_t{3}) - 3);
        if (value.empty() || value.find_first_not_of("0123456789") != value.npos) return;
        rank_place_ = place;
        rank_ = value;
    }

    /// The names that are used: among the others are whole files.
    void collect_strings() {
        std::unordered_set<std::int64_t> used;
        const auto use = [&](const char* table, const char* column) {
            file_.rows(table, {{column}}, [&](const Row& row) {
                if (!row.has(0)) return;
                used.insert(row.integer(0));
                if (used.size() > most_records) {
                    throw util::InputError("{}: it has more than {} names", file_.name(),
                                           most_records);
                }
            });
        };
        use(kernel_table, "mangledName");
        use(kernel_table, "demangledName");
        use(call_table, "nameId");
        use("NVTX_EVENTS", "textId");
        file_.rows("StringIds", {{"id", true}, {"value"}}, [&](const Row& row) {
            if (!used.contains(row.integer(0))) return;
            const std::string_view text = row.text(1).substr(0, activity::max_string_bytes);
            string_bytes_ += text.size();
            if (string_bytes_ > most_text_bytes) {
                throw util::InputError("{}: its names take more than {} MiB", file_.name(),
                                       most_text_bytes >> 20);
            }
            strings_.try_emplace(row.integer(0), text);
        });
    }

    [[nodiscard]] std::string_view string(const Row& row, int column) const {
        if (!row.has(column)) return {};
        const auto found = strings_.find(row.integer(column));
        return found == strings_.end() ? std::string_view() : found->second;
    }

    void read_calls() {
        file_.rows(
            call_table,
            {{"start", true},
             {"end", true},
             {"globalTid", true},
             {"correlationId"},
             {"nameId"},
             {"returnValue"}},
            [&](const Row& row) {
                RecordingBuilder& own = builder(process_of(row.integer(2)));
                if (!own.has_time(begin(row), end(row))) return;
                own.add(own.records().api_calls,
                        {begin(row), end(row), own.text(string(row, 4)), thread_of(row.integer(2)),
                         number32(row.integer(3)), number32(row.integer(5))});
            });
    }

    static std::uint64_t begin(const Row& row) { return time_ns(row.integer(0)); }
    static std::uint64_t end(const Row& row) { return time_ns(row.integer(1)); }

    /// The columns that place() and graph() read, and others after them.
    static std::vector<Column> placed(std::initializer_list<Column> others) {
        std::vector<Column> columns{{"start", true},    {"end", true},   {"globalPid"},
                                    {"deviceId", true}, {"contextId"},   {"streamId", true},
                                    {"correlationId"},  {"graphNodeId"}, {"graphId"}};
        columns.insert(columns.end(), others);
        return columns;
    }
    static activity::Place place(const Row& row) {
        return {number32(row.integer(3)), number32(row.integer(4)), number32(row.integer(5)),
                number32(row.integer(6))};
    }
    static activity::GraphNode graph(const Row& row) {
        return {static_cast<std::uint64_t>(row.integer(7)), number32(row.integer(8)), 0};
    }

    void read_kernels() {
        constexpr std::int64_t cooperative = 2;
        file_.rows(kernel_table,
                   placed({{"mangledName"},
                           {"demangledName"},
                           {"gridX", true},
                           {"gridY", true},
                           {"gridZ", true},
                           {"blockX", true},
                           {"blockY", true},
                           {"blockZ", true},
                           {"clusterX"},
                           {"clusterY"},
                           {"clusterZ"},
                           {"registersPerThread"},
                           {"staticSharedMemory"},
                           {"dynamicSharedMemory"},
                           {"localMemoryPerThread"},
                           {"launchType"}}),
                   [&](const Row& row) {
                       RecordingBuilder& own = builder(row, 2);
                       // No kernel takes 0 ns.
                       const std::uint64_t end_ns = end(row) == begin(row) ? 0 : end(row);
                       if (!own.has_time(begin(row), end_ns)) return;
                       const auto sizes = [&](int first) {
                           return std::array<std::uint32_t, 3>{number32(row.integer(first)),
                                                               number32(row.integer(first + 1)),
                                                               number32(row.integer(first + 2))};
                       };
                       activity::LaunchConfiguration launch;
                       const std::string_view symbol = string(row, 9);
                       launch.symbol = own.text(symbol.empty() ? string(row, 10) : symbol);
                       launch.grid = sizes(11);
                       launch.block = sizes(14);
                       launch.cluster = sizes(17);
                       launch.registers_per_thread = number32(row.integer(20));
                       launch.static_smem_bytes = number32(row.integer(21));
                       launch.dynamic_smem_bytes = number32(row.integer(22));
                       launch.local_bytes_per_thread = number32(row.integer(23));
                       launch.cooperative = row.integer(24) >= cooperative ? 1 : 0;
                       own.add(own.records().kernels, {begin(row), end(row), place(row), graph(row),
                                                       own.configuration(launch), 0});
                   });
    }

    void read_copies() {
        file_.rows("CUPTI_ACTIVITY_KIND_MEMCPY",
                   placed({{"bytes", true}, {"copyKind", true}, {"srcKind"}, {"dstKind"}}),
                   [&](const Row& row) {
                       RecordingBuilder& own = builder(row, 2);
                       if (!own.has_time(begin(row), end(row))) return;
                       activity::Copy copy;
                       copy.start_ns = begin(row);
                       copy.end_ns = end(row);
                       copy.place = place(row);
                       copy.graph = graph(row);
                       copy.bytes = time_ns(row.integer(9));
                       copy.kind = copy_kind(row.integer(10));
                       copy.source = memory_kind(row, 11);
                       copy.destination = memory_kind(row, 12);
                       own.add(own.records().copies, copy);
                   });
    }

    void read_memsets() {
        file_.rows("CUPTI_ACTIVITY_KIND_MEMSET", placed({{"bytes", true}}), [&](const Row& row) {
            RecordingBuilder& own = builder(row, 2);
            if (!own.has_time(begin(row), end(row))) return;
            own.add(own.records().memsets,
                    {begin(row), end(row), time_ns(row.integer(9)), place(row), graph(row)});
        });
    }

    void read_waits() {
        constexpr auto last = static_cast<std::int64_t>(activity::SynchronisationKind::context);
        file_.rows(
            "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
            {{"start", true},
             {"end", true},
             {"globalPid"},
             {"syncType"},
             {"contextId"},
             {"streamId"},
             {"correlationId"}},
            [&](const Row& row) {
                RecordingBuilder& own = builder(row, 2);
                if (!own.has_time(begin(row), end(row))) return;
                const std::int64_t kind = row.integer(3);
                own.add(
                    own.records().synchronisations,
                    {begin(row), end(row),
                     static_cast<activity::SynchronisationKind>(kind < 0 || kind > last ? 0 : kind),
                     number32(row.integer(6)), number32(row.integer(4)), number32(row.integer(5))});
            });
    }

    void read_ranges() {
        using Domain = std::pair<std::int64_t, std::int64_t>;
        std::map<Domain, std::string> domains;
        const auto each = [&](const auto& visit) {
            file_.rows("NVTX_EVENTS",
                       {{"start", true},
                        {"end"},
                        {"globalTid"},
                        {"eventType", true},
                        {"text"},
                        {"textId"},
                        {"domainId"},
                        {"endGlobalTid"}},
                       visit);
        };
        const auto name = [&](const Row& row) { return row.has(4) ? row.text(4) : string(row, 5); };
        const auto domain = [&](const Row& row) {
            return Domain(process_of(row.integer(2)), row.integer(6));
        };
        each([&](const Row& row) {
            constexpr std::size_t most_domains = 100'000;
            if (row.integer(3) != nvtx_domain || domains.size() == most_domains) return;
            domains.try_emplace(domain(row), name(row).substr(0, activity::max_string_bytes));
        });
        each([&](const Row& row) {
            const std::int64_t type = row.integer(3);
            if (type != nvtx_mark && type != nvtx_push_pop && type != nvtx_start_end) return;
            RecordingBuilder& own = builder(process_of(row.integer(2)));
            const bool ends = row.has(1);
            if (!own.has_time(begin(row), ends ? end(row) : begin(row))) return;
            activity::Marker marker;
            marker.name = own.text(name(row));
            if (const auto known = domains.find(domain(row)); known != domains.end()) {
                marker.domain = own.text(known->second);
            }
            marker.thread = thread_of(row.integer(2));
            if (type == nvtx_mark) {
                marker.time_ns = begin(row);
                marker.kind = activity::MarkerKind::instant;
                return own.add(own.records().markers, marker);
            }
            const std::optional<std::uint64_t> end_ns =
                ends ? std::optional(end(row)) : std::nullopt;
            own.add_range(begin(row), end_ns, marker,
                          row.has(7) ? thread_of(row.integer(7)) : marker.thread);
        });
    }

    /// Those that only have NVTX ranges.
    void drop_idle_processes() {
        std::erase_if(processes_, [](const auto& process) {
            const activity::Records& records = process.second.records();
            return records.kernels.empty() && records.copies.empty() && records.memsets.empty() &&
                   records.api_calls.empty();
        });
    }

    /// The devices of a process by its own numbers; where these are not there, by the machine's.
    void read_devices() {
        std::map<std::int64_t, activity::Device> gpus;
        std::map<std::int64_t, std::string> names;
        constexpr std::size_t most_gpus = 1000;
        file_.rows("TARGET_INFO_GPU",
                   {{"id", true},
                    {"name"},
                    {"totalMemory"},
                    {"memoryBandwidth"},
                    {"smCount"},
                    {"computeMajor"},
                    {"computeMinor"}},
                   [&](const Row& row) {
                       if (gpus.size() == most_gpus) return;
                       activity::Device& gpu = gpus[row.integer(0)];
                       names[row.integer(0)] = row.text(1).substr(0, 200);
                       gpu.memory_bytes = time_ns(row.integer(2));
                       gpu.memory_bandwidth_kb_per_s = time_ns(row.integer(3)) / 1000;
                       gpu.sm_count = number32(row.integer(4));
                       gpu.cc_major = number32(row.integer(5));
                       gpu.cc_minor = number32(row.integer(6));
                   });
        std::set<std::uint32_t> pids;
        for (const auto& [process, own] : processes_) pids.insert(pid_of(process));
        std::map<std::uint32_t, std::map<std::int64_t, std::int64_t>> by_process;
        file_.rows("TARGET_INFO_CUDA_DEVICE", {{"gpuId", true}, {"cudaId", true}, {"pid", true}},
                   [&](const Row& row) {
                       if (!pids.contains(number32(row.integer(2)))) return;
                       auto& own = by_process[number32(row.integer(2))];
                       if (own.size() < most_gpus) own[row.integer(1)] = row.integer(0);
                   });
        std::map<std::uint32_t, std::vector<activity::Context>> contexts;
        file_.rows("TARGET_INFO_CUDA_CONTEXT_INFO",
                   {{"processId", true}, {"contextId", true}, {"deviceId"}, {"nullStreamId", true}},
                   [&](const Row& row) {
                       if (!pids.contains(number32(row.integer(0)))) return;
                       contexts[number32(row.integer(0))].push_back({number32(row.integer(1)),
                                                                     number32(row.integer(2)),
                                                                     number32(row.integer(3)), 0});
                   });
        for (auto& [process, own] : processes_) {
            auto numbers = by_process[pid_of(process)];
            if (numbers.empty()) {
                for (const auto& [id, gpu] : gpus) numbers[id] = id;
            }
            for (const auto& [number, id] : numbers) {
                const auto gpu = gpus.find(id);
                if (gpu == gpus.end()) continue;
                gpu->second.id = number32(number);
                gpu->second.name = own.text(names[id]);
                own.add(own.records().devices, gpu->second);
            }
            for (const activity::Context& context : contexts[pid_of(process)]) {
                own.add(own.records().contexts, context);
            }
        }
    }

    /// What the export says that it lacks.
    void read_losses() {
        std::map<std::int64_t, std::uint64_t> graphs;
        file_.rows("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {{"globalPid"}}, [&](const Row& row) {
            const std::int64_t process = process_of(row.integer(0));
            if (processes_.contains(process)) ++graphs[process];
        });
        for (auto& [process, own] : processes_) {
            const auto count = graphs.find(process);
            if (count == graphs.end()) continue;
            own.add_problem(
                fmt::format("the kernels of {} of CUDA graphs are not on record: profile with "
                            "--cuda-graph-trace=node",
                            util::counted(count->second, "launch")));
        }
        constexpr std::int64_t error = 3;
        file_.rows(
            "DIAGNOSTIC_EVENT", {{"severity"}, {"text"}, {"globalPid"}}, [&](const Row& row) {
                const std::string_view text = row.text(1);
                if (row.integer(0) != error && !text.starts_with("Not all")) return;
                const auto own = processes_.find(process_of(row.integer(2)));
                for (auto& [process, each] : processes_) {
                    if (own != processes_.end() && own->first != process) continue;
                    each.add_problem(fmt::format("Nsight Systems says: {}", text.substr(0, 300)));
                }
            });
    }

    /// Facts of launches that an early export, or a part of one, lacks.
    [[nodiscard]] std::string untold() const {
        constexpr std::pair<const char*, const char*> facts[] = {
            {"registersPerThread", "registers"},
            {"staticSharedMemory", "static_smem"},
            {"dynamicSharedMemory", "dynamic_smem"}};
        std::string names;
        for (const auto& [column, metric] : facts) {
            if (file_.has_column(kernel_table, column)) continue;
            names += (names.empty() ? "" : " ") + std::string(metric);
        }
        return names;
    }

    std::vector<activity::Recording> recordings() {
        std::map<std::uint32_t, std::string> commands;
        file_.rows("PROCESSES", {{"globalPid", true}, {"name"}}, [&](const Row& row) {
            if (processes_.contains(process_of(row.integer(0)))) {
                commands[pid_of(row.integer(0))] = row.text(1).substr(0, 4096);
            }
        });
        const std::string lacking = untold();
        std::vector<activity::Recording> all;
        for (auto& [process, own] : processes_) {
            own.header("pid") = std::to_string(pid_of(process));
            own.header("command") = commands[pid_of(process)];
            own.header("untold") = lacking;
            if (processes_.size() == 1 && !rank_.empty()) own.header("rank") = rank_;
            all.push_back(own.take());
        }
        return all;
    }

    static constexpr const char* kernel_table = "CUPTI_ACTIVITY_KIND_KERNEL";
    static constexpr const char* call_table = "CUPTI_ACTIVITY_KIND_RUNTIME";

    ExportFile file_;
    Taken taken_;
    std::string tool_ = "nsys";
    std::string rank_;
    std::size_t rank_place_ = 4, string_bytes_ = 0;
    std::unordered_map<std::int64_t, std::string> strings_;
    std::map<std::int64_t, RecordingBuilder> processes_;
};

}  // namespace

std::vector<activity::Recording> read_nsight_systems(const std::filesystem::path& file) {
    return ExportReader(file).take();
}

}  // namespace perfgate::traces

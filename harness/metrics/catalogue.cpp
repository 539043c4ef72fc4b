// SPDX-License-Identifier: Apache-2.0
//
// The table. A row has a friendly name, its CUPTI names on the chips from Volta to Blackwell, and
// its properties. A test checks every row against every chip that CUPTI knows: a metric is
// available everywhere except on the chips in `absent_on`.
//
// Hit rates, stalls and the like are ratios of sums rather than CUPTI's own `.pct` and `.ratio`
// metrics: the same value in the same number of passes, and exact over several kernels.
#include "metrics/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>

#include "model/choices.hpp"
#include "util/text.hpp"

namespace perfgate::metrics {

namespace {

using model::Direction;
using model::Fold;
using model::Kernel;
using enum model::Direction;
using enum model::MetricClass;

/// Chips in one package with the CPU: they have no DRAM and no PCIe of their own that CUPTI counts.
/// GA10B is Orin, GB10B Thor, GB20B the Spark.
const std::vector<std::string> integrated = {"GA10B", "GB10B", "GB20B"};

Term one(std::string name) {
    return {1, {std::move(name)}, false};
}
/// Alternatives: the first that the chip has.
Term any(std::vector<std::string> names) {
    return {1, std::move(names), false};
}

Metric by_name_only(Metric metric) {
    metric.by_name_only = true;
    return metric;
}

/// Also what the device samples over time (activity/samples.hpp).
Metric sampled(Metric metric) {
    metric.sampled = true;
    return metric;
}

/// What the values of several rows are.
struct Quantity {
    const char* unit;
    Direction direction;
    model::MetricClass metric_class;
    Fold fold;
};
constexpr Quantity elapsed{"ns", lower, timing, Fold::sum};
constexpr Quantity longest_time{"ns", lower, timing, Fold::max};
constexpr Quantity share_of_time{"%", lower, timing, Fold::max};
constexpr Quantity share_of_peak{"%", higher, counter, Fold::weighted_mean};
constexpr Quantity share_of_counts{"%", higher, counter, Fold::ratio};
constexpr Quantity exact_count{"count", lower, exact, Fold::sum};
constexpr Quantity varying_count{"count", lower, counter, Fold::sum};
/// Neither way is better.
constexpr Quantity neutral_count{"count", none, exact, Fold::sum};
constexpr Quantity most_bytes{"bytes", lower, exact, Fold::max};
constexpr Quantity volume{"bytes", lower, exact, Fold::sum};
constexpr Quantity traffic{"bytes", lower, counter, Fold::sum};
constexpr Quantity neutral_traffic{"bytes", none, counter, Fold::sum};

// --- rows without counters

Metric from(Source source, std::string_view name, std::string_view description,
            const Quantity& quantity) {
    Metric metric;
    metric.definition = {std::string(name),  std::string(description), quantity.unit,
                         quantity.direction, quantity.metric_class,    quantity.fold};
    metric.source = source;
    return metric;
}

Metric prepare_time() {
    Metric metric;
    metric.definition = model::prepare_time_definition();
    metric.source = Source::preparation;
    return by_name_only(metric);
}

Metric program(std::string_view name, std::string_view description, const Quantity& quantity) {
    return from(Source::program, name, description, quantity);
}

Metric benchmark(std::string_view name, std::string_view description, const Quantity& quantity) {
    return from(Source::benchmark, name, description, quantity);
}

Metric launch_fact(std::string_view name, std::string_view description, const Quantity& quantity,
                   double (*record)(const Kernel&)) {
    Metric metric = from(Source::kernel_record, name, description, quantity);
    metric.record = record;
    return metric;
}

/// A field of the kernel's record, which need not be known.
template <auto field>
double recorded(const Kernel& kernel) {
    const std::optional value = kernel.*field;
    return value ? static_cast<double>(*value) : std::numeric_limits<double>::quiet_NaN();
}

/// Measured apart from everything else, so only if a suite asks for it.
Metric of_reading(const char* reading, std::string_view name, std::string_view description,
                  const Quantity& quantity) {
    Metric metric = by_name_only(from(Source::reading, name, description, quantity));
    metric.reading = reading;
    return metric;
}

Metric of_bare_runs(Metric metric) {
    metric.from_bare_runs = true;
    return metric;
}

// --- rows of counters

Metric counted(std::string_view name, std::string_view description, const Quantity& quantity,
               std::vector<Term> sum, std::vector<std::string> absent_on = {}) {
    Metric metric = from(Source::counter, name, description, quantity);
    metric.numerator = std::move(sum);
    metric.absent_on = std::move(absent_on);
    return metric;
}

Metric divided(std::string_view name, std::string_view description, const Quantity& quantity,
               double scale, std::vector<Term> numerator, std::vector<Term> denominator,
               std::vector<std::string> absent_on = {}) {
    Metric metric =
        counted(name, description, quantity, std::move(numerator), std::move(absent_on));
    metric.denominator = std::move(denominator);
    metric.scale = scale;
    return metric;
}

/// Floating-point operations that were executed: additions and multiplications count 1, fused
/// multiply-additions 2; on CUDA cores by SASS instruction with all predicates true, in the tensor
/// pipe as the hardware counts them (an mma or wgmma of m, n, k counts 2·m·n·k).
std::vector<Term> floating_point_operations() {
    std::vector<Term> terms;
    const auto sass = [&](double weight, std::initializer_list<const char*> operations,
                          bool optional = false) {
        for (const std::string operation : operations) {
            terms.push_back({weight,
                             {"smsp__sass_thread_inst_executed_op_" + operation + "_pred_on.sum"},
                             optional});
        }
    };
    const auto tensor = [&](std::initializer_list<const char*> paths) {
        Term& term = terms.emplace_back(Term{1, {}, true});
        for (const std::string path : paths) {
            term.names.push_back("sm__ops_path_tensor_src_" + path + ".sum");
        }
    };
    sass(1, {"fadd", "fmul"});
    sass(2, {"ffma"});
    sass(1, {"dadd", "dmul"});
    sass(2, {"dfma"});
    // Two lanes each: half arithmetic runs on packed instructions, and CUPTI counts one per thread
    // whether the code uses both lanes or one.
    sass(2, {"hadd", "hmul"});
    sass(4, {"hfma"});
    // Data-centre Blackwell's packed instructions, of 2 and 4 lanes, counted apart from the plain
    // ones.
    sass(2, {"fadd2", "fmul2"}, true);
    sass(4, {"ffma2", "qadd4", "qmul4"}, true);
    sass(8, {"qfma4"}, true);
    // Each path once: no chip has two names of the same term. Turing has one counter for all fp32
    // accumulation; Hopper does not distinguish fp16's accumulators.
    tensor({"fp16_bf16_tf32_dst_fp32", "fp16_dst_fp32"});
    tensor({"fp16", "fp16_dst_fp16"});
    tensor({"bf16_dst_fp32"});
    tensor({"tf32_dst_fp32"});
    tensor({"fp64"});
    tensor({"fp8", "fp8_dst_fp32", "fp4_fp6_fp8_dst_fp32"});
    tensor({"fp8_dst_fp16", "fp4_fp6_fp8_dst_fp16"});
    tensor({"fp4_fp6_dst_fp32"});
    tensor({"fp4_fp6_dst_fp16"});
    tensor({"fp4_dst_fp32"});
    return terms;
}

struct StallReason {
    const char* name;
    const char* description;
    Direction direction = lower;
    std::vector<std::string> absent_on = {};
};

/// Warp states, by CUPTI's names: all of its reasons. `selected` and `not_selected` are not stalls.
/// CUPTI splits two of them further on some chips (…_pipe_l1tex, …_pipe_mio); use the raw names for
/// these parts.
std::vector<StallReason> stall_reasons() {
    return {
        {"barrier", "waiting at a barrier of the block"},
        {"branch_resolving", "waiting for a branch's target"},
        {"dispatch_stall", "held back by the dispatcher"},
        {"drain", "that exited, waiting for their stores"},
        // Hopper's instructions.
        {"gmma",
         "waiting for a warp-group matrix instruction",
         lower,
         {"GV*", "TU*", "GA*", "AD*", "GB*"}},
        // Blackwell does not count it separately.
        {"imc_miss", "waiting for an immediate constant", lower, {"GB*"}},
        {"lg_throttle", "waiting for the queue of local and global memory"},
        {"long_scoreboard", "waiting for global, local or texture data"},
        {"math_pipe_throttle", "waiting for a busy arithmetic pipe"},
        {"membar", "waiting at a memory barrier"},
        {"mio_throttle", "waiting for the queue of shared memory and special functions"},
        {"misc", "waiting for what the hardware does not name"},
        {"no_instruction", "waiting for their next instruction"},
        {"not_selected", "ready while another issued", none},
        {"selected", "that issued", none},
        {"short_scoreboard", "waiting for data of shared memory or special functions"},
        {"sleeping", "sleeping as the code asked"},
        {"tex_throttle", "waiting for the queue of textures"},
        {"wait", "waiting out a fixed latency between two instructions"},
    };
}

Metric stall(const StallReason& reason) {
    const std::string name = reason.name;
    return divided("stall_" + name,
                   fmt::format("warps {}, per issued instruction", reason.description),
                   {"ratio", reason.direction, counter, Fold::ratio}, 1,
                   {one("smsp__warps_issue_stalled_" + name + ".sum")},
                   {one("smsp__issue_active.sum")}, reason.absent_on);
}

std::vector<Metric> make_catalogue() {
    const std::vector<Term> flops = floating_point_operations();
    std::vector<Metric> rows = {
        // --- time
        from(Source::activity, "gpu_time",
             "time in which a kernel, copy or memset of the launch was running", elapsed),
        from(Source::event, "gpu_span", "time between events before and after the launch", elapsed),
        from(Source::wall, "host_time", "wall time of a host variant's launch", elapsed),
        prepare_time(),
        by_name_only(from(Source::ceiling, ceiling_share,
                          "the run's ceiling that bounds the stated work, share reached",
                          {"%", higher, timing, Fold::max})),

        // --- what a launch costs the host, and the device's memory
        by_name_only(from(Source::submission, "submit_time",
                          "host time of the call that launches, in processes without CUPTI",
                          elapsed)),
        of_reading("api", "api_calls", "CUDA API calls that one launch of the case makes",
                   exact_count),
        // Neither way is better: it says what the machine code consists of.
        of_reading("disassembly", "code_instructions",
                   "instructions in the machine code of the kernels", neutral_count),
        of_reading("memory", memory_peak,
                   "most device memory that the variant, range or program holds", most_bytes),
        of_reading("memory", "leak", "growth of that memory over 1000 launches", volume),

        // --- energy, over launches back to back
        of_reading("energy", "energy", "energy of one launch, the device's idle power included",
                   {"J", lower, timing, Fold::sum}),
        // A faster kernel may draw more power for less energy: neither way is better.
        of_reading("energy", "power", "mean power of the device over launches back to back",
                   {"W", none, timing, Fold::max}),
        of_reading("energy", "efficiency",
                   "operations that the workload states, per joule of a launch",
                   {"flop/J", higher, timing, Fold::max}),
        of_reading("energy", "bytes_per_joule",
                   "bytes that the workload states, per joule of a launch",
                   {"bytes/J", higher, timing, Fold::max}),

        // --- launch facts, from kernel records
        launch_fact("registers", "registers per thread", {"registers", lower, exact, Fold::max},
                    recorded<&Kernel::registers>),
        launch_fact("static_smem", "shared memory per block that the code declares", most_bytes,
                    recorded<&Kernel::static_smem>),
        launch_fact("dynamic_smem", "shared memory per block that the launch asks for", most_bytes,
                    recorded<&Kernel::dynamic_smem>),
        launch_fact("local_bytes", "local memory per thread: spills and arrays on the stack",
                    most_bytes, recorded<&Kernel::local_bytes>),
        launch_fact("launches", "kernels per launch of the case", exact_count,
                    [](const Kernel&) { return 1.0; }),
        // Not `exact`: over several kernels it is weighted by their durations.
        launch_fact("theoretical_occupancy",
                    "warps that registers, shared memory and block size allow, of an SM's most",
                    share_of_peak, recorded<&Kernel::theoretical_occupancy>),
        // Neither way is better: a full last wave is, whichever number it has.
        launch_fact("waves", "blocks of a kernel over those that the GPU holds at once",
                    {"ratio", none, exact, Fold::max}, recorded<&Kernel::waves>),
        by_name_only(launch_fact("code_size",
                                 "machine code of the largest kernel, with functions it calls",
                                 most_bytes, recorded<&Kernel::code_bytes>)),
        by_name_only(launch_fact("stack", "stack per thread, as far as the compiler can tell",
                                 most_bytes, recorded<&Kernel::stack_bytes>)),

        // --- programs (`command` in a suite); counts are per instance
        of_bare_runs(program("wall_time",
                             "time of the program from start to end, while it is not recorded",
                             elapsed)),
        of_bare_runs(
            program("tracing_overhead",
                    "how much longer the range, or the program, takes while it is recorded",
                    share_of_time)),
        program("span",
                "time from the beginning of a range, or the end of earlier work, to the end of its "
                "device work",
                elapsed),
        program("idle_share", "share of the span in which the program had no device work",
                share_of_time),
        program("longest_idle", "the longest gap in which the program had no device work",
                longest_time),
        // Neither way is better: it says what the other values are means of.
        program("instances", "instances of the label that count, of each process", neutral_count),
        program("kernels", "kernels that ran", exact_count),
        program("short_kernels", "kernels shorter than 10 µs", varying_count),
        program("host_launches", "launches of kernels and graphs by the host", exact_count),
        program("graph_launches", "launches of CUDA graphs", neutral_count),
        program("copies", "copies", exact_count),
        program("pageable_copies", "copies from or to pageable host memory", exact_count),
        program("copied_bytes", "bytes copied", volume),
        program("copy_time", "time in which a copy ran", elapsed),
        program("exposed_copy_share", "share of the span with copies and no kernel", share_of_time),
        program("memsets", "memsets", exact_count),
        program("syncs", "calls in which the host waits for the device", exact_count),
        program("uncapturable_calls", "calls that the capture of a CUDA graph does not allow",
                exact_count),
        program("legacy_stream_launches",
                "kernels, copies and memsets in the legacy default stream", exact_count),
        program("underfilled_share",
                "share of the kernels' time in kernels with fewer blocks than half of the SMs",
                share_of_time),
        program("communication_time", "time in which an NCCL or NVSHMEM kernel ran", elapsed),
        program("communication_share", "share of the span with NCCL or NVSHMEM kernels",
                share_of_time),
        program("exposed_communication_share",
                "share of the span with NCCL or NVSHMEM kernels and no other kernel",
                share_of_time),
        program("communication_skew",
                "between the first and the last process to begin an NCCL or NVSHMEM kernel",
                longest_time),
        program("own_span",
                "span of the slowest process, without its waiting for the others' communication",
                elapsed),
        program("communication_calls", "calls of NCCL that communicate", exact_count),
        program("communicated_bytes", "bytes that NCCL is to communicate", volume),
        program("bus_bandwidth",
                "bytes of NCCL per second that cross a process's link, without the waiting",
                {"bytes/s", higher, timing, Fold::weighted_mean}),
        sampled(program("dram_bandwidth",
                        "bytes read from and written to DRAM, of the most that it transfers",
                        share_of_peak)),

        // --- what benchmarks report themselves (`benchmark` in a suite)
        benchmark("real_time", "time that a benchmark reports, of one iteration", elapsed),
        benchmark("cpu_time", "CPU time that a benchmark reports, of one iteration", elapsed),
        benchmark("items_per_second", "items per second that a benchmark reports",
                  {"items/s", higher, timing, Fold::sum}),
        benchmark("bytes_per_second", "bytes per second that a benchmark reports",
                  {"bytes/s", higher, timing, Fold::sum}),
        benchmark("time_to_first_token", "median time to the first token of a reply", elapsed),
        benchmark("time_per_output_token", "median time of a token after the first", elapsed),
        benchmark("inter_token_latency", "median time between two tokens", elapsed),
        benchmark("requests_per_second", "requests that a server answers",
                  {"requests/s", higher, timing, Fold::sum}),

        // --- cycles and clock
        counted("cycles", "SM clock cycles", varying_count, {one("sm__cycles_elapsed.max")}),
        counted("sm_clock", "SM clock while counters were collected",
                {"Hz", none, counter, Fold::weighted_mean},
                {one("gpc__cycles_elapsed.avg.per_second")}),

        // --- how busy the chip is
        counted("occupancy", "warps resident on an active SM, of its most", share_of_peak,
                {one("sm__warps_active.avg.pct_of_peak_sustained_active")}),
        counted("sm_throughput", "the busiest unit of the SMs, of its peak", share_of_peak,
                {one("sm__throughput.avg.pct_of_peak_sustained_elapsed")}),
        counted("memory_throughput", "the busiest unit of the memory system, of its peak",
                share_of_peak,
                {one("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed")}),
        counted("dram_throughput", "the DRAM interface, of its peak", share_of_peak,
                {one("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed")}, integrated),
        counted("l1_throughput", "the busiest unit of L1, of its peak", share_of_peak,
                {one("l1tex__throughput.avg.pct_of_peak_sustained_elapsed")}),
        sampled(counted("l2_throughput", "the busiest unit of L2, of its peak", share_of_peak,
                        {one("lts__throughput.avg.pct_of_peak_sustained_elapsed")})),
        counted("shared_throughput", "shared-memory accesses, of the most that L1 can serve",
                share_of_peak,
                {one("l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_"
                     "elapsed")}),
        // What is missing to 100 % is blocks that end at different times, or SMs without any.
        sampled(divided("sm_active", "cycles in which an SM had a warp, mean over the SMs",
                        share_of_counts, 100, {one("sm__cycles_active.sum")},
                        {one("sm__cycles_elapsed.sum")})),
        divided("sm_active_least", "cycles in which an SM had a warp, the least of all SMs",
                share_of_counts, 100, {one("sm__cycles_active.min")},
                {one("sm__cycles_elapsed.max")}),

        // --- memory
        counted("dram_bytes", "bytes read from and written to DRAM", traffic,
                {one("dram__bytes.sum")}, integrated),
        counted("dram_read_bytes", "bytes read from DRAM", traffic,
                {any({"dram__bytes_read.sum", "dram__bytes_op_read.sum"})}, integrated),
        counted("dram_write_bytes", "bytes written to DRAM", traffic,
                {any({"dram__bytes_write.sum", "dram__bytes_op_write.sum"})}, integrated),
        // Of the whole GPU, whoever causes them, each in a session of its own: no link can be
        // counted together with the SMs.
        sampled(by_name_only(counted("nvlink_bytes",
                                     "bytes sent and received through NVLink, protocol included",
                                     traffic, {one("nvlrx__bytes.sum"), one("nvltx__bytes.sum")},
                                     {"TU11*", "GA10B", "AD*", "GB10B", "GB20*"}))),
        sampled(by_name_only(counted("pcie_bytes", "bytes read and written through PCIe", traffic,
                                     {one("pcie__read_bytes.sum"), one("pcie__write_bytes.sum")},
                                     integrated))),
        // The three ways in which a kernel gets its data. Which one is better depends on the
        // kernel, so only the way of plain loads has a direction.
        // Counted by instruction: what L1 counts as loads includes asynchronous copies.
        counted("load_bytes", "bytes that threads load from global memory into registers", volume,
                {one("smsp__sass_data_bytes_mem_global_op_ld.sum")}),
        // Not exact where some lanes copy 0 bytes: the counter is then too high or too low
        // (docs/metrics.md).
        counted("async_copy_bytes",
                "bytes that threads copy asynchronously to shared memory (cp.async)",
                neutral_traffic, {one("smsp__sass_data_bytes_mem_global_op_ldgsts.sum")},
                {"GV*", "TU*"}),
        counted("tma_bytes", "bytes that the copy engines of the SMs (TMA) read and write",
                neutral_traffic,
                {one("l1tex__m_xbar2l1tex_read_bytes_pipe_tma.sum"),
                 one("l1tex__m_l1tex2xbar_write_bytes_pipe_tma.sum")},
                {"GV*", "TU*", "GA*", "AD*"}),
        divided("l1_hit_rate", "sectors found in L1", share_of_counts, 100,
                {one("l1tex__t_sectors_lookup_hit.sum")}, {one("l1tex__t_sectors.sum")}),
        divided("l2_hit_rate", "sectors found in L2", share_of_counts, 100,
                {one("lts__t_sectors_lookup_hit.sum")}, {one("lts__t_sectors.sum")}),
        // Sectors of scattered stores vary slightly from run to run; those of loads do not.
        divided("sectors_per_request_load",
                "32-byte sectors per global load of a warp: 4 is coalesced for 4-byte elements",
                {"ratio", lower, exact, Fold::ratio}, 1,
                {one("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")},
                {one("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum")}),
        divided("sectors_per_request_store",
                "32-byte sectors per global store of a warp: 4 is coalesced for 4-byte elements",
                {"ratio", lower, counter, Fold::ratio}, 1,
                {one("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum")},
                {one("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum")}),
        counted("bank_conflicts_load", "conflicts between banks in shared-memory loads",
                varying_count, {one("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum")}),
        counted("bank_conflicts_store", "conflicts between banks in shared-memory stores",
                varying_count, {one("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum")}),
        counted("spill_sectors", "32-byte sectors of local memory loaded and stored", varying_count,
                {one("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"),
                 one("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum")}),

        // --- instructions
        counted("instructions", "instructions executed by warps", exact_count,
                {one("smsp__inst_executed.sum")}),
        divided("issue_active", "cycles in which a scheduler issued, of those it had warps",
                share_of_counts, 100, {one("smsp__issue_active.sum")},
                {one("smsp__cycles_active.sum")}),
        divided("warp_efficiency", "threads active per instruction, of the warp's 32",
                {"%", higher, exact, Fold::ratio}, 100.0 / 32,
                {one("smsp__thread_inst_executed.sum")}, {one("smsp__inst_executed.sum")}),
        // On Ada the plain names are deprecated in favour of _v2. On chips whose tensor pipe also
        // runs packed half arithmetic (GA100, GH100: HFMA2.MMA), both include it.
        counted(
            "tensor_instructions", "warp instructions of the tensor pipe", neutral_count,
            {any({"sm__inst_executed_pipe_tensor_v2.sum", "sm__inst_executed_pipe_tensor.sum"})}),
        sampled(counted("tensor_active", "cycles in which the tensor pipe was busy", share_of_peak,
                        {any({"sm__pipe_tensor_cycles_active_v2.avg.pct_of_peak_sustained_active",
                              "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"})})),

        // --- arithmetic
        counted("flops", "floating-point operations executed, tensor pipe included",
                {"flop", none, exact, Fold::sum}, flops),
        divided("achieved_flops", "floating-point operations executed per second",
                {"flop/s", higher, counter, Fold::ratio}, 1e9, flops, {one(weight_counter)}),
        divided("arithmetic_intensity", "floating-point operations per byte of DRAM traffic",
                {"flop/byte", none, counter, Fold::ratio}, 1, flops, {one("dram__bytes.sum")},
                integrated),
    };
    for (const StallReason& reason : stall_reasons()) rows.push_back(stall(reason));
    return rows;
}

// --- CUPTI's own names of counters: what a name says of the unit and the fold

bool is_raw_name(std::string_view name) {
    constexpr std::size_t longest = 200;
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '.';
    };
    const std::size_t joint = name.find("__");
    if (name.size() > longest || joint == 0 || joint == std::string_view::npos) return false;
    const std::size_t rollup = name.find('.', joint);
    return rollup != std::string_view::npos && rollup > joint + 2 && name.back() != '.' &&
           std::ranges::all_of(name, plain);
}

const char* raw_unit(std::string_view name) {
    const auto contains = [](std::string_view text, std::string_view part) {
        return text.find(part) != std::string_view::npos;
    };
    const std::string_view quantity = name.substr(0, name.find('.', name.find("__")));
    if (name.ends_with(".pct") || contains(name, ".pct_of_peak")) return "%";
    if (name.ends_with(".ratio") || name.ends_with(".max_rate")) return "ratio";
    const bool per_second = name.ends_with(".per_second");
    const bool per_cycle = contains(name, ".per_cycle");
    if (contains(quantity, "__bytes")) {
        return per_second ? "bytes/s" : per_cycle ? "bytes/cycle" : "bytes";
    }
    if (contains(quantity, "__time_duration")) return "ns";
    return per_second ? "Hz" : per_cycle ? "ratio" : "count";
}

/// Nothing for a name that is no counter's: "dram__bytes.sum" is a unit and a quantity joined by
/// "__", then a rollup after a '.'.
std::optional<Metric> raw_counter(std::string_view name) {
    if (!is_raw_name(name)) return std::nullopt;
    const Fold fold = name.ends_with(".sum")   ? Fold::sum
                      : name.ends_with(".max") ? Fold::max
                                               : Fold::weighted_mean;
    return counted(name, "CUPTI's counter of that name", {raw_unit(name), none, counter, fold},
                   {one(std::string(name))});
}

// --- sets

std::vector<MetricSet> make_sets() {
    const std::vector<std::string> facts = {"registers",   "static_smem", "dynamic_smem",
                                            "local_bytes", "launches",    "theoretical_occupancy",
                                            "waves"};
    std::vector<std::string> times = {"gpu_time", "gpu_span", "host_time"};
    times.insert(times.end(), facts.begin(), facts.end());

    // Without gpu_span, which times everything a second time; without flops, which patch the code
    // and take two passes; without throughputs and stalls, which take six or more.
    std::vector<std::string> core = {"gpu_time", "host_time"};
    core.insert(core.end(), facts.begin(), facts.end());
    for (const char* name :
         {"cycles", "sm_clock", "occupancy", "dram_throughput", "dram_bytes", "l1_hit_rate",
          "l2_hit_rate", "sectors_per_request_load", "sectors_per_request_store",
          "bank_conflicts_load", "bank_conflicts_store", "spill_sectors", "instructions",
          "issue_active", "warp_efficiency", "tensor_instructions", "tensor_active"}) {
        core.emplace_back(name);
    }
    std::vector<std::string> full;
    for (const Metric& metric : catalogue()) {
        const bool of_kernels =
            metric.source != Source::program && metric.source != Source::benchmark;
        if (!of_kernels || metric.by_name_only) continue;
        full.push_back(metric.definition.name);
    }
    return {
        {"time", "times and launch facts: no counters", std::move(times)},
        {"core", "what a gate needs, in few passes", std::move(core)},
        {"full", "every metric of a kernel workload that any case on any machine has",
         std::move(full)},
        {"energy",
         "energy of a launch and power, in a pass of its own of about 2 s per process",
         {"energy", "power"}},
    };
}

}  // namespace

std::span<const Metric> catalogue() {
    static const std::vector<Metric> rows = make_catalogue();
    return rows;
}

std::optional<Metric> find_metric(std::string_view name) {
    for (const Metric& metric : catalogue()) {
        if (metric.definition.name == name) return metric;
    }
    return raw_counter(name);
}

std::vector<std::string> metric_names() {
    std::vector<std::string> names;
    for (const Metric& metric : catalogue()) names.push_back(metric.definition.name);
    return names;
}

std::span<const MetricSet> metric_sets() {
    static const std::vector<MetricSet> sets = make_sets();
    return sets;
}

std::string_view source_text(const Metric& metric) {
    if (metric.source == Source::reading) return metric.reading;
    return util::word_of<Source::benchmark>(
        metric.source, {"activity", "event", "wall", "kernel_record", "counter", "preparation",
                        "submission", "reading", "ceiling", "program", "benchmark"});
}

}  // namespace perfgate::metrics

// SPDX-License-Identifier: Apache-2.0
//
// The table. Thresholds lie above the differences between two runs of the same code (figures in
// README.md): a counter must exceed both `fraction` and `amount`.
#include "explain/rules.hpp"

#include "explain/evidence.hpp"

namespace perfgate::explain {

namespace {

using enum Move;

constexpr double kib = 1024.0;
constexpr double mib = 1024.0 * kib;
constexpr double point = 1;  // of a metric in per cent
/// Sectors of a warp's access of 16 bytes per thread, side by side.
constexpr double widest = 16;
constexpr double microsecond = 1000;  // of a time in ns

struct StallReason {
    std::string_view metric;
    std::string_view worse, better;
    std::string_view meaning;
};

constexpr std::string_view no_instruction = "stall_no_instruction";

/// Stall reasons that depend on the code, by the catalogue's names.
constexpr StallReason stall_reasons[] = {
    {"stall_long_scoreboard", "more waiting for memory", "less waiting for memory",
     "loads come later or there are fewer of them in flight"},
    {"stall_short_scoreboard", "more waiting for shared memory", "less waiting for shared memory",
     "or for the special functions, which share its path"},
    {"stall_barrier", "more waiting at barriers", "less waiting at barriers",
     "the warps of a block do unequal work, or meet more often"},
    {"stall_math_pipe_throttle", "more waiting for a busy arithmetic pipe",
     "less waiting for a busy arithmetic pipe", "one kind of instruction saturates its pipe"},
    {"stall_lg_throttle", "more stalls on the queue of global and local memory (LG)",
     "fewer stalls on the queue of global and local memory (LG)",
     "many narrow accesses, or spills: wider accesses need fewer entries"},
    {"stall_mio_throttle", "more stalls on the queue of shared memory (MIO)",
     "fewer stalls on the queue of shared memory (MIO)", "many narrow accesses to shared memory"},
    {"stall_tex_throttle", "more stalls on the queue of textures (TEX)",
     "fewer stalls on the queue of textures (TEX)", "too many texture instructions at once"},
    {"stall_gmma", "more waiting for warp-group matrix products",
     "less waiting for warp-group matrix products", "too few of them are in flight"},
    {no_instruction, "more waiting for instructions", "less waiting for instructions",
     "the loop has outgrown the instruction cache, or branches a lot"},
    {"stall_imc_miss", "more misses of immediate constants", "fewer misses of immediate constants",
     "many constants are used once"},
    {"stall_branch_resolving", "more waiting for branches", "less waiting for branches",
     "branches sit in the inner loop"},
    {"stall_membar", "more waiting at memory fences", "less waiting at memory fences",
     "fences sit in the inner loop"},
    {"stall_drain", "more waiting for last stores", "less waiting for last stores",
     "blocks end in many stores that are not coalesced"},
    {"stall_wait", "more waiting out fixed latencies", "less waiting out fixed latencies",
     "instructions depend on the one before"},
};

Rule stall_rule(const StallReason& reason) {
    Rule rule{
        "stall", {{reason.metric, rises, 0.5, 1}}, reason.worse, reason.better, reason.meaning};
    if (reason.metric == no_instruction) rule.unless = {"instruction_cache"};
    return rule;
}

/// Cites the sizes of block and grid as well where they differ, whichever way.
std::vector<Condition> with_launch_size(std::vector<Condition> also) {
    for (const std::string_view size : {threads_per_block, blocks_per_grid}) {
        also.push_back({size, falls, 0, 1});
        also.push_back({size, rises, 0, 1});
    }
    return also;
}

std::vector<Rule> make_rules() {
    std::vector<Rule> table = {
        // --- the machine, not the code
        {"clock",
         {{timed_sm_clock, falls, 0, 0, 0.8}, {"cycles", no_rise, 0, 0, 0.2}},
         "the clock alone",
         "the clock alone",
         "the kernel takes as many cycles as before: look for a power or thermal limit"},
        {"power_limit",
         {{capped_sm_clock, falls, 0, 0, 0.8}, {"cycles", no_rise, 0, 0, 0.2}},
         "the clock alone, at the power limit",
         "the clock alone, no longer at the power limit",
         "the kernel takes as many cycles as before and draws more power: look for work that the "
         "result does not need, or at the board's limit",
         {{"power", rises, 0.02, 5}, {"energy", rises, 0.02}}},
        {"energy",
         {{"energy", rises, 0.03}, {"gpu_time", no_rise, 0.01}, {"gpu_time", no_fall, 0.01}},
         "more energy in the same time",
         "less energy in the same time",
         "units do work that does not take longer: look for arithmetic or traffic that the "
         "result does not need",
         {{"power", rises, 0.02, 5},
          {"instructions", rises, 0.02},
          {"dram_bytes", rises, 0.1, 1 * mib}}},
        // For suites that ask for the ratios alone.
        {"efficiency",
         {{"efficiency", falls, 0.03}, {"gpu_time", no_rise, 0.01}, {"gpu_time", no_fall, 0.01}},
         "fewer operations per joule in the same time",
         "more operations per joule in the same time",
         "units do work that does not take longer, unless the workload states less of it",
         {{"instructions", rises, 0.02}, {"dram_bytes", rises, 0.1, 1 * mib}},
         {"energy"}},
        {"bytes_per_joule",
         {{"bytes_per_joule", falls, 0.03},
          {"gpu_time", no_rise, 0.01},
          {"gpu_time", no_fall, 0.01}},
         "fewer bytes per joule in the same time",
         "more bytes per joule in the same time",
         "units do work that does not take longer, unless the workload states less of it",
         {{"instructions", rises, 0.02}, {"dram_bytes", rises, 0.1, 1 * mib}},
         {"energy", "efficiency"}},

        // --- what the compiler made of the code
        {"spills",
         {{"spill_sectors", rises, 0.05, 1}},
         "spills to local memory",
         "fewer spills to local memory",
         "values that were in registers are in memory now",
         {{"local_bytes", rises, 0, 1}, {"registers", falls, 0, 1}, {"stack", rises, 0, 1}}},
        {"spills",
         {{"local_bytes", rises, 0, 1}},
         "more local memory per thread",
         "less local memory per thread",
         "spilled registers, or arrays with an index unknown at compile time",
         {{"registers", falls, 0, 1}, {"stack", rises, 0, 1}}},
        {"stack",
         {{"stack", rises, 0, 1}},
         "more stack per thread",
         "less stack per thread",
         "look for arrays with an index unknown at compile time, spilled registers, and functions "
         "that are no longer inlined: the stack lies in local memory",
         {{"registers", falls, 0, 1}},
         {"spills"},
         false},
        {"registers",
         {{"registers", rises, 0, 1}, {"theoretical_occupancy", falls, 0, 1 * point}},
         "more registers, so that fewer warps fit",
         "fewer registers, so that more warps fit",
         "fewer warps hide less latency",
         with_launch_size({{"occupancy", falls, 0.05, 4 * point}})},
        {"shared_memory",
         {{"dynamic_smem", rises, 0, 1}, {"theoretical_occupancy", falls, 0, 1 * point}},
         "more shared memory per block, so that fewer warps fit",
         "less shared memory per block, so that more warps fit",
         "fewer warps hide less latency",
         with_launch_size({{"occupancy", falls, 0.05, 4 * point}})},
        {"shared_memory",
         {{"static_smem", rises, 0, 1}, {"theoretical_occupancy", falls, 0, 1 * point}},
         "more shared memory per block, so that fewer warps fit",
         "less shared memory per block, so that more warps fit",
         "fewer warps hide less latency",
         with_launch_size({{"occupancy", falls, 0.05, 4 * point}})},
        {"occupancy",
         {{"theoretical_occupancy", falls, 0, 1 * point}},
         "fewer warps fit on an SM",
         "more warps fit on an SM",
         "neither registers nor shared memory grew: look at the threads per block",
         with_launch_size({{"occupancy", falls, 0.05, 4 * point}}),
         {"registers", "shared_memory"}},
        {"tail",
         {{rounds_of_blocks, rises, 0, 1}, {"sm_active", falls, 0, 5 * point}},
         "tail effect, one more wave for the last few blocks",
         "no tail effect, one wave fewer",
         "SMs idle during the last wave: choose a grid or tile size that fills it, or use "
         "persistent "
         "blocks",
         with_launch_size({{"waves", rises, 0, 1e-6}, {"sm_active_least", falls, 0, 5 * point}})},
        {"residency",
         {{"occupancy", falls, 0.1, 5 * point}, {"theoretical_occupancy", no_fall, 0, 1 * point}},
         "fewer warps are resident than before, though as many fit",
         "more warps are resident than before, though no more fit",
         "the grid has become too small, or its blocks end at different times",
         with_launch_size({})},

        // --- launches
        {"fusion",
         {{"launches", rises, 0, 1}, {"dram_bytes", rises, 0.1, 1 * mib}},
         "more kernels, and more traffic to memory",
         "fewer kernels, and less traffic to memory",
         "a fusion is lost: results travel through memory from one kernel to the next",
         {{"api_calls", rises, 0, 1}}},
        {"launches",
         {{"launches", rises, 0, 1}},
         "more kernels per launch",
         "fewer kernels per launch",
         "each has its own start and tail",
         {{"api_calls", rises, 0, 1}},
         {"fusion"}},
        {"submission",
         {{"submit_time", rises, 0.1, 1 * microsecond},
          {submission_share, rises, 0, 5 * point, 0, 100}},
         "more time to submit than to run",
         "less time to submit",
         "the device waits for the host: submit fewer or cheaper calls, or a graph",
         {{"api_calls", rises, 0, 1}, {"launches", rises, 0, 1}}},
        {"launch_gap",
         {{launch_gap, rises, 0.25, 2 * microsecond}},
         "more time in which no kernel runs",
         "less time in which no kernel runs",
         "the GPU waits for the next kernel, or for the host where the launch waits for it",
         {{"launches", rises, 0, 1}, {"api_calls", rises, 0, 1}},
         {"submission"}},
        {"submit_time",
         {{"submit_time", rises, 0.5, 1 * microsecond}},
         "more host time to submit",
         "less host time to submit",
         "the call that launches does more on the host: look for allocations, waiting and work "
         "that need not be repeated in each launch",
         {{"api_calls", rises, 0, 1}, {"launches", rises, 0, 1}},
         {"submission"},
         false},
        {"api_calls",
         {{"api_calls", rises, 0, 1}},
         "more API calls per launch",
         "fewer API calls per launch",
         "each costs host time, and calls that allocate, free or synchronise make the device wait",
         {},
         {"fusion", "launches", "submission", "launch_gap", "submit_time"},
         false},

        // --- device memory
        {"leak",
         {{"leak", rises, 0, 1}},
         "more device memory lost from launch to launch",
         "less device memory lost from launch to launch",
         "a launch allocates what it does not free, or a pool keeps growing",
         {{"memory_peak", rises, 0, 1}},
         {},
         false},
        {"memory_peak",
         {{"memory_peak", rises, 0, 1}},
         "more device memory held",
         "less device memory held",
         "look for buffers that grew, are new, or are kept longer than they are needed",
         {},
         {"leak"},
         false},

        // --- benchmarks that report both of a thread's times
        {"waiting",
         {{"real_time", rises, 0.05}, {"cpu_time", no_rise, 0.02}},
         "more waiting without more CPU time",
         "less waiting without less CPU time",
         "for a CPU that other work has, a GPU, I/O or another thread"},

        // --- programs
        {"graphs",
         {{"graph_launches", falls, 0.01, 0.5}, {"host_launches", rises, 0.01, 1}},
         "kernels launched one by one instead of in a graph",
         "kernels launched in a graph instead of one by one",
         "each launch costs the host time"},
        {"synchronisation",
         {{"syncs", rises, 0.01, 0.5}},
         "the host waited for the device more often",
         "the host waited for the device less often",
         "the device idles until the host submits again",
         {{"idle_share", rises, 0, 1 * point}}},
        {"communication",
         {{"communication_time", rises, 0.1, 10 * microsecond}},
         "more time in communication",
         "less time in communication",
         "kernels of NCCL and NVSHMEM also wait for the other GPUs: look for more data, a slower "
         "path, and a GPU that is late",
         {{"exposed_communication_share", rises, 0, 1 * point},
          {"communication_skew", rises, 0.1, 10 * microsecond}}},
        {"exposed_communication",
         {{"exposed_communication_share", rises, 0, 5 * point},
          {"communication_time", no_rise, 0.1, 10 * microsecond}},
         "less computation beside the communication",
         "more computation beside the communication",
         "look for a stream or an event that serialises what ran concurrently"},
        {"uncapturable_calls",
         {{"uncapturable_calls", rises, 0.01, 0.5}},
         "more calls that a CUDA graph cannot capture",
         "fewer calls that a CUDA graph cannot capture",
         "allocate, free and wait outside the range",
         {},
         {"synchronisation"},
         false},
        {"pageable_copies",
         {{"pageable_copies", rises, 0.01, 0.5}},
         "more copies from or to pageable memory",
         "fewer copies from or to pageable memory",
         "pinned memory is faster, and lets copies overlap with kernels",
         {{"copied_bytes", rises, 0.01, 1}}},
        {"copies",
         {{"copied_bytes", rises, 0.01, 1}},
         "more bytes copied",
         "fewer bytes copied",
         "look at where the data is needed",
         {{"copies", rises, 0.01, 0.5}},
         {"pageable_copies"}},

        {"exposed_copies",
         {{"exposed_copy_share", rises, 0, 5 * point},
          {"copy_time", no_rise, 0.1, 10 * microsecond}},
         "fewer kernels beside the copies",
         "more kernels beside the copies",
         "look for a stream, an event or pageable memory that serialises what ran concurrently",
         {{"pageable_copies", rises, 0.01, 0.5}}},

        // --- how memory is used
        // What the asynchronous path no longer carries, plain loads do.
        {"asynchronous_copies",
         {{"tma_bytes", falls, 0.5, 4 * kib}, {"load_bytes", rises, 0.05, 4 * kib}},
         "bulk copies lost, threads load the data instead",
         "threads load less, bulk copies bring the data",
         "the asynchronous path was lost: look at alignment, sizes and the architecture that it "
         "was compiled for",
         {{"instructions", rises, 0.02}}},
        {"asynchronous_copies",
         {{"async_copy_bytes", falls, 0.5, 4 * kib}, {"load_bytes", rises, 0.05, 4 * kib}},
         "asynchronous copies lost, threads load the data instead",
         "threads load less, asynchronous copies bring the data",
         "the asynchronous path was lost: loads go through registers and wait for their data",
         {{"instructions", rises, 0.02}}},
        // Fewer sectors in more requests: the accesses are narrower. More sectors: they are further
        // apart, if there are no fewer requests, or if there are more sectors than in the widest
        // contiguous access of a warp.
        {"narrow_accesses",
         {{"sectors_per_request_load", falls, 0.2, 0.1, 0, 0, widest},
          {"instructions", rises, 0.05}},
         "narrower loads",
         "wider loads",
         "the same data takes more requests: look for a vector load that is lost"},
        {"narrow_accesses",
         {{"sectors_per_request_store", falls, 0.2, 0.1, 0, 0, widest},
          {"instructions", rises, 0.05}},
         "narrower stores",
         "wider stores",
         "the same data takes more requests: look for a vector store that is lost"},
        {"coalescing",
         {{"sectors_per_request_load", rises, 0.05, 0.1, 0, widest}},
         "less coalesced loads",
         "better coalesced loads",
         "the threads of a warp read further apart"},
        {"coalescing",
         {{"sectors_per_request_load", rises, 0.05, 0.1},
          {"instructions", no_fall, 0.05},
          {"instructions", no_rise, 0.05}},
         "less coalesced loads",
         "better coalesced loads",
         "the threads of a warp read further apart"},
        {"coalescing",
         {{"sectors_per_request_store", rises, 0.1, 0.1, 0, widest}},
         "less coalesced stores",
         "better coalesced stores",
         "the threads of a warp write further apart"},
        {"coalescing",
         {{"sectors_per_request_store", rises, 0.1, 0.1},
          {"instructions", no_fall, 0.05},
          {"instructions", no_rise, 0.05}},
         "less coalesced stores",
         "better coalesced stores",
         "the threads of a warp write further apart"},
        {"bank_conflicts",
         {{conflicts_per_instruction, rises, 0.25, 0.02}},
         "more bank conflicts in shared memory",
         "fewer bank conflicts in shared memory",
         "threads of a warp access the same bank: pad or swizzle the tile",
         {{"bank_conflicts_load", rises, 0.25, 1}, {"bank_conflicts_store", rises, 0.25, 1}}},
        {"dram",
         {{"dram_bytes", rises, 0.1, 1 * mib}},
         "more traffic to memory for the same work",
         "less traffic to memory for the same work",
         "data that a cache or a register used to hold is loaded again",
         {{"l2_hit_rate", falls, 0, 15 * point}, {"l1_hit_rate", falls, 0, 12 * point}},
         {"fusion"}},
        {"links",
         {{"pcie_bytes", rises, 0.1, 64 * kib}},
         "more bytes over PCIe",
         "fewer bytes over PCIe",
         "the kernel reads or writes host memory: look for pinned buffers that the device could "
         "hold"},
        {"links",
         {{"nvlink_bytes", rises, 0.1, 64 * kib}},
         "more bytes over NVLink",
         "fewer bytes over NVLink",
         "the kernel reads or writes another GPU's memory"},
        {"cache",
         {{"l1_hit_rate", falls, 0, 12 * point}},
         "fewer hits in L1",
         "more hits in L1",
         "data is evicted before it is reused: look at tile sizes and the order of accesses",
         {},
         {"spills", "narrow_accesses", "coalescing", "dram", "fusion"}},
        {"cache",
         {{"l2_hit_rate", falls, 0, 15 * point}},
         "fewer hits in L2",
         "more hits in L2",
         "data is evicted before it is reused: look at the order of the blocks",
         {},
         {"spills", "narrow_accesses", "coalescing", "dram", "fusion"}},

        // --- what is executed
        {"tensor_pipe",
         {{"tensor_instructions", falls, 0.5, 1},
          {"tensor_active", falls, 0.5, 1 * point},
          {"instructions", rises, 0.05}},
         "the tensor pipe idles",
         "the tensor pipe is in use",
         "its work fell back to the CUDA cores: look at types, alignment and tile sizes"},
        {"divergence",
         {{"warp_efficiency", falls, 0, 1 * point}},
         "fewer threads active per instruction",
         "more threads active per instruction",
         "the threads of a warp take different branches, or blocks do not fill their warps"},
        {"instructions",
         {{"instructions", rises, 0.02}},
         "more instructions for the same work",
         "fewer instructions for the same work",
         {},
         {},
         {"spills", "narrow_accesses", "asynchronous_copies", "tensor_pipe"}},
    };
    table.push_back(
        {"instruction_cache",
         {{no_instruction, rises, 0.5, 0.5}, {"code_size", rises, 0.1, 4 * kib, 0, 12 * kib}},
         "the code outgrew the instruction cache",
         "the code fits the instruction cache better",
         "warps wait for instructions: unroll or inline less"});
    table.push_back({"code_size",
                     {{"code_size", rises, 0, 1}},
                     "larger machine code",
                     "smaller machine code",
                     "look for more unrolling, inlining and instances of templates: what outgrows "
                     "the instruction cache costs time",
                     {{"instructions", rises, 0.02}},
                     {"instruction_cache"},
                     false});
    for (const StallReason& reason : stall_reasons) table.push_back(stall_rule(reason));
    return table;
}

}  // namespace

std::span<const Rule> rules() {
    static const std::vector<Rule> table = make_rules();
    return table;
}

}  // namespace perfgate::explain

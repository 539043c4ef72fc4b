// SPDX-License-Identifier: Apache-2.0
// What a recording says about one process: for the program and for each NVTX range, how busy the
// GPU was, with what, and what the host did while it was idle. Pure functions of a Timeline.
//
// Times are nanoseconds. Where several devices or streams work at once, `gpu_time_ns` counts the
// time once: it is the union of the busy intervals.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "activity/timeline.hpp"
#include "model/launch_size.hpp"

namespace perfgate::activity {

/// Kernels shorter than this are counted as short: launching one takes as long as it runs.
inline constexpr std::uint64_t short_kernel_ns = 10'000;

/// What a piece of a program had the GPU do.
struct WorkSummary {
    /// From when the piece began (or, if its first work had to wait for earlier work, from the end
    /// of that, at the latest from its own begin) to when it and all of its device work had ended.
    std::uint64_t span_ns = 0;
    Interval window{};                  ///< that span; in no document
    std::uint64_t gpu_time_ns = 0;      ///< its own device work: union of kernels, copies, memsets
    std::uint64_t idle_ns = 0;          ///< of the span, with no work of the process on any device
    std::uint64_t longest_idle_ns = 0;  ///< the longest gap of that; in no document
    std::uint64_t kernel_time_ns = 0;   ///< sum over kernels
    /// Of that, in kernels with fewer blocks than half of the device's SMs; kernels of a device
    /// that is not on record are not in it.
    std::uint64_t underfilled_time_ns = 0;
    std::uint64_t kernels = 0;
    std::uint64_t short_kernels = 0;
    std::uint64_t copies = 0;
    std::uint64_t pageable_copies = 0;
    std::uint64_t copied_bytes = 0;
    std::uint64_t copy_time_ns = 0;        ///< union of copies
    std::uint64_t overlapped_copy_ns = 0;  ///< of that, while a kernel was running
    std::uint64_t memsets = 0;
    std::uint64_t graph_launches = 0;    ///< with work on record
    std::uint64_t synchronisations = 0;  ///< by the host; 0 where API calls are not on record
    std::uint64_t communication_ns = 0;  ///< union of NCCL and NVSHMEM kernels
    std::uint64_t exposed_communication_ns = 0;  ///< of that, while no other kernel was running

    [[nodiscard]] double idle_share() const {
        return span_ns == 0 ? 0 : static_cast<double>(idle_ns) / static_cast<double>(span_ns);
    }
    [[nodiscard]] double underfilled_share() const {
        return kernel_time_ns == 0
                   ? 0
                   : static_cast<double>(underfilled_time_ns) / static_cast<double>(kernel_time_ns);
    }
};
/// The sum of all but `window`, and of the longest gaps the longest.
WorkSummary& operator+=(WorkSummary& total, const WorkSummary& one);

/// Lengths of many things of one kind.
struct Durations {
    std::uint64_t count = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t median_ns = 0;
    std::uint64_t minimum_ns = 0;
    std::uint64_t maximum_ns = 0;
};
Durations durations(std::vector<std::uint64_t> lengths_ns);
/// Of an even number the mean of the two middle ones; of none 0.
std::uint64_t median(std::vector<std::uint64_t> values);

/// The launches of a kernel that have one size.
struct SizeSummary {
    model::LaunchSize size;
    Durations time;
};

/// The kernels of one symbol.
struct KernelSummary {
    std::string symbol;       ///< as in the machine code
    std::string name;         ///< demangled
    std::string fingerprint;  ///< of its machine code; empty where not on record or not one
    Durations time;
    std::size_t order = 0;  ///< its place in the order of the first launches, from 1; 0: not known
    std::size_t configurations = 0;    ///< different launch configurations
    LaunchConfiguration most_common;   ///< the configuration of most of its launches
    std::vector<SizeSummary> sizes{};  ///< those that take most time first; in no document
};

/// The copies of one kind and memory.
struct CopySummary {
    CopyKind kind = CopyKind::unknown;
    std::string memory;  ///< on the host's side: "pageable", "pinned"; else the source's kind
    std::uint64_t bytes = 0;
    /// Of one copy.
    std::uint64_t minimum_bytes = 0, median_bytes = 0, maximum_bytes = 0;
    Durations time;

    [[nodiscard]] double bytes_per_s() const {
        return time.total_ns == 0
                   ? 0
                   : static_cast<double>(bytes) * 1e9 / static_cast<double>(time.total_ns);
    }
};
std::string_view to_text(CopyKind kind);
std::string_view to_text(MemoryKind kind);

/// What takes host time besides the program: CUPTI only while a program is recorded, the driver
/// always.
enum class OverheadSource { unknown, cupti, driver };
std::string_view to_text(OverheadSource source);

struct OverheadSummary {
    std::string name;
    OverheadSource source = OverheadSource::unknown;
    Durations time;
};

/// What threads of the host did, by samples.
struct HostActivity {
    std::string name;           ///< "train → Loader.__next__ → Queue.get"; printable
    std::string state;          ///< "waiting for a lock", "in cudaMalloc"; empty: mixed
    std::string file;           ///< of the first function
    std::uint32_t line = 0;     ///< in it; 0: several, or not known
    std::uint64_t time_ns = 0;  ///< of several threads at once it counts once
    std::uint64_t threads = 0;  ///< of other threads and processes: how many
};

struct HostStacks {
    std::uint64_t time_ns = 0;            ///< that they are about
    std::uint64_t sampled_ns = 0;         ///< of that, with samples
    std::vector<HostActivity> waiting;    ///< the threads that submit work; longest first
    std::vector<HostActivity> meanwhile;  ///< others that did not wait
};

/// A function in a tree of stacks, with the functions that it called.
struct FlameFrame {
    std::uint32_t parent = 0;  ///< place of an earlier one, from 1; 0: outermost
    std::string name;
    std::string file;
    std::uint64_t time_ns = 0;
};

/// The calls of NCCL of one kind, communicator and size.
struct CollectiveSummary {
    std::string name;          ///< "AllReduce"; "Recv+Send" of groups with both
    std::string communicator;  ///< NCCL's id, the same in all processes
    std::uint32_t ranks = 0;   ///< 0: not on record
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;              ///< of one, as nccl-tests count it
    double bus_bytes = 0;                 ///< of it, what crosses a link; 0: not known
    Durations time;                       ///< of the process's own kernels, waiting included
    std::uint64_t transfer_ns = 0;        ///< from the last process's begin; median. 0: not known
    std::uint64_t compared = 0;           ///< those whose begin in other processes is known
    std::optional<std::uint64_t> last{};  ///< of these, how often this process began last
    std::optional<std::uint64_t> wait_ns{};  ///< how long it waited for the last one, median

    /// 0: not known, as some processes are not on record.
    [[nodiscard]] double algorithm_bytes_per_s() const { return per_s(static_cast<double>(bytes)); }
    [[nodiscard]] double bus_bytes_per_s() const { return per_s(bus_bytes); }

  private:
    [[nodiscard]] double per_s(double amount) const {
        return transfer_ns == 0 ? 0 : amount * 1e9 / static_cast<double>(transfer_ns);
    }
};

struct CallSummary {
    std::string name;
    Durations time;
    /// Of calls that wait for the device: GPU idle time that began while the host waited in
    /// one.
    std::uint64_t idle_ns = 0;
    /// Where the host was in calls that wait and left the GPU idle; printable.
    std::string caller{};
};

/// A call that the capture of a CUDA graph does not allow.
struct UncapturableCall {
    std::string name;
    std::string why;
    std::string range;  ///< the innermost NVTX range that was open on its thread; empty: none
    std::uint64_t count = 0;

    bool operator==(const UncapturableCall&) const = default;
};

enum class GapCause {
    synchronisation,    ///< the host was waiting when the device ran out of work
    api_call,           ///< a CUDA call took at least half of the gap
    nothing_submitted,  ///< the host was outside CUDA
    not_recorded,       ///< API calls are not on record
};
std::string_view to_text(GapCause cause);

/// Time in which no device did anything for the process.
struct Gap {
    Interval time;
    GapCause cause = GapCause::not_recorded;
    std::string call;               ///< that caused it, where one did
    std::uint64_t in_calls_ns = 0;  ///< of the gap, while some thread was in a CUDA call
    std::string before,
        after;           ///< what ran before and after: a kernel's name, "copy", "memset"
    std::string range;   ///< the innermost range that was open when it began
    std::string host{};  ///< what the host did, by samples; printable
};

struct RangeInstance {
    Range range;
    WorkSummary work;
};

/// Launches in all instances of a range.
struct RangeKernel {
    std::size_t kernel = 0;  ///< in Profile::kernels
    std::uint64_t launches = 0;
    std::uint64_t total_ns = 0;

    bool operator==(const RangeKernel&) const = default;
};

/// What a device measured, a mean over time: % of the peak, or bytes/s.
struct SampledMean {
    double value = 0;
    double low_share = 0;  ///< of the time, with a share below 50 %
};
/// By name (activity::sampled_rows); empty without samples.
using SampledMeans = std::map<std::string, SampledMean>;

/// All instances of the ranges of one name.
struct RangeSummary {
    std::string name;
    std::vector<RangeInstance>
        instances;  ///< in order; those that were open at the end are left out
    std::size_t left_open = 0;
    Durations host_time;
    WorkSummary total;  ///< sums over the instances
    /// In the order of the first launches. Empty although there are kernels: not listed,
    /// because there are too many, or by an older version.
    std::vector<RangeKernel> kernels;
    SampledMeans sampled;  ///< over the spans of the instances
};

/// The ranges of one name in whose gaps the host submitted nothing. In no document.
struct IdleRange {
    std::string name;  ///< empty: there is no such range
    std::size_t instances = 0;
    std::uint64_t length_ns = 0;       ///< of all instances
    std::uint64_t idle_ns = 0;         ///< of that, with no work on any device
    std::uint64_t unsubmitted_ns = 0;  ///< of that, while the host made no CUDA call on record
    HostStacks host{};                 ///< what it did in all of the idle time
};

struct DeviceSummary {
    std::uint32_t device = 0;
    std::string name;
    std::uint32_t sms = 0;  ///< 0: not on record
    std::uint64_t busy_ns = 0;
    std::uint64_t kernels = 0;
    std::uint64_t peak_memory_bytes = 0;  ///< allocated through CUDA; 0 where it is not known
};

struct Profile {
    std::map<std::string, std::string> header;
    std::vector<std::string> incomplete;
    std::string end;
    Counts counts;
    Interval window;  ///< from the begin to the end of what the program's summary covers
    std::vector<Interval> windows;  ///< what it covers of that; in no document
    std::string note;               ///< on what it covers and lacks; empty: none
    bool by_launch = false;  ///< work belongs to a range by the time of its launch; else by the
                             ///< device's time, which is later
    std::uint64_t without_launch = 0;
    WorkSummary program;
    SampledMeans sampled;
    std::vector<DeviceSummary> devices;
    std::vector<KernelSummary> kernels;  ///< longest total first, as all tables
    std::vector<CopySummary> copies;
    std::vector<CollectiveSummary> communication;
    Durations memsets;
    std::uint64_t memset_bytes = 0;
    std::vector<CallSummary> calls;
    std::vector<CallSummary> waits;  ///< calls that wait for the device, most idle time first
    std::vector<UncapturableCall> uncapturable;  ///< in NVTX ranges, most frequent first
    std::vector<RangeSummary> ranges;
    IdleRange idle_range;
    std::vector<Gap> gaps;          ///< longest first
    HostStacks host;                ///< in all gaps; of it `waiting` is in the document
    std::vector<FlameFrame> flame;  ///< of all gaps
    HostSampling sampling;          ///< no looks: stacks were not sampled
    std::string python;             ///< the interpreter, or why its functions are missing
    std::uint64_t overhead_ns = 0;  ///< host time that CUPTI itself took, counted once
    /// Of the window, while the driver compiled code, or loaded modules and functions.
    std::uint64_t compiling_ns = 0, loading_ns = 0;
    std::vector<OverheadSummary> overheads;

    /// Whether `underfilled_time_ns` means something: the SMs of every device with a kernel are
    /// on record.
    [[nodiscard]] bool knows_sms() const {
        return std::ranges::all_of(devices, [](const DeviceSummary& device) {
            return device.kernels == 0 || device.sms != 0;
        });
    }
};

}  // namespace perfgate::activity

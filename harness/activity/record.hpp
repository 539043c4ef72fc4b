// SPDX-License-Identifier: Apache-2.0
// What a program did on its GPUs, record by record: the values that the recorded stream
// `perfgate.activity` holds. They are written as they lie in memory (little-endian, no padding), so
// that writing inside the recorded program is a copy.
//
// Times are nanoseconds of one clock per process, the same for host and device. Ids of strings and
// of launch configurations are those of the recording (recording.hpp). Id 0 is the empty string.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace perfgate::activity {

static_assert(std::endian::native == std::endian::little, "the stream is little-endian");

using StringId = std::uint32_t;

/// What a kernel was launched with; kernels refer to it by `id`. Sizes in bytes.
struct LaunchConfiguration {
    std::uint32_t id = 0;
    StringId symbol = 0;  ///< as in the machine code
    std::array<std::uint32_t, 3> grid{};
    std::array<std::uint32_t, 3> block{};
    std::array<std::uint32_t, 3> cluster{};  ///< 0: no cluster
    std::uint32_t registers_per_thread = 0;
    std::uint32_t static_smem_bytes = 0;
    std::uint32_t dynamic_smem_bytes = 0;
    std::uint32_t local_bytes_per_thread = 0;
    std::uint32_t cooperative = 0;  ///< 1: a cooperative launch
};

/// The place of a piece of device work.
struct Place {
    std::uint32_t device = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::uint32_t correlation = 0;  ///< of the API call that launched it
};

/// The node of a CUDA graph; 0 outside graphs.
struct GraphNode {
    std::uint64_t node = 0;
    std::uint32_t graph = 0;
    std::uint32_t padding = 0;
};

struct Kernel {
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
    Place place;
    GraphNode graph;
    std::uint32_t configuration = 0;
    std::uint32_t padding = 0;
};

/// CUPTI's numbers (CUpti_ActivityMemoryKind).
enum class MemoryKind : std::uint8_t {
    unknown = 0,
    pageable = 1,
    pinned = 2,
    device = 3,
    array = 4,
    managed = 5,
    device_static = 6,
    managed_static = 7,
};

/// CUPTI's numbers (CUpti_ActivityMemcpyKind).
enum class CopyKind : std::uint8_t {
    unknown = 0,
    host_to_device = 1,
    device_to_host = 2,
    host_to_array = 3,
    array_to_host = 4,
    array_to_array = 5,
    array_to_device = 6,
    device_to_array = 7,
    device_to_device = 8,
    host_to_host = 9,
    peer_to_peer = 10,
};

struct Copy {
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint64_t bytes = 0;
    Place place;
    GraphNode graph;
    CopyKind kind = CopyKind::unknown;
    MemoryKind source = MemoryKind::unknown;
    MemoryKind destination = MemoryKind::unknown;
    std::uint8_t asynchronous = 0;  ///< 1: by an asynchronous call
    std::uint32_t padding = 0;
};

struct Memset {
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint64_t bytes = 0;
    Place place;
    GraphNode graph;
};

/// CUPTI's numbers (CUpti_ActivitySynchronizationType).
enum class SynchronisationKind : std::uint32_t {
    unknown = 0,
    event = 1,
    stream_wait_event = 2,  ///< the device waits, not the host
    stream = 3,
    context = 4,
};

struct Synchronisation {
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
    SynchronisationKind kind = SynchronisationKind::unknown;
    std::uint32_t correlation = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
};

/// A call of the driver ("cuLaunchKernel") or the runtime ("cudaLaunchKernel_v7000"). A driver call
/// that the runtime made has the runtime call's correlation.
struct ApiCall {
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
    StringId name = 0;
    std::uint32_t thread = 0;
    std::uint32_t correlation = 0;
    std::uint32_t result = 0;  ///< CUresult or cudaError_t
};

/// A launch, copy or memset, when its callback saw it return from the driver.
struct LaunchCall {
    std::uint64_t time_ns = 0;
    std::uint32_t thread = 0;
    std::uint32_t correlation = 0;
};

enum class MarkerKind : std::uint32_t { begin = 0, end = 1, instant = 2 };

/// One end of an NVTX range, or a mark. Both ends have the same id; the name is in the beginning.
struct Marker {
    std::uint64_t time_ns = 0;
    std::uint32_t id = 0;
    MarkerKind kind = MarkerKind::instant;
    StringId name = 0;
    StringId domain = 0;
    std::uint32_t thread = 0;  ///< a range may end on another thread than it began on
    std::uint32_t padding = 0;
};

struct MemoryEvent {
    std::uint64_t time_ns = 0;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint32_t device = 0;
    std::uint32_t context = 0;
    std::uint32_t correlation = 0;
    MemoryKind kind = MemoryKind::unknown;
    std::uint8_t release = 0;  ///< 0: allocation, 1: release
    std::uint8_t pool = 0;     ///< 1: from a memory pool (cudaMallocAsync)
    std::uint8_t padding = 0;
};

/// Host time that CUPTI or the driver took from the program; `kind` tells which (analysis.hpp).
struct Overhead {
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint32_t kind = 0;  ///< CUpti_ActivityOverheadKind
    std::uint32_t thread = 0;
};

struct Device {
    std::uint32_t id = 0;
    StringId name = 0;
    std::array<std::uint8_t, 16> uuid{};
    std::uint64_t memory_bytes = 0;
    std::uint64_t memory_bandwidth_kb_per_s = 0;
    std::uint32_t cc_major = 0;
    std::uint32_t cc_minor = 0;
    std::uint32_t sm_count = 0;
    std::uint32_t mig = 0;  ///< 1: a MIG instance
};

struct Context {
    std::uint32_t id = 0;
    std::uint32_t device = 0;
    std::uint32_t null_stream = 0;
    std::uint32_t padding = 0;
};

/// A communicator of NCCL, when a process joined it.
struct Communicator {
    std::uint64_t id = 0;  ///< the same in all of its processes
    std::uint32_t ranks = 0;
    std::uint32_t rank = 0;  ///< of this process
};

/// A call of NCCL that communicates, immediately before its NVTX range begins on the same thread.
struct CommunicationCall {
    std::uint64_t time_ns = 0;
    std::uint64_t communicator = 0;
    std::uint64_t bytes = 0;  ///< the size of the message, as NCCL counts it for this call
    std::uint32_t thread = 0;
    std::uint32_t padding = 0;
};

/// What a GPU measures about itself over time; in the order of DeviceSample::values.
enum class SampledMetric : std::uint32_t {
    sm_active = 0,  ///< from here on in % of the peak
    tensor_active,
    dram_read,
    dram_write,
    l2_throughput,
    pcie_read,  ///< from here on in bytes/s
    pcie_write,
    nvlink_received,
    nvlink_sent,
};
inline constexpr std::size_t sampled_metrics = 9;
/// The value of a metric that was not sampled.
inline constexpr float not_sampled = -1;

/// The mean of each metric over an interval of time, of a whole device: all processes that use it.
struct DeviceSample {
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint32_t device = 0;
    std::array<std::uint32_t, sampled_metrics> bits{};  ///< of floats; not_sampled: none

    [[nodiscard]] float value(SampledMetric metric) const {
        return std::bit_cast<float>(bits[static_cast<std::size_t>(metric)]);
    }
};

/// The fingerprint of a function's machine code (elf/cubin.hpp).
struct FunctionCode {
    StringId symbol = 0;
    StringId fingerprint = 0;
};

/// The stack that a kernel needs per thread (elf/cubin.hpp).
struct StackSize {
    StringId symbol = 0;
    std::uint32_t bytes = 0;
};

/// Where a function's source begins and how long its code is (elf/cubin.hpp).
struct FunctionPlace {
    StringId symbol = 0;
    StringId file = 0;
    std::uint32_t line = 0;  ///< 0: unknown
    std::uint32_t code_bytes = 0;
};

/// So many samples of the program counter were at an instruction, at level `code`.
struct PcSample {
    std::uint64_t offset = 0;  ///< of the instruction in its function, bytes
    StringId symbol = 0;
    StringId reason = 0;  ///< what the warp waited for: "long_scoreboard"
    std::uint32_t count = 0;
    std::uint32_t padding = 0;
};

/// What a program says to profilers: cudaProfilerStart and cudaProfilerStop, or the driver's.
enum class ProfilerCallKind : std::uint32_t {
    watched = 0,  ///< no call: all that are made from here on are on record
    start = 1,
    stop = 2,
};

/// A start when it returned, a stop when it was called.
struct ProfilerCall {
    std::uint64_t time_ns = 0;
    std::uint32_t thread = 0;
    ProfilerCallKind kind = ProfilerCallKind::watched;
};

/// A function of a stack of the host. Its number is its place in the recording, from 1.
struct StackFrame {
    std::uint32_t caller = 0;  ///< the number of an earlier frame; 0: this one is outermost
    StringId function = 0;
    StringId file = 0;
    std::uint32_t line = 0;  ///< that was executed; 0: not known
};

/// What a thread of the host does, or waits for.
enum class HostState : std::uint32_t {
    running = 0,
    ready = 1,  ///< for a processor
    lock = 2,
    io = 3,    ///< files and pipes
    data = 4,  ///< poll and sockets
    sleep = 5,
    child = 6,   ///< a process
    driver = 7,  ///< ioctl
    paging = 8,  ///< running, mostly in page faults, or waiting in one
    other = 9,
};

/// A thread of the process, or of one that it started, as it was seen at successive looks.
struct HostSample {
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    std::uint32_t frame = 0;  ///< the innermost StackFrame; 0: the stack is not known
    HostState state = HostState::running;
};

/// A later one of the same thread replaces it.
struct HostThread {
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    StringId name = 0;
};

/// How stacks were sampled up to a time; each one replaces the one before.
struct HostSampling {
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint64_t interval_ns = 0;  ///< the mean that was intended
    std::uint64_t looks = 0;
    std::uint64_t late_looks = 0;  ///< came so late that the time before is not covered
    std::uint64_t cpu_ns = 0;      ///< processor time that sampling took
    StringId python = 0;           ///< version of the interpreter, or why its functions are missing
    std::uint32_t padding = 0;
};

/// Reads of the process's clock and of two clocks of the host at one moment.
struct ClockReading {
    std::uint64_t time_ns = 0;  ///< the clock of the records
    std::uint64_t realtime_ns = 0;
    std::uint64_t monotonic_ns = 0;
};

/// What was counted beside the records; each block of it replaces the one before.
struct Counts {
    std::uint64_t kernel_launches = 0;    ///< launch callbacks of calls that succeeded
    std::uint64_t captured_launches = 0;  ///< of these, into a graph: nothing ran
    std::uint64_t graph_launches = 0;
    std::uint64_t failed_launches = 0;
    std::uint64_t dropped_records = 0;         ///< by CUPTI
    std::uint64_t without_time = 0;            ///< start or end 0
    std::uint64_t reversed_time = 0;           ///< end before start
    std::uint64_t unread_records = 0;          ///< of buffers that could not be decoded or stored
    std::uint64_t over_limit_records = 0;      ///< not written: the recording was full
    std::uint64_t refused_buffers = 0;         ///< CUPTI was given no buffer
    std::uint64_t unreadable_modules = 0;      ///< no fingerprints of their functions
    std::uint64_t counted_with_callbacks = 0;  ///< 1: the launch counts above were taken
};

template <class Record>
inline constexpr bool is_record =
    std::is_trivially_copyable_v<Record>&& std::has_unique_object_representations_v<Record>;

static_assert(is_record<LaunchConfiguration> && sizeof(LaunchConfiguration) == 64);
static_assert(is_record<Counts> && sizeof(Counts) == 96);

// Records of a process in which counters are collected. It collects one pass: the counters that the
// hardware counts at the same time. The passes of a collection are processes of
// their own, and belong together if their launches are the same.

/// A kernel launch, in the order of the process; up to the last one that is counted. Launches into
/// a graph are not among them.
struct Launched {
    std::uint32_t configuration = 0;
};

/// Once, before the first counted launch.
struct CounterPass {
    std::uint32_t pass = 0;
    std::uint32_t passes = 0;  ///< that the requested counters need; 0: none can be counted
    StringId chip = 0;
    std::uint32_t padding = 0;
};

enum class CounterFate : std::uint32_t {
    counted = 0,         ///< in pass `number`
    absent = 1,          ///< the chip does not have it
    several_passes = 2,  ///< it needs `number` passes by itself
};

/// What becomes of a requested counter.
struct PlannedCounter {
    StringId counter = 0;
    CounterFate fate = CounterFate::absent;
    std::uint32_t number = 0;
    std::uint32_t padding = 0;
};

/// A launch whose counters are on record, for each label that it was counted for.
struct CountedLaunch {
    std::uint64_t launch = 0;  ///< its place in the sequence of Launched
    std::uint32_t label = 0;   ///< its place in the request
    std::uint32_t padding = 0;
};

struct CounterValue {
    std::uint64_t launch = 0;
    std::uint64_t bits = 0;  ///< of a double
    StringId counter = 0;
    std::uint32_t padding = 0;
};

/// Why nothing is counted for a label.
struct CounterRefusal {
    std::uint32_t label = 0;
    StringId reason = 0;
};

}  // namespace perfgate::activity

// SPDX-License-Identifier: Apache-2.0
// The recorded stream `perfgate.activity`, version 5, as it lies in a file:
//
//     prologue                             name and version of the format
//     block*                               BlockHeader, then its payload
//
// A block is whole or worthless: its checksum is CRC-32 (zlib's) over kind, length and payload. The
// first block is `header`, the last `end`. Blocks of records are arrays of one type of record.hpp;
// strings and launch configurations come before what refers to them. A later version adds kinds and
// changes none: version 2 added those of level `counters`, version 3 stack sizes, version 4
// profiler calls, version 5 samples of the host's stacks, of devices and of program counters,
// communication calls, and places of functions.
#pragma once

#include <zlib.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "activity/record.hpp"

namespace perfgate::activity {

inline constexpr std::array<char, 20> format_name = {"perfgate.activity"};
inline constexpr std::uint32_t format_version = 5;

struct Prologue {
    std::array<char, 20> name = format_name;
    std::uint32_t version = format_version;
};
static_assert(is_record<Prologue> && sizeof(Prologue) == 24);

inline constexpr std::uint32_t block_mark = 0x42414750;  // "PGAB"

struct BlockHeader {
    std::uint32_t mark = block_mark;
    std::uint32_t kind = 0;           ///< a BlockKind
    std::uint32_t payload_bytes = 0;  ///< at most max_payload_bytes
    std::uint32_t checksum = 0;
};
static_assert(is_record<BlockHeader> && sizeof(BlockHeader) == 16);

inline constexpr std::uint32_t max_payload_bytes = std::uint32_t{4} << 20;
inline constexpr std::uint32_t max_stack_depth = 256;
/// Longer strings are cut.
inline constexpr std::uint32_t max_string_bytes = std::uint32_t{64} << 10;

enum class BlockKind : std::uint32_t {
    header = 1,   ///< texts: key, value, key, value, …
    strings = 2,  ///< (id, text), …
    configurations = 3,
    kernels = 4,
    copies = 5,
    memsets = 6,
    synchronisations = 7,
    api_calls = 8,
    launch_calls = 9,
    markers = 10,
    memory_events = 11,
    overheads = 12,
    devices = 13,
    contexts = 14,
    function_codes = 15,
    clocks = 16,
    counts = 17,   ///< one Counts
    problem = 18,  ///< a text: why this recording is not all that was asked for
    end = 19,      ///< a text: how recording ended ("exit")
    launches = 20,
    counter_passes = 21,
    planned_counters = 22,
    counted_launches = 23,
    counter_values = 24,
    counter_refusals = 25,
    stack_sizes = 26,
    profiler_calls = 27,
    stack_frames = 28,
    host_samples = 29,
    host_threads = 30,
    host_samplings = 31,
    communicators = 32,
    communication_calls = 33,
    device_samples = 34,
    function_places = 35,
    pc_samples = 36,
};

// A text is its length (32 bits) and its bytes; an id before it has 32 bits.

/// What `BlockHeader::checksum` has to be.
inline std::uint32_t block_checksum(const BlockHeader& header, std::span<const std::byte> payload) {
    const auto* fields = reinterpret_cast<const Bytef*>(&header.kind);
    uLong sum = crc32(0, fields, sizeof(header.kind) + sizeof(header.payload_bytes));
    // For a null pointer zlib starts anew.
    if (!payload.empty()) {
        sum = crc32_z(sum, reinterpret_cast<const Bytef*>(payload.data()), payload.size());
    }
    return static_cast<std::uint32_t>(sum);
}

/// The records of one process, or of one piece of a stream, in the order in which they came.
struct Records {
    std::vector<Kernel> kernels;
    std::vector<Copy> copies;
    std::vector<Memset> memsets;
    std::vector<Synchronisation> synchronisations;
    std::vector<ApiCall> api_calls;
    std::vector<LaunchCall> launch_calls;
    std::vector<Marker> markers;
    std::vector<MemoryEvent> memory_events;
    std::vector<Overhead> overheads;
    std::vector<Device> devices;
    std::vector<Context> contexts;
    std::vector<FunctionCode> function_codes;
    std::vector<StackSize> stack_sizes;
    std::vector<FunctionPlace> function_places;
    std::vector<PcSample> pc_samples;
    std::vector<ProfilerCall> profiler_calls;
    std::vector<StackFrame> stack_frames;
    std::vector<HostSample> host_samples;
    std::vector<HostThread> host_threads;
    std::vector<HostSampling> host_samplings;
    std::vector<Communicator> communicators;
    std::vector<CommunicationCall> communication_calls;
    std::vector<DeviceSample> device_samples;
    std::vector<ClockReading> clocks;
    std::vector<Launched> launches;
    std::vector<CounterPass> counter_passes;
    std::vector<PlannedCounter> planned_counters;
    std::vector<CountedLaunch> counted_launches;
    std::vector<CounterValue> counter_values;
    std::vector<CounterRefusal> counter_refusals;
};

/// Calls `visit(kind, vector)` for each kind of record.
template <class AnyRecords, class Visit>
void for_each_kind(AnyRecords& records, Visit&& visit) {
    visit(BlockKind::kernels, records.kernels);
    visit(BlockKind::copies, records.copies);
    visit(BlockKind::memsets, records.memsets);
    visit(BlockKind::synchronisations, records.synchronisations);
    visit(BlockKind::api_calls, records.api_calls);
    visit(BlockKind::launch_calls, records.launch_calls);
    visit(BlockKind::markers, records.markers);
    visit(BlockKind::memory_events, records.memory_events);
    visit(BlockKind::overheads, records.overheads);
    visit(BlockKind::devices, records.devices);
    visit(BlockKind::contexts, records.contexts);
    visit(BlockKind::function_codes, records.function_codes);
    visit(BlockKind::stack_sizes, records.stack_sizes);
    visit(BlockKind::function_places, records.function_places);
    visit(BlockKind::pc_samples, records.pc_samples);
    visit(BlockKind::profiler_calls, records.profiler_calls);
    visit(BlockKind::stack_frames, records.stack_frames);
    visit(BlockKind::host_samples, records.host_samples);
    visit(BlockKind::host_threads, records.host_threads);
    visit(BlockKind::host_samplings, records.host_samplings);
    visit(BlockKind::communicators, records.communicators);
    visit(BlockKind::communication_calls, records.communication_calls);
    visit(BlockKind::device_samples, records.device_samples);
    visit(BlockKind::clocks, records.clocks);
    visit(BlockKind::launches, records.launches);
    visit(BlockKind::counter_passes, records.counter_passes);
    visit(BlockKind::planned_counters, records.planned_counters);
    visit(BlockKind::counted_launches, records.counted_launches);
    visit(BlockKind::counter_values, records.counter_values);
    visit(BlockKind::counter_refusals, records.counter_refusals);
}

}  // namespace perfgate::activity

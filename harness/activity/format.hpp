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

/// The kinds of records, in the order in which a piece of the stream has them: the type, its place
/// in Records, the number of its blocks, and the bytes of a record.
#define PERFGATE_RECORD_KINDS(X)                      \
    X(Kernel, kernels, 4, 56)                         \
    X(Copy, copies, 5, 64)                            \
    X(Memset, memsets, 6, 56)                         \
    X(Synchronisation, synchronisations, 7, 32)       \
    X(ApiCall, api_calls, 8, 32)                      \
    X(LaunchCall, launch_calls, 9, 16)                \
    X(Marker, markers, 10, 32)                        \
    X(MemoryEvent, memory_events, 11, 40)             \
    X(Overhead, overheads, 12, 24)                    \
    X(Device, devices, 13, 56)                        \
    X(Context, contexts, 14, 16)                      \
    X(FunctionCode, function_codes, 15, 8)            \
    X(StackSize, stack_sizes, 26, 8)                  \
    X(FunctionPlace, function_places, 35, 16)         \
    X(PcSample, pc_samples, 36, 24)                   \
    X(ProfilerCall, profiler_calls, 27, 16)           \
    X(StackFrame, stack_frames, 28, 16)               \
    X(HostSample, host_samples, 29, 32)               \
    X(HostThread, host_threads, 30, 12)               \
    X(HostSampling, host_samplings, 31, 56)           \
    X(Communicator, communicators, 32, 16)            \
    X(CommunicationCall, communication_calls, 33, 32) \
    X(DeviceSample, device_samples, 34, 56)           \
    X(ClockReading, clocks, 16, 24)                   \
    X(Launched, launches, 20, 4)                      \
    X(CounterPass, counter_passes, 21, 16)            \
    X(PlannedCounter, planned_counters, 22, 16)       \
    X(CountedLaunch, counted_launches, 23, 16)        \
    X(CounterValue, counter_values, 24, 24)           \
    X(CounterRefusal, counter_refusals, 25, 8)

enum class BlockKind : std::uint32_t {
    header = 1,   ///< texts: key, value, key, value, …
    strings = 2,  ///< (id, text), …
    configurations = 3,
    counts = 17,   ///< one Counts
    problem = 18,  ///< a text: why this recording is not all that was asked for
    end = 19,      ///< a text: how recording ended ("exit")
#define PERFGATE_KIND(Record, name, number, bytes) name = number,
    PERFGATE_RECORD_KINDS(PERFGATE_KIND)
#undef PERFGATE_KIND
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
#define PERFGATE_KIND(Record, name, number, bytes)               \
    static_assert(is_record<Record> && sizeof(Record) == bytes); \
    std::vector<Record> name;
    PERFGATE_RECORD_KINDS(PERFGATE_KIND)
#undef PERFGATE_KIND
};

/// Calls `visit(kind, vector)` for each kind of record.
template <class AnyRecords, class Visit>
void for_each_kind(AnyRecords& records, Visit&& visit) {
#define PERFGATE_KIND(Record, name, number, bytes) visit(BlockKind::name, records.name);
    PERFGATE_RECORD_KINDS(PERFGATE_KIND)
#undef PERFGATE_KIND
}

}  // namespace perfgate::activity

// SPDX-License-Identifier: Apache-2.0
// Brings together the payloads of NCCL's NVTX ranges and the kernels that NCCL's calls launched:
// what a process communicated. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "activity/profile.hpp"
#include "activity/timeline.hpp"

namespace perfgate::activity {

/// One call of NCCL, or those calls of a group (ncclGroupStart to ncclGroupEnd) that are about one
/// communicator.
struct Collective {
    std::string name;  ///< "AllReduce"; "Recv+Send" of a group with both
    std::uint64_t communicator = 0;
    std::uint32_t ranks = 0;        ///< of the communicator; 0: not on record
    std::uint64_t calls = 0;        ///< 1, or those of the group
    std::uint64_t bytes = 0;        ///< the size of the data, as nccl-tests count it
    double bus_bytes = 0;           ///< that crosses the slowest link of a process; 0 if not known
    std::uint64_t launched_ns = 0;  ///< when the host made the first call
    std::uint32_t thread = 0;
    /// From the begin of its first kernel to the end of the last; empty: no kernel is known to be
    /// its own, as of calls that a graph captured.
    Interval time;
    /// Communication kernels that its range launched; those of a group with several communicators
    /// are with the first. 0 of a group with a call whose size is not on record.
    std::uint64_t kernels = 0;
};

/// In the order of launches.
std::vector<Collective> collectives_of(const Timeline& timeline);

/// True if kernels of NCCL ran and none of its calls are on record: an NCCL older than 2.24, one
/// with NCCL_NVTX_DISABLE, or a recording of another tool.
bool lacks_calls(const Timeline& timeline);

/// One collective, as each process that took part recorded it.
struct SharedCollective {
    struct Part {
        std::size_t process = 0;
        const Collective* collective = nullptr;
    };
    std::vector<Part> parts;

    [[nodiscard]] const Collective& first() const { return *parts.front().collective; }
    /// When the process that came last began it.
    [[nodiscard]] std::uint64_t last_begin() const;
    /// From then to the last end: without the others' waiting.
    [[nodiscard]] std::uint64_t transfer_ns() const;
    /// True if all ranks of its communicator are parts, so that nobody else was waited for.
    [[nodiscard]] bool whole() const { return first().ranks == parts.size(); }
};

/// Matches collectives of processes by communicator and order. `problem` says why they do not
/// match; empty: they do. Those without kernels, and of communicators with several ranks in one
/// process, are left out. The arguments outlive the result.
std::vector<SharedCollective> matched(std::span<const std::vector<Collective>* const> processes,
                                      std::string& problem);

/// Fills `communication` of the profiles, one for each timeline: what the calls of each size took,
/// and in which process they began last. Times of processes are compared if their clock is the
/// host's.
void add_communication(std::span<const Timeline> timelines, std::span<Profile> profiles);

/// True if times of different processes can be compared: CUPTI's clock on Linux is the host's real
/// time, unless the program has given CUPTI another.
bool has_the_hosts_clock(const Timeline& timeline);

}  // namespace perfgate::activity

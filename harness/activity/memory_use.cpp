// SPDX-License-Identifier: Apache-2.0
#include "activity/memory_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "util/text.hpp"

namespace perfgate::activity {
namespace {

bool is_on_device(MemoryKind kind) {
    return kind == MemoryKind::device || kind == MemoryKind::managed || kind == MemoryKind::array;
}

/// Of the host, or a variable of a module, which is not released by an address that was allocated.
bool is_elsewhere(MemoryKind kind) {
    return kind == MemoryKind::pageable || kind == MemoryKind::pinned ||
           kind == MemoryKind::device_static || kind == MemoryKind::managed_static;
}

/// Calls that allocate and of which CUPTI may have no record: physical memory that is mapped apart,
/// memory nodes of graphs, and allocations in a stream, which may be captured into a graph.
constexpr std::array<std::string_view, 6> calls_in_doubt{
    "MemCreate", "MemAllocNode", "GraphAddNode", "MallocAsync", "MemAllocAsync", "FromPoolAsync"};

/// The name of such a call that succeeded and has no record; empty: there is none.
std::string unrecorded_call(const Recording& recording) {
    std::unordered_set<std::uint32_t> recorded;
    for (const MemoryEvent& event : recording.records.memory_events) {
        if (event.release == 0) recorded.insert(event.correlation);
    }
    for (const ApiCall& call : recording.records.api_calls) {
        if (call.result != 0 || recorded.contains(call.correlation)) continue;
        const std::string& name = recording.text(call.name);
        if (std::ranges::any_of(calls_in_doubt, [&](std::string_view part) {
                return name.find(part) != std::string::npos;
            })) {
            return name;
        }
    }
    return {};
}

}  // namespace

MemoryUse::MemoryUse(const Recording& recording) {
    if (!recording.has_calls()) {
        problem_ = "the recording has no allocations of memory: they are recorded at level api";
        return;
    }
    follow(recording);
    if (!problem_.empty()) return;
    if (const std::string call = unrecorded_call(recording); !call.empty()) {
        problem_ = fmt::format("CUPTI has no record of the memory that a call of {} allocated",
                               util::printable(call, 80));
    }
}

void MemoryUse::follow(const Recording& recording) {
    struct Block {
        std::uint32_t device = 0;
        std::uint64_t bytes = 0;
    };
    std::vector<MemoryEvent> events = recording.records.memory_events;
    std::ranges::stable_sort(events,
                             [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    std::unordered_map<std::uint64_t, Block> held;  // by address
    std::map<std::uint32_t, std::uint64_t> now;
    for (const MemoryEvent& event : events) {
        const bool releases = event.release != 0;
        // Without an address nothing is released: cudaFree(nullptr).
        if (is_elsewhere(event.kind) || (releases && event.address == 0)) continue;
        const auto block = held.find(event.address);
        const char* wrong = nullptr;
        if (event.time_ns == 0) {
            wrong = "has no time";
        } else if (releases) {
            if (block == held.end()) wrong = "matches no recorded allocation";
        } else if (!is_on_device(event.kind)) {
            wrong = "is of an unknown kind of memory";
        } else if (event.bytes == 0 || event.address == 0) {
            wrong = "has no size or no address";
        } else if (block != held.end()) {
            wrong = "is of memory that is still in use";
        }
        if (wrong != nullptr) {
            problem_ = fmt::format("the records of memory contradict each other: {} at {:#x} {}",
                                   releases ? "a release" : "an allocation", event.address, wrong);
            return;
        }
        const std::uint32_t device = releases ? block->second.device : event.device;
        if (releases) {
            now[device] -= block->second.bytes;
            held.erase(block);
        } else {
            now[device] += event.bytes;
            held[event.address] = {event.device, event.bytes};
        }
        devices_[device].push_back({event.time_ns, now[device]});
    }
}

std::uint64_t MemoryUse::peak(std::uint32_t device, model::Interval time) const {
    const auto found = devices_.find(device);
    if (found == devices_.end()) return 0;
    const std::vector<Change>& changes = found->second;
    auto next = std::ranges::upper_bound(changes, time.begin, {}, &Change::time_ns);
    std::uint64_t most = next == changes.begin() ? 0 : std::prev(next)->bytes;
    for (; next != changes.end() && next->time_ns < time.end; ++next) {
        most = std::max(most, next->bytes);
    }
    return most;
}

std::uint64_t MemoryUse::peak(model::Interval time) const {
    std::uint64_t most = 0;
    for (const auto& [device, changes] : devices_) most = std::max(most, peak(device, time));
    return most;
}

}  // namespace perfgate::activity

// SPDX-License-Identifier: Apache-2.0
#include "kinds/command/communication_skew.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "activity/analysis.hpp"
#include "model/communication_kernel.hpp"
#include "util/text.hpp"

namespace perfgate::command {
namespace {

using activity::Timeline;
using activity::Work;

/// A process's communication kernels in the order of launches, for each instance.
struct Process {
    const Timeline* timeline;
    std::vector<std::vector<Work>> instances{};
};

std::vector<Work> communication_kernels(const Timeline& timeline, std::span<const Work> launched,
                                        std::optional<std::uint32_t> thread) {
    std::vector<Work> kernels;
    for (const Work& work : launched) {
        if (work.kind != activity::WorkKind::kernel || (thread && work.thread != *thread)) continue;
        const activity::StringId symbol = timeline.configuration(work).symbol;
        if (model::is_communication_kernel(timeline.recording().text(symbol))) {
            kernels.push_back(work);
        }
    }
    return kernels;
}

/// CUPTI's clock on Linux is the host's real time, unless the program has given CUPTI another. The
/// recorder read both, one after the other.
bool has_the_hosts_clock(const Timeline& timeline) {
    constexpr std::uint64_t between_two_reads_ns = 1'000'000;  // if the process was interrupted
    const auto& readings = timeline.recording().records.clocks;
    return std::any_of(readings.begin(), readings.end(), [](const activity::ClockReading& reading) {
        const auto [low, high] = std::minmax(reading.time_ns, reading.realtime_ns);
        return high - low <= between_two_reads_ns;
    });
}

std::string name_of(const Timeline& timeline, const Work& kernel) {
    return timeline.recording().text(timeline.configuration(kernel).symbol);
}

/// Why the kernels of an instance are not the same; empty: they are.
std::string difference(const Process& one, const Process& other, std::size_t instance) {
    const std::vector<Work>& a = one.instances[instance];
    const std::vector<Work>& b = other.instances[instance];
    const std::string where =
        fmt::format("the processes' NCCL and NVSHMEM kernels differ: in instance {}", instance + 1);
    if (a.size() != b.size()) {
        return fmt::format("{} one has {} and another {}", where, a.size(), b.size());
    }
    for (std::size_t k = 0; k < a.size(); ++k) {
        const std::string name = name_of(*one.timeline, a[k]);
        const std::string other_name = name_of(*other.timeline, b[k]);
        if (name == other_name) continue;
        return fmt::format("{} kernel {} is {} in one and {} in another", where, k + 1,
                           util::printable(util::demangled(name), 80),
                           util::printable(util::demangled(other_name), 80));
    }
    return {};
}

CommunicationSkew skew_of(std::vector<Process> processes) {
    std::erase_if(processes, [](const Process& process) {
        return std::all_of(process.instances.begin(), process.instances.end(),
                           [](const auto& kernels) { return kernels.empty(); });
    });
    CommunicationSkew skew;
    skew.processes = processes.size();
    if (processes.size() < 2) {
        skew.problem = fmt::format("{} with NCCL or NVSHMEM kernels; a skew is between several",
                                   util::counted(processes.size(), "process"));
        return skew;
    }
    const Process& first = processes.front();
    for (const Process& process : processes) {
        if (!has_the_hosts_clock(*process.timeline)) {
            skew.problem =
                "CUPTI's clock is not the host's real time in all processes, so their times cannot "
                "be compared";
        } else if (process.instances.size() != first.instances.size()) {
            skew.problem =
                fmt::format("the processes have different numbers of instances: {} and {}",
                            first.instances.size(), process.instances.size());
        }
        if (!skew.problem.empty()) return skew;
    }
    for (std::size_t instance = 0; instance < first.instances.size(); ++instance) {
        for (const Process& process : processes) {
            skew.problem = difference(first, process, instance);
            if (skew.problem.empty()) continue;
            skew.samples.clear();
            return skew;
        }
        std::vector<std::uint64_t> skews;
        for (std::size_t k = 0; k < first.instances[instance].size(); ++k) {
            std::uint64_t earliest = first.instances[instance][k].time.begin, latest = earliest;
            for (const Process& process : processes) {
                const std::uint64_t begin = process.instances[instance][k].time.begin;
                earliest = std::min(earliest, begin);
                latest = std::max(latest, begin);
            }
            skews.push_back(latest - earliest);
        }
        if (skews.empty()) continue;
        skew.samples.push_back(as_double(activity::median(std::move(skews))));
    }
    return skew;
}

}  // namespace

CommunicationSkew communication_skew(const Recorded& recorded) {
    std::vector<Process> processes;
    for (const auto& [timeline, part] : recorded.processes()) {
        processes.push_back(
            {&timeline, {communication_kernels(timeline, part.launched(timeline), std::nullopt)}});
    }
    return skew_of(std::move(processes));
}

CommunicationSkew communication_skew(const Recorded& recorded,
                                     const std::vector<Instance>& instances) {
    std::vector<Process> processes;
    for (const RecordedProcess& each : recorded.processes()) {
        Process& process = processes.emplace_back(Process{&each.timeline});
        for (const Instance& instance : instances) {
            if (instance.timeline != process.timeline) continue;
            process.instances.push_back(communication_kernels(
                *process.timeline, process.timeline->launched_in(instance.time), instance.thread));
        }
    }
    return skew_of(std::move(processes));
}

}  // namespace perfgate::command

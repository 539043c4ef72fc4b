// SPDX-License-Identifier: Apache-2.0
#include "kinds/command/communication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "activity/analysis.hpp"
#include "activity/communication.hpp"
#include "model/communication_kernel.hpp"
#include "model/quantity.hpp"
#include "util/text.hpp"

namespace perfgate::command {
namespace {

using activity::Collective;
using activity::Interval;
using activity::SharedCollective;
using activity::Timeline;
using activity::Work;

struct OwnInstance {
    std::uint64_t span_ns = 0;
    std::vector<Collective> calls;    ///< of NCCL, with their kernels where these are known
    std::vector<Collective> kernels;  ///< each for itself, in the order of launches
};

struct Process {
    const Timeline* timeline;
    std::vector<Collective> calls{};  ///< of the whole process, by launch
    activity::IntervalSet others{};   ///< kernels that do not communicate
    std::vector<OwnInstance> instances{};

    explicit Process(const Timeline& of) : timeline(&of), calls(activity::collectives_of(of)) {
        std::vector<Interval> computing;
        for (const Work& work : of.work()) {
            if (work.kind == activity::WorkKind::kernel && !communicates(work)) {
                computing.push_back(work.time);
            }
        }
        others = activity::IntervalSet(std::move(computing));
    }

    [[nodiscard]] const std::string& symbol(const Work& kernel) const {
        return timeline->recording().text(timeline->configuration(kernel).symbol);
    }
    [[nodiscard]] bool communicates(const Work& kernel) const {
        return model::is_communication_kernel(symbol(kernel));
    }

    void add(std::span<const Work> launched, std::span<const Interval> windows,
             std::optional<std::uint32_t> thread, std::uint64_t span_ns) {
        OwnInstance& own = instances.emplace_back();
        own.span_ns = span_ns;
        for (const Work& work : launched) {
            if (work.kind != activity::WorkKind::kernel || (thread && work.thread != *thread)) {
                continue;
            }
            if (!communicates(work)) continue;
            Collective& kernel = own.kernels.emplace_back();
            kernel.name = symbol(work);
            kernel.time = work.time;
        }
        for (const Interval& window : windows) {
            auto call = std::ranges::lower_bound(calls, window.begin, {}, &Collective::launched_ns);
            for (; call != calls.end() && call->launched_ns < window.end; ++call) {
                if (!thread || call->thread == *thread) own.calls.push_back(*call);
            }
        }
    }

    [[nodiscard]] const std::string& rank() const { return timeline->recording().field("rank"); }
};

/// "rank 1"; "process 4711" without a rank, and where groups of processes have the rank each.
std::string name_of(const Process& process, const std::vector<Process>& all) {
    const auto same = std::ranges::count_if(
        all, [&](const Process& other) { return other.rank() == process.rank(); });
    std::string name = "process " + process.timeline->recording().field("pid");
    if (process.rank().empty()) return name;
    return "rank " + process.rank() + (same > 1 ? " of " + name : "");
}

/// Why the kernels of an instance are not the same; empty: they are.
std::string difference(const Process& one, const Process& other, std::size_t instance) {
    const std::vector<Collective>& a = one.instances[instance].kernels;
    const std::vector<Collective>& b = other.instances[instance].kernels;
    const std::string where =
        fmt::format("the processes' NCCL and NVSHMEM kernels differ: in instance {}", instance + 1);
    if (a.size() != b.size()) {
        return fmt::format("{} one has {} and another {}", where, a.size(), b.size());
    }
    for (std::size_t k = 0; k < a.size(); ++k) {
        if (a[k].name == b[k].name) continue;
        return fmt::format("{} kernel {} is {} in one and {} in another", where, k + 1,
                           util::printable(util::demangled(a[k].name), 80),
                           util::printable(util::demangled(b[k].name), 80));
    }
    return {};
}

/// Whether each communication kernel of the instance was launched by one of its calls.
bool is_told(const OwnInstance& own) {
    std::uint64_t told = 0;
    for (const Collective& call : own.calls) told += call.kernels;
    return told == own.kernels.size();
}

/// Whether the calls tell of every communication kernel which communicator it is about.
bool calls_tell(const Process& process) {
    return std::ranges::all_of(process.instances, [](const OwnInstance& own) {
        return is_told(own) && std::ranges::none_of(own.calls, [](const Collective& call) {
                   return call.kernels != 0 && call.time.length() == 0;
               });
    });
}

void count_calls(const std::vector<Process>& processes, Communication& found) {
    std::map<std::pair<std::string, std::uint64_t>, double> sizes;
    std::size_t instances = 0;
    for (const Process& process : processes) {
        if (activity::lacks_calls(*process.timeline)) {
            found.not_counted =
                "NCCL's kernels are on record and its calls are not: NCCL 2.24 or newer reports "
                "them "
                "through NVTX, unless NCCL_NVTX_DISABLE is set";
            return;
        }
        for (const OwnInstance& own : process.instances) {
            ++instances;
            if (!is_told(own)) {
                found.not_counted =
                    "communication kernels ran without a call of NCCL, as in a CUDA graph or with "
                    "NVSHMEM: what they communicate is not on record";
                return;
            }
            for (const Collective& call : own.calls) {
                found.calls += as_double(call.calls);
                found.bytes += as_double(call.bytes);
                ++sizes[{call.name, call.bytes}];
            }
        }
    }
    constexpr std::size_t most_sizes = 4;
    std::vector<std::pair<double, std::string>> parts;
    for (const auto& [size, count] : sizes) {
        const double bytes = as_double(size.second);
        parts.emplace_back(
            bytes * count,
            fmt::format("{} of {} × {:.3g}", util::printable(size.first, 80),
                        model::quantity_text(bytes, "bytes"), count / as_double(instances)));
    }
    std::ranges::stable_sort(parts, [](const auto& a, const auto& b) { return a.first > b.first; });
    for (std::size_t i = 0; i < std::min(parts.size(), most_sizes); ++i) {
        found.sizes += (i == 0 ? "" : ", ") + parts[i].second;
    }
    if (parts.size() > most_sizes) {
        found.sizes += fmt::format(" and {} more sizes", parts.size() - most_sizes);
    }
}

/// What is in common to all processes of an instance; `problem` if it does not match.
std::vector<SharedCollective> shared_in(const std::vector<Process>& processes, std::size_t instance,
                                        bool by_calls, std::string& problem) {
    std::vector<const std::vector<Collective>*> own;
    for (const Process& process : processes) {
        const OwnInstance& each = process.instances[instance];
        own.push_back(by_calls ? &each.calls : &each.kernels);
        if (!by_calls) problem = difference(processes.front(), process, instance);
        if (!problem.empty()) return {};
    }
    return activity::matched(own, problem);
}

/// How often each process began last, and how late.
class Lateness {
  public:
    void add(std::size_t process, std::uint64_t skew_ns) {
        ++count_[process];
        late_[process].push_back(skew_ns);
        ++all_;
    }
    [[nodiscard]] std::string text(const std::vector<Process>& processes) {
        const auto most = std::ranges::max_element(
            count_, [](const auto& a, const auto& b) { return a.second < b.second; });
        if (most == count_.end()) return {};
        const auto median_ns = as_double(activity::median(late_[most->first]));
        return fmt::format("{} began last in {} of {}, {} after the first",
                           name_of(processes[most->first], processes), most->second, all_,
                           model::quantity_text(median_ns, "ns"));
    }

  private:
    std::map<std::size_t, std::size_t> count_;
    std::map<std::size_t, std::vector<std::uint64_t>> late_;
    std::size_t all_ = 0;
};

/// Of the instance, the longest span of a process without its waiting.
double own_span(const std::vector<Process>& processes, std::size_t instance,
                const std::vector<SharedCollective>& shared) {
    std::vector<std::vector<Interval>> waits(processes.size());
    for (const SharedCollective& each : shared) {
        for (const SharedCollective::Part& part : each.parts) {
            waits[part.process].push_back({part.collective->time.begin, each.last_begin()});
        }
    }
    std::uint64_t longest = 0;
    for (std::size_t i = 0; i < processes.size(); ++i) {
        const activity::IntervalSet waiting(std::move(waits[i]));
        const std::uint64_t idle = waiting.length() - waiting.overlap(processes[i].others);
        const std::uint64_t span = processes[i].instances[instance].span_ns;
        longest = std::max(longest, span - std::min(span, idle));
    }
    return as_double(longest);
}

/// Why times of the processes cannot be compared; empty: they can.
std::string incomparable(const std::vector<Process>& processes) {
    for (const Process& process : processes) {
        if (!activity::has_the_hosts_clock(*process.timeline)) {
            return "CUPTI's clock is not the host's real time in all processes, so their times "
                   "cannot be compared";
        }
        const std::size_t instances = processes.front().instances.size();
        if (process.instances.size() != instances) {
            return fmt::format("the processes have different numbers of instances: {} and {}",
                               instances, process.instances.size());
        }
    }
    return {};
}

Communication communication_of(std::vector<Process> processes) {
    Communication found;
    count_calls(processes, found);
    std::erase_if(processes, [](const Process& process) {
        return std::ranges::all_of(process.instances,
                                   [](const OwnInstance& own) { return own.kernels.empty(); });
    });
    found.processes = processes.size();
    if (processes.size() < 2) {
        found.problem = fmt::format("{} with NCCL or NVSHMEM kernels; a skew is between several",
                                    util::counted(processes.size(), "process"));
    } else {
        found.problem = incomparable(processes);
    }
    found.no_bandwidth = !found.not_counted.empty() ? found.not_counted : found.problem;
    if (!found.problem.empty()) return found;
    const bool by_calls = std::ranges::all_of(processes, calls_tell);
    Lateness lateness;
    for (std::size_t instance = 0; instance < processes.front().instances.size(); ++instance) {
        const std::vector<SharedCollective> shared =
            shared_in(processes, instance, by_calls, found.problem);
        if (!found.problem.empty()) {
            found.skews.clear();
            found.own_spans.clear();
            found.bus_bandwidths.clear();
            found.no_bandwidth = found.problem;
            return found;
        }
        found.own_spans.push_back(own_span(processes, instance, shared));
        std::vector<std::uint64_t> skews;
        double bus_bytes = 0, transfer_ns = 0;
        for (const SharedCollective& each : shared) {
            if (each.whole() && each.first().bus_bytes > 0) {
                bus_bytes += each.first().bus_bytes;
                transfer_ns += as_double(each.transfer_ns());
            }
            if (each.parts.size() < 2) continue;
            const auto [first, last] =
                std::ranges::minmax_element(each.parts, [](const auto& a, const auto& b) {
                    return a.collective->time.begin < b.collective->time.begin;
                });
            skews.push_back(last->collective->time.begin - first->collective->time.begin);
            lateness.add(last->process, skews.back());
        }
        if (transfer_ns > 0) found.bus_bandwidths.push_back(bus_bytes * 1e9 / transfer_ns);
        if (!skews.empty()) found.skews.push_back(as_double(activity::median(std::move(skews))));
    }
    found.last = lateness.text(processes);
    if (found.no_bandwidth.empty() && found.bus_bandwidths.empty()) {
        found.no_bandwidth =
            "no communication of which all ranks are on record, with kernels of its own";
    }
    return found;
}

}  // namespace

Communication communication_of(const Recorded& recorded) {
    std::vector<Process> processes;
    for (const auto& [timeline, part] : recorded.processes()) {
        const std::vector<Interval> whole{timeline.span()};
        Process& process = processes.emplace_back(timeline);
        process.add(part.launched(timeline), part.whole ? whole : part.windows, std::nullopt,
                    activity::summarise(timeline, part).span_ns);
    }
    return communication_of(std::move(processes));
}

Communication communication_of(const Recorded& recorded, const std::vector<Instance>& instances) {
    std::vector<Process> processes;
    for (const RecordedProcess& each : recorded.processes()) {
        Process& process = processes.emplace_back(each.timeline);
        for (const Instance& instance : instances) {
            if (instance.timeline != process.timeline) continue;
            process.add(
                process.timeline->launched_in(instance.time), std::span(&instance.time, 1),
                instance.thread,
                activity::summarise(*process.timeline, instance.time, instance.thread).span_ns);
        }
    }
    return communication_of(std::move(processes));
}

}  // namespace perfgate::command

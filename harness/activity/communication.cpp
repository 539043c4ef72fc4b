// SPDX-License-Identifier: Apache-2.0
#include "activity/communication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/communication_kernel.hpp"
#include "util/text.hpp"

namespace perfgate::activity {
namespace {

constexpr std::string_view prefix = "nccl";

/// How nccl-tests count the data of a collective, and what of it crosses a link (its
/// PERFORMANCE.md). `ranks` is n.
struct Counted {
    std::string_view name;
    bool of_all_ranks;          ///< the data are n messages
    double (*share)(double n);  ///< of the data that crosses a link
};

double all_but_own(double n) {
    return (n - 1) / n;
}

constexpr std::array collective_kinds{
    Counted{"AllReduce", false, [](double n) { return 2 * (n - 1) / n; }},
    Counted{"AllGather", true, all_but_own},
    Counted{"ReduceScatter", true, all_but_own},
    Counted{"AlltoAll", true, all_but_own},
    Counted{"Gather", true, all_but_own},
    Counted{"Scatter", true, all_but_own},
    Counted{"Broadcast", false, [](double) { return 1.0; }},
    Counted{"Reduce", false, [](double) { return 1.0; }},
    Counted{"Send", false, [](double) { return 1.0; }},
    Counted{"Recv", false, [](double) { return 1.0; }},
};

/// A range of NCCL, with the call whose payload came with it.
struct Call {
    Interval range;
    std::string_view name;  ///< without "nccl"
    const CommunicationCall* payload = nullptr;
};

/// By thread, in the order of their begins.
std::map<std::uint32_t, std::vector<Call>> calls_by_thread(const Timeline& timeline) {
    const Recording& recording = timeline.recording();
    std::map<std::uint32_t, std::vector<Call>> threads;
    for (const Range& range : timeline.ranges()) {
        const std::string_view name = recording.text(range.name);
        if (recording.text(range.domain) != "NCCL" || !name.starts_with(prefix)) continue;
        threads[range.thread].push_back({range.time, name.substr(prefix.size()), nullptr});
    }
    std::map<std::uint32_t, std::vector<const CommunicationCall*>> payloads;
    for (const CommunicationCall& call : recording.records.communication_calls) {
        payloads[call.thread].push_back(&call);
    }
    for (auto& [thread, own] : payloads) {
        std::vector<Call>& calls = threads[thread];
        std::ranges::stable_sort(
            own, [](const auto* a, const auto* b) { return a->time_ns < b->time_ns; });
        auto next = calls.begin();
        for (const CommunicationCall* payload : own) {
            // The payload was read before the range began.
            next = std::find_if(next, calls.end(), [&](const Call& call) {
                return call.range.begin >= payload->time_ns;
            });
            if (next == calls.end()) break;
            next->payload = payload;
            ++next;
        }
    }
    return threads;
}

bool moves_data(const Call& call) {
    return std::ranges::any_of(collective_kinds,
                               [&](const Counted& each) { return each.name == call.name; });
}

/// Makes collectives of the calls that launched their kernels in one range.
class Submission {
  public:
    Submission(const Timeline& timeline,
               const std::unordered_map<std::uint64_t, std::uint32_t>& ranks,
               std::vector<Collective>& to)
        : timeline_(timeline), ranks_(ranks), to_(to) {}

    void add(const Call& call) { calls_.push_back(call); }
    /// One of its calls does not say what it moves.
    void add_unknown_call() { has_unknown_call_ = true; }

    void launch(Interval range, std::uint32_t thread) {
        std::map<std::uint64_t, std::vector<Call>> by_communicator;
        for (const Call& call : calls_) by_communicator[call.payload->communicator].push_back(call);
        calls_.clear();
        const auto [time, number] = kernels_in(range, thread);
        std::uint64_t kernels = std::exchange(has_unknown_call_, false) ? 0 : number;
        for (const auto& [communicator, calls] : by_communicator) {
            to_.push_back(
                made(communicator, calls, thread, by_communicator.size() == 1 ? time : Interval{}));
            to_.back().kernels = std::exchange(kernels, 0);
        }
    }

  private:
    /// From their first begin to the last end, and how many.
    [[nodiscard]] std::pair<Interval, std::uint64_t> kernels_in(Interval range,
                                                                std::uint32_t thread) const {
        Interval time;
        std::uint64_t number = 0;
        for (const Work& work : timeline_.launched_in({range.begin, range.end + 1})) {
            if (work.kind != WorkKind::kernel || work.thread != thread) continue;
            if (timeline_.graph(work).node != 0) continue;
            const StringId symbol = timeline_.configuration(work).symbol;
            if (!model::is_communication_kernel(timeline_.recording().text(symbol))) continue;
            ++number;
            time = time.length() == 0 ? work.time
                                      : Interval{std::min(time.begin, work.time.begin),
                                                 std::max(time.end, work.time.end)};
        }
        return {time, number};
    }

    [[nodiscard]] Collective made(std::uint64_t communicator, const std::vector<Call>& calls,
                                  std::uint32_t thread, Interval time) const {
        Collective one;
        one.communicator = communicator;
        const auto known = ranks_.find(communicator);
        one.ranks = known == ranks_.end() ? 0 : known->second;
        one.calls = calls.size();
        one.launched_ns = calls.front().range.begin;
        one.thread = thread;
        one.time = time;
        std::set<std::string_view> names;
        std::uint64_t sent = 0, received = 0;
        double bus_bytes = 0;
        bool known_bus = one.ranks > 1;
        for (const Call& call : calls) {
            names.insert(call.name);
            const std::uint64_t size = call.payload->bytes;
            if (call.name == "Send" || call.name == "Recv") {
                (call.name == "Send" ? sent : received) += size;
                continue;
            }
            const auto* const how = std::ranges::find(collective_kinds, call.name, &Counted::name);
            known_bus = known_bus && how != collective_kinds.end();
            const std::uint64_t data =
                how != collective_kinds.end() && how->of_all_ranks && one.ranks != 0
                    ? size * one.ranks
                    : size;
            one.bytes += data;
            if (known_bus) bus_bytes += static_cast<double>(data) * how->share(one.ranks);
        }
        // Both directions of a link work at once.
        const std::uint64_t direction = std::max(sent, received);
        one.bytes += direction;
        if (known_bus) one.bus_bytes = bus_bytes + static_cast<double>(direction);
        for (const std::string_view name : names) {
            one.name += (one.name.empty() ? "" : "+") + std::string(name);
        }
        return one;
    }

    const Timeline& timeline_;
    const std::unordered_map<std::uint64_t, std::uint32_t>& ranks_;
    std::vector<Collective>& to_;
    std::vector<Call> calls_;
    bool has_unknown_call_ = false;
};

/// Communicators of which the process has several ranks, one for each of its GPUs.
std::set<std::uint64_t> with_several_ranks(const Timeline& timeline) {
    std::map<std::uint64_t, std::set<std::uint32_t>> ranks;
    for (const Communicator& each : timeline.recording().records.communicators) {
        ranks[each.id].insert(each.rank);
    }
    std::set<std::uint64_t> several;
    for (const auto& [communicator, own] : ranks) {
        if (own.size() > 1) several.insert(communicator);
    }
    return several;
}

}  // namespace

std::vector<Collective> collectives_of(const Timeline& timeline) {
    std::unordered_map<std::uint64_t, std::uint32_t> ranks;
    for (const Communicator& each : timeline.recording().records.communicators) {
        ranks[each.id] = each.ranks;
    }
    const std::set<std::uint64_t> several = with_several_ranks(timeline);
    std::vector<Collective> all;
    for (const auto& [thread, calls] : calls_by_thread(timeline)) {
        Submission group(timeline, ranks, all);
        std::size_t depth = 0;
        for (const Call& call : calls) {
            if (call.name == "GroupStart") {
                ++depth;
            } else if (call.name == "GroupEnd") {
                if (depth == 1) group.launch(call.range, thread);
                depth -= std::min<std::size_t>(depth, 1);
            } else if (call.payload != nullptr) {
                group.add(call);
                if (depth == 0) group.launch(call.range, thread);
            } else if (depth > 0 && moves_data(call)) {
                group.add_unknown_call();
            }
        }
    }
    for (Collective& each : all) {
        if (several.contains(each.communicator)) each.time = {};
    }
    std::ranges::stable_sort(all, {}, &Collective::launched_ns);
    return all;
}

bool lacks_calls(const Timeline& timeline) {
    return timeline.recording().records.communication_calls.empty() &&
           std::ranges::any_of(timeline.work(), [&](const Work& work) {
               if (work.kind != WorkKind::kernel) return false;
               const StringId symbol = timeline.configuration(work).symbol;
               const std::string& name = timeline.recording().text(symbol);
               return model::is_communication_kernel(name) && name.find(prefix) != name.npos;
           });
}

std::uint64_t SharedCollective::last_begin() const {
    std::uint64_t last = 0;
    for (const Part& part : parts) last = std::max(last, part.collective->time.begin);
    return last;
}

std::uint64_t SharedCollective::transfer_ns() const {
    std::uint64_t end = 0;
    for (const Part& part : parts) end = std::max(end, part.collective->time.end);
    return Interval{last_begin(), end}.length();
}

std::vector<SharedCollective> matched(std::span<const std::vector<Collective>* const> processes,
                                      std::string& problem) {
    std::map<std::uint64_t, std::map<std::size_t, std::vector<const Collective*>>> communicators;
    for (std::size_t i = 0; i < processes.size(); ++i) {
        for (const Collective& each : *processes[i]) {
            if (each.time.length() != 0) communicators[each.communicator][i].push_back(&each);
        }
    }
    std::vector<SharedCollective> all;
    for (const auto& [communicator, parts] : communicators) {
        const std::vector<const Collective*>& first = parts.begin()->second;
        for (const auto& [process, own] : parts) {
            if (own.size() == first.size()) continue;
            problem = fmt::format(
                "the processes' calls of NCCL differ: of communicator {:x} one made {} and another "
                "{}",
                communicator, first.size(), own.size());
            return {};
        }
        for (std::size_t k = 0; k < first.size(); ++k) {
            SharedCollective& shared = all.emplace_back();
            for (const auto& [process, own] : parts) {
                shared.parts.push_back({process, own[k]});
                // Sizes of sends and receives, and of roots, differ between ranks.
                if (own[k]->name.find("AllReduce") == std::string::npos ||
                    own[k]->bytes == first[k]->bytes) {
                    continue;
                }
                problem = fmt::format(
                    "the processes' calls of NCCL differ: {} {} of communicator {:x} has {} bytes "
                    "in one and {} in another",
                    first[k]->name, k + 1, communicator, first[k]->bytes, own[k]->bytes);
                return {};
            }
        }
    }
    std::ranges::stable_sort(all, [](const auto& a, const auto& b) {
        return a.first().launched_ns < b.first().launched_ns;
    });
    return all;
}

bool has_the_hosts_clock(const Timeline& timeline) {
    constexpr std::uint64_t between_two_reads_ns = 1'000'000;  // if the process was interrupted
    const auto& readings = timeline.recording().records.clocks;
    return std::ranges::any_of(readings, [](const ClockReading& reading) {
        const auto [low, high] = std::minmax(reading.time_ns, reading.realtime_ns);
        return high - low <= between_two_reads_ns;
    });
}

void add_communication(std::span<const Timeline> timelines, std::span<Profile> profiles) {
    std::vector<std::vector<Collective>> all;
    std::vector<const std::vector<Collective>*> processes;
    all.reserve(timelines.size());
    for (std::size_t i = 0; i < timelines.size(); ++i) {
        std::vector<Collective>& own = all.emplace_back(collectives_of(timelines[i]));
        // A graph is captured before the device's first work.
        if (profiles[i].window == timelines[i].device_span()) continue;
        std::erase_if(own, [&](const Collective& each) {
            const Interval time = each.time.length() != 0
                                      ? each.time
                                      : Interval{each.launched_ns, each.launched_ns + 1};
            const std::vector<Interval>& windows = profiles[i].windows;
            return std::ranges::none_of(windows, [&](const Interval& window) {
                return intersection(time, window).length() != 0;
            });
        });
    }
    for (const std::vector<Collective>& own : all) processes.push_back(&own);
    const bool one_clock = std::ranges::all_of(timelines, has_the_hosts_clock);
    std::string problem;
    std::vector<SharedCollective> shared;
    if (one_clock) shared = matched(processes, problem);

    struct Seen {
        std::vector<std::uint64_t> lengths, transfers, waits;
        CollectiveSummary row;
    };
    using Key = std::tuple<std::string, std::uint64_t, std::uint64_t>;
    std::vector<std::map<Key, Seen>> rows(timelines.size());
    const auto seen = [&](std::size_t process, const Collective& each) -> Seen& {
        Seen& found = rows[process][{each.name, each.communicator, each.bytes}];
        found.row.name = each.name;
        found.row.communicator = fmt::format("{:x}", each.communicator);
        found.row.ranks = each.ranks;
        found.row.bytes = each.bytes;
        found.row.bus_bytes = each.bus_bytes;
        return found;
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (const Collective& each : all[i]) {
            Seen& found = seen(i, each);
            found.row.calls += each.calls;
            if (each.time.length() != 0) found.lengths.push_back(each.time.length());
        }
    }
    for (const SharedCollective& each : shared) {
        const std::uint64_t last = each.last_begin();
        for (const SharedCollective::Part& part : each.parts) {
            Seen& found = seen(part.process, *part.collective);
            if (each.whole()) found.transfers.push_back(each.transfer_ns());
            if (each.parts.size() < 2) continue;
            const std::uint64_t wait = last - part.collective->time.begin;
            found.waits.push_back(wait);
            found.row.last = found.row.last.value_or(0) + (wait == 0 ? 1 : 0);
        }
    }
    std::string why = "ranks or kernels of it are not on record";
    if (!one_clock) why = "CUPTI's clock is not the host's real time in all processes";
    if (!problem.empty()) why = problem;
    for (std::size_t i = 0; i < profiles.size(); ++i) {
        bool unknown = false;
        for (auto& [key, found] : rows[i]) {
            found.row.transfer_ns = median(std::move(found.transfers));
            found.row.compared = found.waits.size();
            if (found.row.compared != 0) found.row.wait_ns = median(std::move(found.waits));
            found.row.time = durations(std::move(found.lengths));
            unknown = unknown || (found.row.compared == 0 && found.row.ranks != 1);
            profiles[i].communication.push_back(std::move(found.row));
        }
        if (unknown) {
            std::string& note = profiles[i].note;
            note += fmt::format("{}Not all communication was compared between processes: {}.",
                                note.empty() ? "" : " ", why);
        }
        std::ranges::stable_sort(profiles[i].communication, [](const auto& a, const auto& b) {
            return a.time.total_ns > b.time.total_ns;
        });
    }
}

}  // namespace perfgate::activity

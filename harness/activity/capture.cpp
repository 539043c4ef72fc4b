// SPDX-License-Identifier: Apache-2.0
#include "activity/capture.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "activity/waiting.hpp"

namespace perfgate::activity {
namespace {

/// Calls whose name contains `part` and none of `without`. The first row that fits decides.
struct Rule {
    std::string_view part;
    std::array<std::string_view, 3> without;
    std::string_view why;
};

constexpr std::string_view device_waits = "waits for the device";
constexpr std::string_view asks = "asks whether the device is ready";
constexpr std::string_view copies = "copies in the legacy stream and waits";
constexpr std::string_view sets = "sets memory in the legacy stream";
constexpr std::string_view takes = "takes memory outside any stream";
constexpr std::string_view frees = "frees memory outside any stream";
constexpr std::string_view pins = "pins or unpins host memory";
constexpr std::string_view loads = "loads or unloads code";
constexpr std::string_view contexts = "makes or destroys a context";

constexpr Rule rules[] = {
    {"Synchronize", {}, device_waits},
    {"StreamQuery", {}, asks},
    {"EventQuery", {}, asks},
    {"Memcpy", {"Async", "Batch", "Graph"}, copies},
    {"Memset", {"Async", "Batch", "Graph"}, sets},
    {"HostRegister", {}, pins},
    {"HostUnregister", {}, pins},
    {"Malloc", {"Async", "Graph", "Conditional"}, takes},
    {"MemAlloc", {"Async", "Graph", "Granularity"}, takes},
    {"HostAlloc", {}, takes},
    {"ArrayCreate", {}, takes},
    {"cudaFree", {"Async"}, frees},
    {"cuMemFree", {"Async"}, frees},
    {"ModuleLoad", {}, loads},
    {"ModuleUnload", {}, loads},
    {"LibraryLoad", {}, loads},
    {"LibraryUnload", {}, loads},
    {"AddCallback", {}, "adds a callback, which a graph does not have (cudaLaunchHostFunc does)"},
    {"StreamAttachMem", {}, "attaches memory to a stream, which a graph does not have"},
    {"DeviceReset", {}, contexts},
    {"CtxCreate", {}, contexts},
    {"CtxDestroy", {}, contexts},
};

struct Found {
    std::uint64_t time = 0;
    std::uint32_t thread = 0;
    std::string_view name, why;
};

std::vector<Found> found_in(const Timeline& timeline, Interval interval,
                            std::optional<std::uint32_t> thread) {
    std::vector<Found> found;
    if (timeline.api_calls().empty()) return found;
    std::unordered_map<StringId, std::string_view> known;
    for (const ApiCall& call : calls_in(timeline, interval)) {
        if (thread && call.thread != *thread) continue;
        const std::string& name = timeline.recording().text(call.name);
        const auto [why, added] = known.try_emplace(call.name);
        if (added) why->second = why_uncapturable(name);
        if (why->second.empty() || !is_outermost(timeline, call)) continue;
        found.push_back({call.start_ns, call.thread, call_name(name), why->second});
    }
    return found;
}

/// The ranges that are open on each thread, while time goes on.
class OpenRanges {
  public:
    OpenRanges(const Timeline& timeline, Interval interval) : timeline_(timeline) {
        const auto all = timeline.ranges();
        next_ = std::ranges::partition_point(all, [&](const Range& range) {
            return interval.begin != 0 && range.time.begin <= interval.begin;
        });
    }

    /// The name of the innermost one; empty: there is none. Times do not go back.
    std::string innermost(const Found& at) {
        for (; next_ != timeline_.ranges().end() && next_->time.begin <= at.time; ++next_) {
            open_[next_->thread].push_back(&*next_);
        }
        std::vector<const Range*>& open = open_[at.thread];
        std::erase_if(open, [&](const Range* range) { return range->time.end <= at.time; });
        return open.empty() ? std::string() : timeline_.range_name(*open.back());
    }

  private:
    const Timeline& timeline_;
    std::span<const Range>::iterator next_;
    std::unordered_map<std::uint32_t, std::vector<const Range*>> open_;
};

}  // namespace

std::string_view why_uncapturable(std::string_view call) {
    const auto has = [&](std::string_view part) {
        return !part.empty() && call.find(part) != std::string_view::npos;
    };
    for (const Rule& rule : rules) {
        if (has(rule.part) && std::ranges::none_of(rule.without, has)) {
            return rule.why;
        }
    }
    return {};
}

std::vector<UncapturableCall> uncapturable_calls(const Timeline& timeline, Interval interval,
                                                 std::optional<std::uint32_t> thread) {
    return uncapturable_calls(timeline, std::span(&interval, 1), thread);
}

std::vector<UncapturableCall> uncapturable_calls(const Timeline& timeline,
                                                 std::span<const Interval> intervals,
                                                 std::optional<std::uint32_t> thread) {
    std::map<std::pair<std::string_view, std::string>, UncapturableCall> calls;
    for (const Interval& interval : intervals) {
        OpenRanges ranges(timeline, interval);
        for (const Found& each : found_in(timeline, interval, thread)) {
            std::string range = ranges.innermost(each);
            UncapturableCall& call = calls[{each.name, range}];
            call.name = each.name;
            call.why = each.why;
            call.range = std::move(range);
            ++call.count;
        }
    }
    std::vector<UncapturableCall> result;
    result.reserve(calls.size());
    for (auto& [key, call] : calls) result.push_back(std::move(call));
    std::ranges::stable_sort(result,
                             [](const auto& a, const auto& b) { return a.count > b.count; });
    return result;
}

}  // namespace perfgate::activity

// SPDX-License-Identifier: Apache-2.0
#include "activity/waiting.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "util/text.hpp"

namespace perfgate::activity {
namespace {

std::string shown_name(const Timeline& timeline, const ApiCall& call) {
    return std::string(call_name(timeline.recording().text(call.name)));
}

/// Outermost calls that wait, by begin, and the latest end up to each.
class Waits {
  public:
    explicit Waits(const Timeline& timeline) {
        // Looking at names once per id and not per call.
        std::unordered_map<StringId, bool> waiting;
        for (const ApiCall& call : timeline.api_calls()) {
            const auto [known, added] = waiting.try_emplace(call.name, false);
            if (added) known->second = waits_for_device(timeline.recording().text(call.name));
            if (!known->second || !is_outermost(timeline, call)) continue;
            calls_.push_back(&call);
            latest_end_.push_back(latest_end_.empty() ? call.end_ns
                                                      : std::max(latest_end_.back(), call.end_ns));
        }
    }

    [[nodiscard]] const std::vector<const ApiCall*>& calls() const { return calls_; }

    /// The latest that was under way at the time; null where none was.
    [[nodiscard]] const ApiCall* at(std::uint64_t time) const {
        auto next = std::ranges::partition_point(
            calls_, [&](const ApiCall* call) { return call->start_ns <= time; });
        while (next != calls_.begin()) {
            const ApiCall* call = *--next;
            if (call->end_ns >= time) return call;
            if (latest_end_[static_cast<std::size_t>(next - calls_.begin())] < time) break;
        }
        return nullptr;
    }

  private:
    std::vector<const ApiCall*> calls_;
    std::vector<std::uint64_t> latest_end_;
};

std::string work_name(const Timeline& timeline, const Work* work) {
    if (work == nullptr) return "";
    if (work->kind == WorkKind::copy) return "copy";
    if (work->kind == WorkKind::memset) return "memset";
    return util::demangled(timeline.recording().text(timeline.configuration(*work).symbol));
}

/// Which calls were under way in gaps that are asked for by their begin.
class CallsDuring {
  public:
    explicit CallsDuring(const Timeline& timeline) : calls_(timeline.api_calls()) {}

    /// By begin; some may not overlap the gap.
    const std::vector<const ApiCall*>& gap(Interval time) {
        std::erase_if(open_, [&](const ApiCall* call) { return call->end_ns <= time.begin; });
        for (; next_ < calls_.size() && calls_[next_].start_ns < time.end; ++next_) {
            if (calls_[next_].end_ns > time.begin) open_.push_back(&calls_[next_]);
        }
        return open_;
    }

  private:
    std::span<const ApiCall> calls_;
    std::size_t next_ = 0;
    std::vector<const ApiCall*> open_;
};

/// A program may make none that are recorded.
bool knows_calls(const Timeline& timeline) {
    return !timeline.api_calls().empty() || timeline.recording().field("waits") == "1";
}

/// Where only calls that do not submit work are on record: the part of a gap from the launch of
/// what ended it.
class Submissions {
  public:
    explicit Submissions(const Timeline& timeline) {
        if (timeline.recording().field("waits") != "1" || !timeline.has_launches()) return;
        for (const Work& work : timeline.work()) {
            if (work.launch_ns < work.time.begin) {
                waiting_.push_back({work.launch_ns, work.time.begin});
            }
        }
        std::ranges::sort(waiting_, {}, &Interval::end);
    }

    [[nodiscard]] Interval before_end_of(Interval gap) const {
        const auto at = std::ranges::partition_point(
            waiting_, [&](const Interval& each) { return each.end < gap.end; });
        // Work that was submitted before the gap waited for something else.
        const bool submitted_in_it =
            at != waiting_.end() && at->end == gap.end && at->begin >= gap.begin;
        return submitted_in_it ? *at : Interval{};
    }

  private:
    std::vector<Interval> waiting_;
};

void describe_host(const Timeline& timeline, const Waits& waits, const Submissions& submissions,
                   CallsDuring& calls, Gap& gap) {
    if (!knows_calls(timeline)) return;
    struct Longest {
        std::uint64_t length = 0;
        const ApiCall* call = nullptr;  ///< null: a launch
    } longest;
    std::vector<Interval> in_calls;
    for (const ApiCall* call : calls.gap(gap.time)) {
        const Interval part = intersection({call->start_ns, call->end_ns}, gap.time);
        if (part.length() == 0) continue;
        in_calls.push_back(part);
        if (part.length() > longest.length) longest = {part.length(), call};
    }
    if (const Interval part = submissions.before_end_of(gap.time); part.length() != 0) {
        in_calls.push_back(part);
        if (part.length() > longest.length) longest = {part.length(), nullptr};
    }
    gap.in_calls_ns = IntervalSet(std::move(in_calls)).length();
    if (const ApiCall* wait = waits.at(gap.time.begin); wait != nullptr) {
        gap.cause = GapCause::synchronisation;
        gap.call = shown_name(timeline, *wait);
    } else if (longest.length * 2 >= gap.time.length()) {
        gap.cause = GapCause::api_call;
        gap.call = longest.call == nullptr ? "a launch" : shown_name(timeline, *longest.call);
    } else {
        gap.cause = GapCause::nothing_submitted;
    }
}

void describe_surroundings(const Timeline& timeline, Gap& gap) {
    const Work *before = nullptr, *after = nullptr;
    for (const Work& each : timeline.work()) {
        if (each.time.end == gap.time.begin) before = &each;
        if (each.time.begin == gap.time.end && after == nullptr) after = &each;
    }
    gap.before = work_name(timeline, before);
    gap.after = work_name(timeline, after);
    for (const Range& range : timeline.ranges()) {
        if (range.time.begin > gap.time.begin) break;
        // The one that began last is the innermost.
        if (range.time.end > gap.time.begin) gap.range = timeline.range_name(range);
    }
}

}  // namespace

bool waits_for_device(std::string_view call) {
    const auto has = [&](std::string_view part) {
        return call.find(part) != std::string_view::npos;
    };
    return has("Synchronize") || (has("Memcpy") && !has("Async") && !has("Batch"));
}

std::span<const ApiCall> calls_in(const Timeline& timeline, Interval interval) {
    const auto calls = timeline.api_calls();
    const auto before = [](std::uint64_t time) {
        return [time](const ApiCall& call) { return call.start_ns < time; };
    };
    const auto first = std::ranges::partition_point(calls, before(interval.begin));
    const auto last = std::partition_point(first, calls.end(), before(interval.end));
    return {first, last};
}

bool is_outermost(const Timeline& timeline, const ApiCall& call) {
    // The runtime call that makes this one began before it, on the same thread, and is not over.
    const auto calls = timeline.api_calls();
    const auto own = static_cast<std::size_t>(&call - calls.data());
    for (std::size_t i = own; i-- > 0 && own - i <= 16;) {
        const ApiCall& earlier = calls[i];
        if (earlier.thread == call.thread) {
            return earlier.end_ns < call.end_ns || earlier.correlation != call.correlation;
        }
    }
    return true;
}

std::vector<Interval> gaps_in(const Timeline& timeline, std::span<const Interval> windows) {
    std::vector<Interval> gaps;
    for (const Interval& window : windows) {
        const std::vector<Interval> own = timeline.busy().gaps(window);
        gaps.insert(gaps.end(), own.begin(), own.end());
    }
    return gaps;
}

Interval longest_gap(const Timeline& timeline, Interval window) {
    Interval longest;
    for (const Interval& gap : timeline.busy().gaps(window)) {
        if (gap.length() > longest.length()) longest = gap;
    }
    return longest;
}

std::vector<Gap> longest_gaps(const Timeline& timeline, std::span<const Interval> windows,
                              std::size_t count) {
    std::vector<Interval> times = gaps_in(timeline, windows);
    count = std::min(count, times.size());
    std::partial_sort(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(count),
                      times.end(), [](const Interval& a, const Interval& b) {
                          return a.length() != b.length() ? a.length() > b.length()
                                                          : a.begin < b.begin;
                      });
    times.resize(count);
    const Waits waits(timeline);
    const Submissions submissions(timeline);
    std::vector<Gap> gaps;
    for (const Interval& time : times) {
        Gap& gap = gaps.emplace_back();
        gap.time = time;
        CallsDuring calls(timeline);  // for each, because they come by length
        describe_host(timeline, waits, submissions, calls, gap);
        describe_surroundings(timeline, gap);
    }
    return gaps;
}

std::vector<IdleCause> idle_causes(const Timeline& timeline, std::vector<Interval> gaps) {
    if (!knows_calls(timeline)) return {};
    std::ranges::sort(gaps, {}, &Interval::begin);
    const Waits waits(timeline);
    const Submissions submissions(timeline);
    CallsDuring calls(timeline);
    std::map<std::pair<GapCause, std::string>, std::uint64_t> times;
    for (const Interval& time : gaps) {
        Gap gap;
        gap.time = time;
        describe_host(timeline, waits, submissions, calls, gap);
        times[{gap.cause, std::move(gap.call)}] += time.length();
    }
    std::vector<IdleCause> causes;
    causes.reserve(times.size());
    for (const auto& [cause, idle_ns] : times) {
        causes.push_back({cause.first, cause.second, idle_ns});
    }
    std::ranges::stable_sort(causes, std::greater{}, &IdleCause::idle_ns);
    return causes;
}

std::vector<CallSummary> calls_by_name(const Timeline& timeline,
                                       std::span<const Interval> windows) {
    std::unordered_map<StringId, std::vector<std::uint64_t>> lengths;
    for (const Interval& window : windows) {
        for (const ApiCall& call : calls_in(timeline, window)) {
            lengths[call.name].push_back(call.end_ns - call.start_ns);
        }
    }
    std::vector<CallSummary> calls;
    calls.reserve(lengths.size());
    for (auto& [name, all] : lengths) {
        calls.push_back({std::string(call_name(timeline.recording().text(name))),
                         durations(std::move(all)), 0});
    }
    std::ranges::sort(calls, [](const auto& a, const auto& b) {
        return a.time.total_ns != b.time.total_ns ? a.time.total_ns > b.time.total_ns
                                                  : a.name < b.name;
    });
    return calls;
}

std::vector<const ApiCall*> waits_before_gaps(const Timeline& timeline,
                                              std::span<const Interval> windows) {
    const Waits waits(timeline);
    std::vector<const ApiCall*> calls;
    for (const Interval& gap : gaps_in(timeline, windows)) {
        if (const ApiCall* wait = waits.at(gap.begin); wait != nullptr) calls.push_back(wait);
    }
    return calls;
}

std::vector<CallSummary> waits_by_name(const Timeline& timeline,
                                       std::span<const Interval> windows) {
    const Waits waits(timeline);
    std::map<std::string, std::vector<std::uint64_t>> lengths;
    std::map<std::string, std::uint64_t> idle;
    for (const ApiCall* call : waits.calls()) {
        const bool inside = std::ranges::any_of(windows, [&](const Interval& window) {
            return call->start_ns >= window.begin && call->start_ns < window.end;
        });
        if (!inside) continue;
        lengths[shown_name(timeline, *call)].push_back(call->end_ns - call->start_ns);
    }
    for (const Interval& gap : gaps_in(timeline, windows)) {
        if (const ApiCall* wait = waits.at(gap.begin); wait != nullptr) {
            idle[shown_name(timeline, *wait)] += gap.length();
        }
    }
    std::vector<CallSummary> result;
    result.reserve(lengths.size());
    for (auto& [name, all] : lengths) {
        result.push_back({name, durations(std::move(all)), idle[name]});
    }
    std::ranges::sort(result, [](const auto& a, const auto& b) {
        return a.idle_ns != b.idle_ns ? a.idle_ns > b.idle_ns : a.time.total_ns > b.time.total_ns;
    });
    return result;
}

}  // namespace perfgate::activity

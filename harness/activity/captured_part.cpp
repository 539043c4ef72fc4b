// SPDX-License-Identifier: Apache-2.0
#include "activity/captured_part.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "util/text.hpp"

namespace perfgate::activity {
namespace {

/// Behind all launches: a short kernel may end before the call that launched it returns.
std::uint64_t end_of(const Timeline& timeline) {
    const std::uint64_t last = timeline.work().empty() ? 0 : timeline.work().back().launch_ns;
    return std::max(timeline.span().end, last + 1);
}

void by_profiler_calls(const Timeline& timeline, CapturedPart& part) {
    std::vector<ProfilerCall> calls = timeline.recording().records.profiler_calls;
    std::ranges::stable_sort(calls,
                             [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    const auto none = [&](ProfilerCallKind kind) {
        return std::ranges::none_of(calls,
                                    [&](const ProfilerCall& call) { return call.kind == kind; });
    };
    if (none(ProfilerCallKind::watched)) {
        part.missing =
            "the recording does not have the calls of cudaProfilerStart(): record it again with "
            "this perfgate, and without other profilers";
    } else if (none(ProfilerCallKind::start)) {
        part.missing =
            "the program never called cudaProfilerStart() (torch.cuda.profiler.start() in PyTorch)";
    }
    if (!part.missing.empty()) return part.restrict_to({});
    std::vector<Interval> windows;
    bool open = false;
    // A second start before the stop, and a second stop, mean nothing.
    for (const ProfilerCall& call : calls) {
        if (call.kind == ProfilerCallKind::start && !open) {
            windows.push_back({call.time_ns, call.time_ns});
            open = true;
        } else if (call.kind == ProfilerCallKind::stop && open) {
            windows.back().end = call.time_ns;
            open = false;
        }
    }
    if (open) {
        windows.back().end = std::max(windows.back().begin, end_of(timeline));
        part.note =
            "The last cudaProfilerStart() has no cudaProfilerStop(): all that follows it counts.";
    }
    part.restrict_to(windows);
}

/// Launches are the host's calls: all kernels of a graph launch are one.
void behind_launches(const Timeline& timeline, std::uint64_t count, CapturedPart& part) {
    std::unordered_set<std::uint32_t> launches;
    std::uint64_t last = 0;
    for (const Work& work : timeline.work()) {
        if (work.kind != WorkKind::kernel) continue;
        launches.insert(timeline.place(work).correlation);
        if (launches.size() > count) {
            return part.restrict_to({{last + 1, end_of(timeline)}});
        }
        last = work.launch_ns;
    }
    part.restrict_to({});
    part.missing = fmt::format("the program made {}, which leaves none after the first {}",
                               util::counted(launches.size(), "kernel launch"), count);
}

constexpr std::size_t most_suggested = 64;

void by_range(const Timeline& timeline, const std::string& name, CapturedPart& part) {
    std::optional<Interval> named;
    std::set<std::string> others;
    for (const Range& range : timeline.ranges()) {
        if (timeline.range_name(range) != name) {
            if (others.size() < most_suggested) others.emplace(timeline.range_name(range));
            continue;
        }
        if (!named) named = range.time;
        named->end = std::max(named->end, range.time.end);
    }
    if (named) return part.restrict_to({*named});
    part.restrict_to({});
    const std::vector<std::string> opened(others.begin(), others.end());
    std::string instead = util::did_you_mean(name, opened);
    if (instead.empty() && !opened.empty()) {
        instead = "; it opened " + util::printable(fmt::format("{}", fmt::join(opened, ", ")), 200);
    }
    part.missing =
        fmt::format("the program opened no NVTX range '{}'{}", util::printable(name), instead);
}

}  // namespace

bool CapturedPart::contains(Interval time) const {
    return std::ranges::any_of(windows, [&](const Interval& window) {
        return time.begin >= window.begin && time.end <= window.end;
    });
}

std::vector<Work> CapturedPart::launched(const Timeline& timeline) const {
    std::vector<Work> all;
    for (const Interval& window : windows) {
        const auto own = timeline.launched_in(window);
        all.insert(all.end(), own.begin(), own.end());
    }
    return all;
}

void CapturedPart::restrict_to(const std::vector<Interval>& others) {
    whole = false;
    std::vector<Interval> left;
    for (const Interval& window : windows) {
        for (const Interval& other : others) {
            const Interval both = intersection(window, other);
            if (both.length() != 0) left.push_back(both);
        }
    }
    windows = std::move(left);
}

CapturedPart captured_part(const Timeline& timeline, const model::CaptureRange& capture) {
    CapturedPart part;
    if (!capture.range.empty()) by_range(timeline, capture.range, part);
    if (part.missing.empty() && capture.after_launches != 0) {
        behind_launches(timeline, capture.after_launches, part);
    }
    if (part.missing.empty() && capture.profiler_api) by_profiler_calls(timeline, part);
    if (capture.is_stated() && !timeline.has_launches()) {
        part.note += part.note.empty() ? "" : " ";
        part.note +=
            "The part that is reported has the work that the device began in it, as launches are "
            "not on record (--level callbacks has them).";
    }
    if (part.missing.empty() && part.windows.empty()) {
        part.missing = fmt::format("nothing of the program is in its capture range ({})",
                                   model::in_words(capture));
    }
    return part;
}

}  // namespace perfgate::activity

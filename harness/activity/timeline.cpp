// SPDX-License-Identifier: Apache-2.0
#include "activity/timeline.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace perfgate::activity {

namespace {

struct Launch {
    std::uint32_t correlation = 0;
    std::uint32_t thread = 0;
    std::uint64_t time_ns = 0;
};

/// By correlation, the earliest first: the runtime's call comes before the driver's in it.
std::vector<Launch> launches_of(const Records& records) {
    std::vector<Launch> launches;
    launches.reserve(records.api_calls.size() + records.launch_calls.size());
    for (const ApiCall& call : records.api_calls) {
        launches.push_back({call.correlation, call.thread, call.start_ns});
    }
    for (const LaunchCall& call : records.launch_calls) {
        launches.push_back({call.correlation, call.thread, call.time_ns});
    }
    std::ranges::sort(launches, [](const Launch& a, const Launch& b) {
        return a.correlation != b.correlation ? a.correlation < b.correlation
                                              : a.time_ns < b.time_ns;
    });
    return launches;
}

}  // namespace

Timeline::Timeline(const Recording& recording)
    : recording_(recording), api_calls_(recording.records.api_calls) {
    std::ranges::sort(api_calls_, {}, &ApiCall::start_ns);
    add_work();

    std::vector<Interval> times;
    times.reserve(work_.size());
    for (const Work& each : work_) times.push_back(each.time);
    busy_ = IntervalSet(std::move(times));
    if (!busy_.intervals().empty()) {
        device_span_ = {busy_.intervals().front().begin, busy_.intervals().back().end};
    }

    span_ = device_span_;
    const auto include = [&](std::uint64_t begin, std::uint64_t end) {
        span_ = span_.length() == 0
                    ? Interval{begin, end}
                    : Interval{std::min(span_.begin, begin), std::max(span_.end, end)};
    };
    for (const ApiCall& call : api_calls_) include(call.start_ns, call.end_ns);
    for (const Marker& marker : recording.records.markers) include(marker.time_ns, marker.time_ns);
    pair_markers();
}

void Timeline::add_work() {
    const Records& records = recording_.records;
    const std::vector<Launch> launches = launches_of(records);
    has_launches_ = !launches.empty();
    work_.reserve(records.kernels.size() + records.copies.size() + records.memsets.size());
    const auto add = [&](const auto& all, WorkKind kind) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            Work work;
            work.time = {all[i].start_ns, all[i].end_ns};
            work.kind = kind;
            work.index = static_cast<std::uint32_t>(i);
            const std::uint32_t correlation = all[i].place.correlation;
            const auto launch = std::ranges::partition_point(
                launches, [&](const Launch& each) { return each.correlation < correlation; });
            if (launch != launches.end() && launch->correlation == correlation) {
                work.launch_ns = launch->time_ns;
                work.thread = launch->thread;
            } else {
                work.launch_ns = work.time.begin;
                ++without_launch_;
            }
            work_.push_back(work);
        }
    };
    add(records.kernels, WorkKind::kernel);
    add(records.copies, WorkKind::copy);
    add(records.memsets, WorkKind::memset);
    std::ranges::stable_sort(work_, [](const Work& a, const Work& b) {
        return a.launch_ns != b.launch_ns ? a.launch_ns < b.launch_ns : a.time.begin < b.time.begin;
    });
    latest_ends_.reserve(work_.size());
    std::uint64_t latest = 0;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint64_t> of_streams;
    for (Work& each : work_) {
        latest = std::max(latest, each.time.end);
        latest_ends_.push_back(latest);
        const Place& on = place(each);
        std::uint64_t& of_stream = of_streams[{on.device, on.context, on.stream}];
        each.stream_free_ns = of_stream;
        of_stream = std::max(of_stream, each.time.end);
    }
}

void Timeline::pair_markers() {
    std::vector<Marker> markers = recording_.records.markers;
    std::ranges::stable_sort(markers, [](const Marker& a, const Marker& b) {
        return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.kind < b.kind;
    });
    std::unordered_map<std::uint32_t, std::size_t> open;  // id → range
    for (const Marker& marker : markers) {
        if (marker.kind == MarkerKind::begin) {
            open[marker.id] = ranges_.size();
            ranges_.push_back(
                {{marker.time_ns, span_.end}, marker.name, marker.domain, marker.thread, true});
        } else if (marker.kind == MarkerKind::end) {
            const auto range = open.find(marker.id);
            if (range == open.end()) continue;  // it began before recording did
            ranges_[range->second].time.end = marker.time_ns;
            ranges_[range->second].open = false;
            open.erase(range);
        }
    }
}

std::span<const Work> Timeline::launched_in(Interval interval) const {
    const auto first = std::ranges::lower_bound(work_, interval.begin, {}, &Work::launch_ns);
    const auto last =
        std::ranges::lower_bound(first, work_.end(), interval.end, {}, &Work::launch_ns);
    return {first, last};
}

std::uint64_t Timeline::end_of_work_before(std::uint64_t time) const {
    const auto after = std::ranges::lower_bound(work_, time, {}, &Work::launch_ns);
    return after == work_.begin()
               ? 0
               : latest_ends_[static_cast<std::size_t>(after - work_.begin()) - 1];
}

std::string Timeline::range_name(const Range& range) const {
    const std::string& domain = recording_.text(range.domain);
    const std::string& name = recording_.text(range.name);
    return domain.empty() ? name : domain + ":" + name;
}

const LaunchConfiguration& Timeline::configuration(const Work& kernel) const {
    return recording_.configurations[recording_.records.kernels[kernel.index].configuration];
}

const Copy& Timeline::copy(const Work& work) const {
    return recording_.records.copies[work.index];
}

const GraphNode& Timeline::graph(const Work& work) const {
    const Records& records = recording_.records;
    if (work.kind == WorkKind::kernel) return records.kernels[work.index].graph;
    return work.kind == WorkKind::copy ? records.copies[work.index].graph
                                       : records.memsets[work.index].graph;
}

const Place& Timeline::place(const Work& work) const {
    const Records& records = recording_.records;
    if (work.kind == WorkKind::kernel) return records.kernels[work.index].place;
    return work.kind == WorkKind::copy ? records.copies[work.index].place
                                       : records.memsets[work.index].place;
}

std::uint32_t Timeline::sm_count(std::uint32_t device) const {
    for (const Device& each : recording_.records.devices) {
        if (each.id == device) return each.sm_count;
    }
    return 0;
}

bool Timeline::in_legacy_stream(const Work& work) const {
    const Place& where = place(work);
    const auto& contexts = recording_.records.contexts;
    return std::ranges::any_of(contexts, [&](const Context& context) {
        return context.id == where.context && context.null_stream == where.stream;
    });
}

std::string_view call_name(std::string_view name) {
    const std::size_t version = name.rfind("_v");
    if (!name.starts_with("cuda") || version == std::string_view::npos) return name;
    const std::string_view digits = name.substr(version + 2);
    const bool numbered =
        digits.size() >= 4 && digits.find_first_not_of("0123456789") == std::string_view::npos;
    return numbered ? name.substr(0, version) : name;
}

Nesting::Nesting(const Timeline& timeline) {
    const auto ranges = timeline.ranges();
    parents_.assign(ranges.size(), none);
    depths_.assign(ranges.size(), 0);
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> open;  // by thread, innermost last
    // Takes off what has ended by the time; what is below one that is still open stays until then.
    const auto close = [&](std::uint32_t thread, std::uint64_t time) {
        std::vector<std::size_t>& stack = open[thread];
        while (!stack.empty() && ranges[stack.back()].time.end <= time) {
            const std::uint64_t end = ranges[stack.back()].time.end;
            while (!stack.empty() && ranges[stack.back()].time.end <= end) stack.pop_back();
            changes_[thread].push_back({end, stack.empty() ? none : stack.back()});
        }
    };
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const Range& range = ranges[i];
        close(range.thread, range.time.begin);
        std::vector<std::size_t>& stack = open[range.thread];
        if (!stack.empty()) {
            parents_[i] = stack.back();
            depths_[i] = depths_[stack.back()] + 1;
        }
        if (range.time.length() == 0) continue;
        stack.push_back(i);
        changes_[range.thread].push_back({range.time.begin, i});
    }
    for (const auto& each : open) close(each.first, UINT64_MAX);
}

std::optional<std::size_t> Nesting::parent(std::size_t range) const {
    if (parents_[range] == none) return std::nullopt;
    return parents_[range];
}

std::optional<std::size_t> Nesting::at(std::uint32_t thread, std::uint64_t time) const {
    const auto found = changes_.find(thread);
    if (found == changes_.end()) return std::nullopt;
    const auto after = std::ranges::partition_point(
        found->second, [&](const Change& change) { return change.time <= time; });
    if (after == found->second.begin() || (after - 1)->innermost == none) return std::nullopt;
    return (after - 1)->innermost;
}

}  // namespace perfgate::activity

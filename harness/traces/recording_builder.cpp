// SPDX-License-Identifier: Apache-2.0
#include "traces/recording_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "util/error.hpp"

namespace perfgate::traces {

RecordingBuilder::RecordingBuilder(std::string source, std::string tool, Taken& taken)
    : source_(std::move(source)), taken_(taken) {
    recording_.strings.emplace_back();
    recording_.configurations.emplace_back();
    recording_.header["tool"] = std::move(tool);
    recording_.end = "exported";
}

bool RecordingBuilder::has_time(std::uint64_t begin_ns, std::uint64_t end_ns) {
    if (end_ns == 0) {
        ++recording_.counts.without_time;
    } else if (end_ns < begin_ns) {
        ++recording_.counts.reversed_time;
    } else {
        return true;
    }
    return false;
}

activity::StringId RecordingBuilder::text(std::string_view text) {
    text = text.substr(0, activity::max_string_bytes);
    if (text.empty()) return 0;
    if (const auto known = texts_.find(text); known != texts_.end()) return known->second;
    taken_.text_bytes += text.size();
    if (taken_.text_bytes > most_text_bytes) {
        throw util::InputError("{}: its names take more than {} MiB: record less", source_,
                               most_text_bytes >> 20);
    }
    const auto id = static_cast<activity::StringId>(recording_.strings.size());
    recording_.strings.emplace_back(text);
    texts_.emplace(text, id);
    return id;
}

std::uint32_t RecordingBuilder::configuration(activity::LaunchConfiguration launch) {
    launch.id = 0;
    const std::string_view key(reinterpret_cast<const char*>(&launch), sizeof launch);
    if (const auto known = configurations_.find(key); known != configurations_.end()) {
        return known->second;
    }
    const auto id = static_cast<std::uint32_t>(recording_.configurations.size());
    configurations_.emplace(key, id);
    launch.id = id;
    recording_.configurations.push_back(launch);
    return id;
}

void RecordingBuilder::add_range(std::uint64_t begin_ns, std::optional<std::uint64_t> end_ns,
                                 activity::Marker begin, std::uint32_t end_thread) {
    begin.id = ++ranges_;
    begin.time_ns = begin_ns;
    begin.kind = activity::MarkerKind::begin;
    add(recording_.records.markers, begin);
    if (!end_ns) return;
    activity::Marker end;
    end.id = begin.id;
    end.time_ns = *end_ns;
    end.kind = activity::MarkerKind::end;
    end.thread = end_thread;
    add(recording_.records.markers, end);
}

void RecordingBuilder::add_problem(std::string problem) {
    constexpr std::size_t most_problems = 20;
    if (recording_.incomplete.size() < most_problems) {
        recording_.incomplete.push_back(std::move(problem));
    }
}

void RecordingBuilder::count_record() {
    if (++taken_.records <= most_records) return;
    throw util::InputError("{}: it has more than {} records: record a shorter part", source_,
                           most_records);
}

activity::Recording RecordingBuilder::take() {
    activity::Records& records = recording_.records;
    header("level") = records.api_calls.empty() ? "records" : "api";
    std::unordered_set<activity::StringId> graph_launches;
    for (std::size_t i = 0; i < recording_.strings.size(); ++i) {
        if (recording_.strings[i].find("GraphLaunch") != std::string::npos) {
            graph_launches.insert(static_cast<activity::StringId>(i));
        }
    }
    std::unordered_set<std::uint32_t> of_graphs;
    for (const activity::ApiCall& call : records.api_calls) {
        if (graph_launches.contains(call.name)) of_graphs.insert(call.correlation);
    }
    const auto mark = [&](auto& all) {
        for (auto& record : all) {
            if (record.graph.node == 0 && of_graphs.contains(record.place.correlation)) {
                record.graph.node = 1;
            }
        }
    };
    if (!of_graphs.empty()) {
        mark(records.kernels);
        mark(records.copies);
        mark(records.memsets);
    }
    const auto lost = [&](std::uint64_t count, std::string_view what) {
        if (count != 0) add_problem(fmt::format("{} {}", count, what));
    };
    lost(recording_.counts.without_time, "records came without time stamps");
    lost(recording_.counts.reversed_time, "records end before they start");
    if (recording_.incomplete.empty()) check_launches();
    return std::move(recording_);
}

void RecordingBuilder::check_launches() {
    const activity::Records& records = recording_.records;
    enum class Kind { other, launch, begin_capture, end_capture };
    std::unordered_map<activity::StringId, Kind> kinds;
    const auto kind_of = [&](activity::StringId id) {
        const auto [known, added] = kinds.try_emplace(id, Kind::other);
        if (!added) return known->second;
        const auto has = [&](std::string_view part) {
            return recording_.text(id).find(part) != std::string::npos;
        };
        if (has("StreamBeginCapture")) known->second = Kind::begin_capture;
        if (has("StreamEndCapture")) known->second = Kind::end_capture;
        if (has("GraphLaunch") || has("LaunchKernel") ||
            (has("LaunchCooperativeKernel") && !has("MultiDevice"))) {
            known->second = Kind::launch;
        }
        return known->second;
    };
    std::vector<const activity::ApiCall*> launches;
    std::vector<std::uint64_t> begins, ends;  // of captures
    for (const activity::ApiCall& call : records.api_calls) {
        const Kind kind = kind_of(call.name);
        if (kind == Kind::launch) launches.push_back(&call);
        if (kind == Kind::begin_capture && call.result == 0) begins.push_back(call.start_ns);
        if (kind == Kind::end_capture) ends.push_back(call.start_ns);
    }
    std::ranges::sort(begins);
    std::ranges::sort(ends);
    // A launch by any thread may be captured: it runs when its graph does.
    const auto is_captured = [&](std::uint64_t time) {
        const auto before = [&](const std::vector<std::uint64_t>& times) {
            return std::ranges::lower_bound(times, time) - times.begin();
        };
        return before(begins) > before(ends);
    };
    std::unordered_set<std::uint32_t> recorded, lost;
    const auto collect = [&](const auto& all) {
        for (const auto& record : all) recorded.insert(record.place.correlation);
    };
    collect(records.kernels);
    collect(records.copies);
    collect(records.memsets);
    const activity::ApiCall* failed = nullptr;
    for (const activity::ApiCall* call : launches) {
        if (call->result != 0) {
            if (failed == nullptr) failed = call;
        } else if (!recorded.contains(call->correlation) && !is_captured(call->start_ns)) {
            lost.insert(call->correlation);
        }
    }
    if (failed != nullptr) {
        add_problem(fmt::format("a launch failed: {} returned {}", recording_.text(failed->name),
                                failed->result));
    }
    if (!lost.empty()) {
        add_problem(fmt::format("the kernels of {} are not on record",
                                util::counted(lost.size(), "launch")));
    }
}

}  // namespace perfgate::traces

// SPDX-License-Identifier: Apache-2.0
#include "activity/host_stacks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "activity/waiting.hpp"
#include "model/kernel_name.hpp"
#include "util/text.hpp"

namespace perfgate::activity {
namespace {

constexpr std::uint32_t states = static_cast<std::uint32_t>(HostState::other) + 1;
/// A name in a sentence is cut to so many characters.
constexpr std::size_t most_name = 60;
/// Smaller shares are no cause.
constexpr double least_named_share = 0.05, least_meanwhile = 0.25;
/// A group has the state or place that this share of its time has.
constexpr double mostly = 0.75;
/// A page holds so many frames of a flame graph, each of this part of the time or more.
constexpr std::size_t most_flames = 4000;
constexpr std::uint64_t flame_parts = 2000;

/// Waiting is the purpose of these files: who calls them is of interest.
constexpr std::string_view plumbing[] = {"/threading.py",
                                         "/selectors.py",
                                         "/multiprocessing/connection.py",
                                         "/multiprocessing/synchronize.py",
                                         "/subprocess.py",
                                         "/libc.so",
                                         "/libpthread",
                                         "/libstdc++.so",
                                         "/libc++"};
/// Files of libraries and of the interpreter, and the system's folders.
constexpr std::string_view libraries[] = {
    "/site-packages/", "/dist-packages/", "/lib/python3",    "<frozen",      "/libperfgate_",
    "/libcuda.so",     "/libcudart",      "/libcudnn",       "/libcublas",   "/libcufft",
    "/libcurand",      "/libcusparse",    "/libcusolver",    "/libcutensor", "/libcupti",
    "/libcufile",      "/libcudadevrt",   "/libcudadebugger"};
constexpr std::string_view system_folders[] = {"/usr/lib", "/lib/", "/lib64/"};
/// Symbols of the C++ library that are compiled into other files begin so. Demangled names would
/// not tell: a template begins with the type of its result.
constexpr std::string_view standard_library[] = {
    "_ZSt",           "_ZNSt",          "_ZNKSt",         "_ZNSa",
    "_ZNKSa",         "_ZNSs",          "_ZNKSs",         "_ZN9__gnu_cxx",
    "_ZNK9__gnu_cxx", "_ZL18__gthread", "_ZL20__gthread", "_ZL22__gthread"};

double share_of(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

bool works(std::uint32_t doing) {
    switch (static_cast<HostState>(doing)) {
        case HostState::running:
        case HostState::ready:
        case HostState::io:
        case HostState::sleep:
        case HostState::paging:
            return true;
        default:
            return false;
    }
}

/// The calls of a thread that no other call made.
std::vector<const ApiCall*> outermost_calls(const Timeline& timeline, std::uint32_t thread) {
    std::vector<const ApiCall*> calls;
    for (const ApiCall& call : timeline.api_calls()) {
        if (call.thread == thread && (calls.empty() || calls.back()->end_ns <= call.start_ns)) {
            calls.push_back(&call);
        }
    }
    return calls;
}

bool is_standard(std::string_view symbol) {
    return std::ranges::any_of(standard_library,
                               [&](std::string_view begin) { return symbol.starts_with(begin); });
}

struct Group {
    HostActivity activity;
    std::map<std::uint32_t, std::uint64_t> doings, lines;
    /// Several threads may do the same; the key is a thread's number and process.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Interval>> threads;

    void add(std::uint32_t doing, std::uint32_t line, std::uint64_t time) {
        activity.time_ns += time;
        doings[doing] += time;
        lines[line] += time;
    }
    /// What most of its time has; nothing if that is mixed.
    std::optional<std::uint32_t> most_of(const std::map<std::uint32_t, std::uint64_t>& all) const {
        for (const auto& [value, time] : all) {
            if (share_of(time, activity.time_ns) >= mostly) return value;
        }
        return std::nullopt;
    }
};

}  // namespace

std::string_view to_text(HostState state) {
    return util::word_of<HostState::other>(
        state, {"running", "waiting for a processor", "waiting for a lock", "reading or writing",
                "waiting for data", "sleeping", "waiting for a process", "in the driver",
                "in page faults", "waiting"});
}

std::vector<HostPiece> host_pieces(const Timeline& timeline, std::span<const Interval> gaps) {
    const auto main = util::parsed<std::uint32_t>(timeline.recording().field("pid")).value_or(0);
    std::vector<std::pair<std::uint64_t, std::uint32_t>> begins;
    for (const Work& work : timeline.work()) {
        if (work.thread != 0) begins.emplace_back(work.time.begin, work.thread);
    }
    std::ranges::sort(begins);
    std::vector<HostPiece> pieces;
    pieces.reserve(gaps.size());
    for (const Interval& gap : gaps) {
        const auto next = std::ranges::partition_point(
            begins, [&](const auto& each) { return each.first < gap.end; });
        pieces.push_back({gap, next == begins.end() ? main : next->second});
    }
    return pieces;
}

HostSamples::HostSamples(const Timeline& timeline)
    : timeline_(timeline),
      process_(util::parsed<std::uint32_t>(timeline.recording().field("pid")).value_or(0)) {
    for (const HostSample& sample : timeline.recording().records.host_samples) {
        by_thread_[{sample.thread, sample.process}].push_back(&sample);
    }
    for (auto& [thread, samples] : by_thread_) {
        std::ranges::sort(samples, {}, &HostSample::start_ns);
        // A thread does one thing at a time.
        std::uint64_t end = 0;
        std::erase_if(samples, [&](const HostSample* each) {
            if (each->start_ns < end) return true;
            end = each->end_ns;
            return false;
        });
    }
}

bool HostSamples::is_own(std::uint32_t frame) const {
    const Recording& recording = timeline_.recording();
    const std::string& file = recording.text(recording.records.stack_frames[frame - 1].file);
    const auto has = [&](std::string_view part) { return file.find(part) != std::string::npos; };
    const auto begins = [&](std::string_view part) { return file.starts_with(part); };
    return !is_standard(recording.text(recording.records.stack_frames[frame - 1].function)) &&
           std::ranges::none_of(libraries, has) && std::ranges::none_of(system_folders, begins);
}

/// A thread of a driver or library, without a function of the program's or of Python, which have
/// lines.
bool HostSamples::is_of_system(std::uint32_t frame) const {
    const auto& frames = timeline_.recording().records.stack_frames;
    for (std::uint32_t at = frame; at != 0; at = frames[at - 1].caller) {
        if (frames[at - 1].line != 0 || is_own(at)) return false;
    }
    return true;
}

std::string HostSamples::function(std::uint32_t frame) const {
    const Recording& recording = timeline_.recording();
    const std::string& name = recording.text(recording.records.stack_frames[frame - 1].function);
    if (name.starts_with("_Z")) return model::short_kernel_name(util::demangled(name));
    return util::printable(name, most_name);
}

std::string HostSamples::doing_text(std::uint32_t doing) const {
    if (doing < states) return std::string(to_text(static_cast<HostState>(doing)));
    return "in " +
           util::printable(call_name(timeline_.recording().text(doing - states)), most_name);
}

HostSamples::Times HostSamples::times(std::span<const HostPiece> pieces) const {
    std::map<std::uint32_t, std::vector<Interval>> by_thread;
    for (const HostPiece& piece : pieces) by_thread[piece.thread].push_back(piece.time);
    Times times;
    for (auto& [thread, own] : by_thread) {
        const auto samples = by_thread_.find({thread, process_});
        if (samples == by_thread_.end()) continue;
        const IntervalSet set(std::move(own));
        const std::vector<const ApiCall*> calls = outermost_calls(timeline_, thread);
        auto call = calls.begin();
        for (const HostSample* sample : samples->second) {
            std::uint64_t left = set.length({sample->start_ns, sample->end_ns});
            if (left == 0) continue;
            while (call != calls.end() && (*call)->end_ns <= sample->start_ns) ++call;
            for (auto at = call; at != calls.end() && (*at)->start_ns < sample->end_ns; ++at) {
                const std::uint64_t in_call = std::min(
                    left, set.length(model::intersection({(*at)->start_ns, (*at)->end_ns},
                                                         {sample->start_ns, sample->end_ns})));
                if (in_call != 0) times[{sample->frame, states + (*at)->name}] += in_call;
                left -= in_call;
            }
            if (left != 0) {
                times[{sample->frame, static_cast<std::uint32_t>(sample->state)}] += left;
            }
        }
    }
    return times;
}

/// Of a stack the innermost function of the user's, what it called of a library, and the innermost
/// of all.
HostActivity HostSamples::activity_of(std::uint32_t frame) const {
    const Recording& recording = timeline_.recording();
    const auto& frames = recording.records.stack_frames;
    const auto is_plumbing = [&](std::uint32_t each) {
        const std::string& file = recording.text(frames[each - 1].file);
        return is_standard(recording.text(frames[each - 1].function)) ||
               std::ranges::any_of(plumbing, [&](std::string_view part) {
                   return file.find(part) != std::string::npos;
               });
    };
    HostActivity activity;
    if (frame == 0) return activity;
    std::uint32_t innermost = frame;
    while (is_plumbing(innermost) && frames[innermost - 1].caller != 0) {
        innermost = frames[innermost - 1].caller;
    }
    std::uint32_t own = innermost, called = 0;
    while (own != 0 && !is_own(own)) {
        called = own;
        own = frames[own - 1].caller;
    }
    const std::uint32_t shown = own == 0 ? innermost : own;
    const std::string& file = recording.text(frames[shown - 1].file);
    activity.file = util::printable(file, 400);
    activity.line = frames[shown - 1].line;
    // A script says nothing by being the caller.
    if (called != 0 && own != 0 && function(own) == "<module>") own = 0;
    std::uint32_t last = 0;
    for (const std::uint32_t each : {own, called, innermost}) {
        if (each == 0 || each == last) continue;
        activity.name += (last == 0 ? "" : " → ") + function(each);
        last = each;
    }
    return activity;
}

HostStacks HostSamples::in(std::span<const HostPiece> pieces) const {
    HostStacks stacks;
    using Groups = std::map<std::pair<std::string, std::string>, Group>;  // by name and file
    Groups groups, others;
    std::unordered_map<std::uint32_t, HostActivity> known;
    const auto add = [&](Groups& to, std::uint32_t frame, std::uint32_t doing,
                         std::uint64_t time) -> Group& {
        const auto [activity, added] = known.try_emplace(frame);
        if (added) activity->second = activity_of(frame);
        std::string name = activity->second.name;
        if (frame == 0) name = doing_text(doing);  // nothing else tells one from another
        Group& group = to[{name, activity->second.file}];
        if (group.activity.name.empty()) {
            group.activity.name = name;
            group.activity.file = activity->second.file;
        }
        group.add(doing, activity->second.line, time);
        return group;
    };
    for (const auto& [key, time] : times(pieces)) {
        add(groups, key.first, key.second, time);
        stacks.sampled_ns += time;
    }
    std::vector<Interval> all;
    std::set<std::uint32_t> waiting;
    for (const HostPiece& piece : pieces) {
        all.push_back(piece.time);
        waiting.insert(piece.thread);
    }
    const IntervalSet set(std::move(all));
    stacks.time_ns = set.length();
    std::unordered_map<std::uint32_t, bool> systems;
    for (const auto& [thread, samples] : by_thread_) {
        if (thread.second == process_ && waiting.contains(thread.first)) continue;
        for (const HostSample* sample : samples) {
            const auto doing = static_cast<std::uint32_t>(sample->state);
            if (sample->frame == 0 || !works(doing)) continue;
            const auto [system, is_new] = systems.try_emplace(sample->frame);
            if (is_new) system->second = is_of_system(sample->frame);
            if (system->second) continue;
            const std::uint64_t time = set.length({sample->start_ns, sample->end_ns});
            if (time == 0) continue;
            Group& group = add(others, sample->frame, doing, time);
            group.threads[thread].push_back({sample->start_ns, sample->end_ns});
        }
    }
    const auto finish = [&](Groups& from, std::vector<HostActivity>& to) {
        for (auto& [key, group] : from) {
            if (const auto doing = group.most_of(group.doings); doing) {
                group.activity.state = doing_text(*doing);
            }
            group.activity.line = group.most_of(group.lines).value_or(0);
            // Many threads that work a little each are no cause.
            std::vector<Interval> times;
            for (auto& [thread, own] : group.threads) {
                const IntervalSet busy(own);
                if (share_of(busy.overlap(set), stacks.time_ns) < least_named_share) continue;
                ++group.activity.threads;
                times.insert(times.end(), own.begin(), own.end());
            }
            if (!group.threads.empty()) {
                if (times.empty()) continue;
                group.activity.time_ns = IntervalSet(std::move(times)).overlap(set);
            }
            to.push_back(std::move(group.activity));
        }
        std::ranges::stable_sort(to, std::greater{}, &HostActivity::time_ns);
    };
    finish(groups, stacks.waiting);
    finish(others, stacks.meanwhile);
    return stacks;
}

std::string HostSamples::stack_text(std::uint32_t frame) const {
    const auto& frames = timeline_.recording().records.stack_frames;
    std::string text;
    for (std::uint32_t at = frame; at != 0; at = frames[at - 1].caller) {
        text.insert(0, function(at) + (text.empty() ? "" : ";"));
    }
    return text;
}

std::vector<FlameFrame> HostSamples::flame(std::span<const HostPiece> pieces) const {
    const Recording& recording = timeline_.recording();
    const auto& frames = recording.records.stack_frames;
    std::vector<FlameFrame> flames;
    std::map<std::tuple<std::uint32_t, std::string, std::string>, std::uint32_t> known;
    const auto child = [&](std::uint32_t parent, const std::string& name, const std::string& file) {
        const auto [found, added] =
            known.try_emplace({parent, name, file}, static_cast<std::uint32_t>(flames.size() + 1));
        if (added) flames.push_back({parent, name, file, 0});
        return found->second;
    };
    std::uint64_t total = 0;
    for (const auto& [key, time] : times(pieces)) {
        total += time;
        std::vector<std::uint32_t> stack;
        for (std::uint32_t at = key.first; at != 0; at = frames[at - 1].caller) stack.push_back(at);
        std::uint32_t node = 0;
        for (auto at = stack.rbegin(); at != stack.rend(); ++at) {
            node = child(node, function(*at),
                         util::printable(recording.text(frames[*at - 1].file), 200));
            flames[node - 1].time_ns += time;
        }
        if (key.second == 0) continue;
        node = child(node, doing_text(key.second), "");
        flames[node - 1].time_ns += time;
    }
    // Parents come before their children.
    std::vector<std::uint32_t> places(flames.size() + 1, 0);
    std::vector<FlameFrame> kept;
    for (std::size_t i = 0; i < flames.size() && kept.size() < most_flames; ++i) {
        FlameFrame& flame = flames[i];
        if (flame.time_ns * flame_parts < total) continue;
        if (flame.parent != 0 && places[flame.parent] == 0) continue;
        flame.parent = places[flame.parent];
        kept.push_back(std::move(flame));
        places[i + 1] = static_cast<std::uint32_t>(kept.size());
    }
    return kept;
}

std::string host_text(const HostStacks& stacks, std::size_t most) {
    std::string text;
    const auto named = [](const HostActivity& activity) {
        const std::string& file = activity.file;
        std::string name = activity.name;
        if (activity.line != 0) {
            name += fmt::format(" ({}:{})", file.substr(file.rfind('/') + 1), activity.line);
        }
        if (!activity.state.empty() && activity.state != "running" && activity.state != name) {
            name += fmt::format(", {}", activity.state);
        }
        return name;
    };
    for (std::size_t i = 0; i < std::min(most, stacks.waiting.size()); ++i) {
        const HostActivity& activity = stacks.waiting[i];
        const double share = share_of(activity.time_ns, stacks.sampled_ns);
        if (share < least_named_share) break;
        text += fmt::format("{}{:.0f} % {}{}", text.empty() ? "" : "; ", share * 100,
                            activity.file.empty() ? "" : "in ", named(activity));
    }
    if (text.empty() || stacks.meanwhile.empty()) return text;
    const HostActivity& other = stacks.meanwhile.front();
    if (share_of(other.time_ns, stacks.time_ns) < least_meanwhile) return text;
    return text + fmt::format("; meanwhile {} {} in {}",
                              util::counted(other.threads, "other thread"),
                              other.threads == 1 ? "was" : "were", named(other));
}

}  // namespace perfgate::activity

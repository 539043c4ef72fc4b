// SPDX-License-Identifier: Apache-2.0
#include "util/other_work.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>

#include "util/process_list.hpp"
#include "util/text.hpp"

namespace perfgate::util {

namespace {

namespace fs = std::filesystem;

std::vector<pid_t> threads_of(const fs::path& tasks) {
    std::vector<pid_t> threads;
    std::error_code error;
    for (fs::directory_iterator entry(tasks, error), end; !error && entry != end;
         entry.increment(error)) {
        if (const auto id = parsed<pid_t>(entry->path().filename().string())) {
            threads.push_back(*id);
        }
    }
    return threads;
}

/// What has grown since; a counter may go back, as of a processor that was switched off.
double grown(double before, double now) {
    return std::max(now - before, 0.0);
}

/// No digits that say nothing, in documents that people compare.
double share(double value) {
    return std::clamp(std::round(1e4 * value) / 1e4, 0.0, 1.0);
}

/// The folders of a control group and those above it, up to the top.
std::vector<fs::path> folders_of(const fs::path& top, fs::path group) {
    std::vector<fs::path> folders;
    for (; !group.empty(); group = group.parent_path()) folders.push_back(top / group);
    folders.push_back(top);
    return folders;
}

/// Of the first version, where it is not known how long a quota stopped a group.
bool has_old_quota(const fs::path& folder) {
    std::istringstream text(text_of(folder / "cpu.cfs_quota_us"));
    double quota = 0;
    return text >> quota && quota > 0;
}

/// Of the second version. Nothing if it has a quota, and it is not known how long that stopped it.
std::optional<ControlGroup> group_in(const fs::path& folder) {
    ControlGroup group;
    bool knows = false;
    std::istringstream counters(text_of(folder / "cpu.stat"));
    std::string name;
    for (double value = 0; counters >> name >> value;) {
        if (name == "usage_usec") group.used = 1e-6 * value;
        if (name == "throttled_usec") group.stopped = 1e-6 * value;
        knows = knows || name == "throttled_usec";
    }
    std::istringstream text(text_of(folder / "cpu.max"));
    double quota = 0;
    const bool has_quota = static_cast<bool>(text >> quota);  // no "max"
    return has_quota && !knows ? std::nullopt : std::optional(group);
}

/// Those of this process, from its own to the root. Nothing if one has a quota, and it is not known
/// how long that stopped it.
std::optional<std::vector<ControlGroup>> groups_now() {
    std::vector<ControlGroup> found;
    std::istringstream groups(text_of("/proc/self/cgroup"));
    for (std::string line; std::getline(groups, line);) {
        // "4:cpu,cpuacct:/job"; "0::/job" is of the second version.
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const fs::path group = fs::path(line.substr(second + 1)).relative_path();
        const fs::path top = fs::path("/sys/fs/cgroup") / controllers;
        if (controllers.empty()) {
            for (const fs::path& folder : folders_of(top, group)) {
                const auto known = group_in(folder);
                if (!known) return std::nullopt;
                found.push_back(*known);
            }
        } else if ((',' + controllers + ',').find(",cpu,") != std::string::npos &&
                   std::ranges::any_of(folders_of(top, group), has_old_quota)) {
            return std::nullopt;
        }
    }
    return found;
}

}  // namespace

void ProcessorTimes::add(double used, double taken) {
    all += used;
    stolen += taken;
    used_on += used > 0 ? 1 : 0;
    stolen_on += taken > 0 ? 1 : 0;
    processors += 1;
}

OtherWork other_work_in(const ProcessorTimes& times) {
    OtherWork found;
    if (!(times.wall > 0) || !(times.processors > 0)) return found;
    // What may only be rounded up is nobody's. Of a processor on which nothing ran, nothing is.
    const double used = grown(times.own + times.tick * times.used_on, times.all);
    const double all_stolen = grown(times.tick * times.stolen_on, times.stolen);
    const double used_by_others = times.group ? grown(times.own, *times.group) : used;
    const double stolen = times.group ? 0 : all_stolen;
    const double others = used_by_others + stolen;
    if (!(others > 0)) return found;
    // A thread does not see that its processor is stolen: it waits without knowing.
    const double own_part = times.own / (times.own + used_by_others);
    const double unseen =
        times.own > 0 ? stolen * own_part / std::max(times.own / times.wall, 1.0) : 0;
    const double busy = used + all_stolen;
    found.waited =
        share(std::min((times.waited + unseen) / times.wall, others / (times.own + others)));
    found.busy = share(busy / (times.wall * times.processors));
    return found;
}

OtherWorkWatch::OtherWorkWatch(const std::vector<pid_t>& known) {
    const char* wish = std::getenv("PERFGATE_OTHER_WORK");
    if (wish != nullptr && std::string_view(wish) == "ignore") return;
    priority_ = getpriority(PRIO_PROCESS, 0);
    self_ = used_by_self();
    processors_ = processors_now();
    groups_ = groups_now();
    look(known);
    ran_ns_ = waited_ns_ = 0;
}

void OtherWorkWatch::look(const std::vector<pid_t>& processes) {
    if (processors_.empty()) return;
    std::uint64_t longest = 0, most = 0;
    for (const pid_t process : processes) {
        watches_itself_ = watches_itself_ || process == getpid();
        cpu_set_t usable;
        CPU_ZERO(&usable);
        std::uint64_t ran = 0;
        const fs::path tasks = "/proc/" + std::to_string(process) + "/task";
        for (const pid_t thread : threads_of(tasks)) {
            std::istringstream text(text_of(tasks / std::to_string(thread) / "schedstat"));
            Thread now;
            // A kernel that does not count says 0.
            if (!(text >> now.ran >> now.waited) || now.ran == 0) continue;
            knows_threads_ = true;
            Thread& before = threads_[{process, thread}];
            if (now.ran < before.ran || now.waited < before.waited) before = {};  // another thread
            ran_ns_ += now.ran - before.ran;
            ran += now.ran;
            if (getpriority(PRIO_PROCESS, static_cast<id_t>(thread)) <= priority_ &&
                sched_getscheduler(thread) != SCHED_IDLE) {
                longest = std::max(longest, now.waited - before.waited);
            }
            before = now;
            cpu_set_t of_thread;
            CPU_ZERO(&of_thread);
            if (sched_getaffinity(thread, sizeof(of_thread), &of_thread) == 0) {
                CPU_OR(&usable, &usable, &of_thread);
            }
        }
        if (ran > most) usable_ = usable;
        most = std::max(most, ran);
    }
    waited_ns_ += longest;
    last_look_ = Clock::now();
}

std::optional<OtherWork> OtherWorkWatch::result(std::chrono::duration<double> own) const {
    const auto seconds = [](auto time) { return std::chrono::duration<double>(time).count(); };
    ProcessorTimes times;
    times.wall = seconds(Clock::now() - begin_);
    const double seen = seconds(last_look_ - begin_);
    const auto groups = groups_now();
    if (!knows_threads_ || !groups_ || !groups || groups->size() != groups_->size() ||
        !(2 * seen >= times.wall)) {
        return std::nullopt;
    }
    // What was not looked at is taken to be like the rest.
    times.waited = 1e-9 * static_cast<double>(waited_ns_) * times.wall / seen;
    times.own = std::max(own.count(), 1e-9 * static_cast<double>(ran_ns_));
    for (const auto& [number, now] : processors_now()) {
        const auto before = processors_.find(number);
        if (before == processors_.end() || number >= CPU_SETSIZE || !CPU_ISSET(number, &usable_)) {
            continue;
        }
        times.add(grown(before->second.used, now.used), grown(before->second.stolen, now.stolen));
    }
    if (times.processors == 0) return std::nullopt;
    times.tick = 1 / static_cast<double>(sysconf(_SC_CLK_TCK));
    // Nor is what it takes to watch, if that can have been on these processors.
    const double self = watches_itself_ ? 0 : grown(self_, used_by_self());
    cpu_set_t of_self, shared;
    CPU_ZERO(&of_self);
    const bool knows_self = sched_getaffinity(getpid(), sizeof(of_self), &of_self) == 0;
    CPU_AND(&shared, &of_self, &usable_);
    if (!knows_self || CPU_COUNT(&shared) != 0) times.all = grown(self, times.all);
    for (std::size_t i = 0; i < groups->size(); ++i) {  // the highest that was stopped
        const ControlGroup &before = (*groups_)[i], &now = (*groups)[i];
        if (now.stopped > before.stopped) times.group = grown(self, grown(before.used, now.used));
    }
    return other_work_in(times);
}

double OtherWorkWatch::used_by_self() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

std::map<std::size_t, OtherWorkWatch::Processor> OtherWorkWatch::processors_now() {
    std::istringstream lines(text_of("/proc/stat"));
    const auto tick = static_cast<double>(sysconf(_SC_CLK_TCK));
    std::map<std::size_t, Processor> processors;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::string name;
        fields >> name;
        const auto number =
            name.starts_with("cpu") ? parsed<std::size_t>(name.substr(3)) : std::nullopt;
        if (!number) continue;
        // Guests are part of "user". Interrupts may be the processes' own.
        double user = 0, nice = 0, system = 0, idle = 0, waits = 0, interrupts = 0, soft = 0,
               stolen = 0;
        fields >> user >> nice >> system >> idle >> waits >> interrupts >> soft >> stolen;
        if (fields) processors[*number] = {(user + nice + system) / tick, stolen / tick};
    }
    return processors;
}

}  // namespace perfgate::util

// SPDX-License-Identifier: Apache-2.0
#include "util/other_work.hpp"

#include <sched.h>
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

}  // namespace

OtherWork other_work_in(const ProcessorTimes& times) {
    OtherWork found;
    if (!(times.wall > 0) || !(times.processors > 0)) return found;
    const double used_by_others =
        times.group ? grown(times.own, *times.group) : grown(times.own, times.all);
    const double stolen = times.group ? 0 : times.stolen;
    const double others = used_by_others + stolen;
    if (!(others > 0)) return found;
    // A thread does not see that its processor is stolen: it waits without knowing.
    const double own_part = times.own / (times.own + used_by_others);
    const double unseen =
        times.own > 0 ? stolen * own_part / std::max(times.own / times.wall, 1.0) : 0;
    const double busy = grown(times.own, times.all) + times.stolen;
    found.waited =
        share(std::min((times.waited + unseen) / times.wall, others / (times.own + others)));
    found.busy = share(busy / (times.wall * times.processors));
    return found;
}

OtherWorkWatch::OtherWorkWatch(const std::vector<pid_t>& known) {
    const char* wish = std::getenv("PERFGATE_OTHER_WORK");
    if (wish != nullptr && std::string_view(wish) == "ignore") return;
    machine_ = machine_now();
    group_ = group_now();
    look(known);
    ran_ns_ = waited_ns_ = 0;
}

void OtherWorkWatch::look(const std::vector<pid_t>& processes) {
    if (!machine_) return;
    std::uint64_t longest = 0;
    for (const pid_t process : processes) {
        const fs::path tasks = "/proc/" + std::to_string(process) + "/task";
        for (const pid_t thread : threads_of(tasks)) {
            std::istringstream text(text_of(tasks / std::to_string(thread) / "schedstat"));
            Thread now;
            if (!(text >> now.ran >> now.waited)) continue;
            knows_threads_ = true;
            Thread& before = threads_[{process, thread}];
            if (now.ran < before.ran || now.waited < before.waited) before = {};  // another thread
            ran_ns_ += now.ran - before.ran;
            longest = std::max(longest, now.waited - before.waited);
            before = now;
        }
    }
    waited_ns_ += longest;
    last_look_ = Clock::now();
}

std::optional<OtherWork> OtherWorkWatch::result(std::chrono::duration<double> own) const {
    const auto now = machine_now();
    if (!machine_ || !now || !knows_threads_ || last_look_ == begin_) return std::nullopt;
    const auto seconds = [](auto time) { return std::chrono::duration<double>(time).count(); };
    ProcessorTimes times;
    times.wall = seconds(Clock::now() - begin_);
    // What was not looked at is taken to be like the rest, unless that was little.
    const double rest = std::min(times.wall / seconds(last_look_ - begin_), 2.0);
    times.waited = 1e-9 * static_cast<double>(waited_ns_) * rest;
    times.own = std::max(own.count(), 1e-9 * static_cast<double>(ran_ns_));
    times.all = grown(machine_->all, now->all);
    times.stolen = grown(machine_->stolen, now->stolen);
    times.processors = now->processors;
    const auto group = group_now();
    if (group && group_ && group->stopped > group_->stopped) {
        times.group = grown(group_->used, group->used);
    }
    return other_work_in(times);
}

std::optional<OtherWorkWatch::Machine> OtherWorkWatch::machine_now() {
    cpu_set_t usable;
    CPU_ZERO(&usable);
    const bool some_only = sched_getaffinity(0, sizeof(usable), &usable) == 0;
    std::istringstream lines(text_of("/proc/stat"));
    const auto tick = static_cast<double>(sysconf(_SC_CLK_TCK));
    Machine machine;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::string name;
        fields >> name;
        const auto number =
            name.starts_with("cpu") ? parsed<std::size_t>(name.substr(3)) : std::nullopt;
        if (!number || (some_only && (*number >= CPU_SETSIZE || !CPU_ISSET(*number, &usable)))) {
            continue;
        }
        // Guests are part of "user".
        double user = 0, nice = 0, system = 0, idle = 0, waits = 0, interrupts = 0, soft = 0,
               stolen = 0;
        fields >> user >> nice >> system >> idle >> waits >> interrupts >> soft >> stolen;
        if (!fields) continue;
        machine.all += (user + nice + system + interrupts + soft) / tick;
        machine.stolen += stolen / tick;
        machine.processors += 1;
    }
    return machine.processors > 0 ? std::optional(machine) : std::nullopt;
}

std::optional<OtherWorkWatch::Group> OtherWorkWatch::group_now() {
    std::istringstream groups(text_of("/proc/self/cgroup"));
    for (std::string line; std::getline(groups, line);) {
        constexpr std::string_view second_version = "0::";
        if (!line.starts_with(second_version)) continue;
        const fs::path folder = "/sys/fs/cgroup" + line.substr(second_version.size());
        std::istringstream counts(text_of(folder / "cpu.stat"));
        Group group;
        bool knows_use = false;
        std::string name;
        for (double value = 0; counts >> name >> value;) {
            if (name == "usage_usec") group.used = 1e-6 * value;
            if (name == "throttled_usec") group.stopped = 1e-6 * value;
            knows_use = knows_use || name == "usage_usec";
        }
        if (knows_use) return group;
    }
    return std::nullopt;
}

}  // namespace perfgate::util

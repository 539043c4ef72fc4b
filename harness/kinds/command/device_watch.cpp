// SPDX-License-Identifier: Apache-2.0
#include "kinds/command/device_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "inject/settings.hpp"
#include "util/text.hpp"

namespace perfgate::command {
namespace {

constexpr std::size_t longest_command = 100;

std::string folder_of(const program::Process& process) {
    return "/proc/" + std::to_string(process.pid) + "/";
}

std::string name_of_program(const std::string& folder) {
    std::ifstream file(folder + "cmdline", std::ios::binary);
    std::string command;
    for (std::string word; command.size() < longest_command && std::getline(file, word, '\0');) {
        if (!command.empty()) command += ' ';
        command += word;
    }
    return util::printable(command, longest_command);
}

/// The last pid of "NSpid: 4711 12", which the process itself sees; /proc shows the first.
std::int64_t inner_pid(const std::string& folder) {
    std::ifstream file(folder + "status");
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("NSpid:")) continue;
        return util::parsed<std::int64_t>(line.substr(line.rfind('\t') + 1)).value_or(0);
    }
    return 0;
}

bool has_recorder_variable(const std::string& folder) {
    std::ifstream file(folder + "environ", std::ios::binary);
    std::string beginning(inject::driver_variable);
    beginning += '=';
    for (std::string entry; std::getline(file, entry, '\0');) {
        if (entry.starts_with(beginning)) return true;
    }
    return false;
}

struct Mapped {
    bool device = false, driver = false, hidden = false;
};

Mapped mapped_by(const std::string& folder) {
    Mapped mapped;
    errno = 0;
    std::ifstream file(folder + "maps");
    mapped.hidden = !file && errno == EACCES;
    for (std::string line; std::getline(file, line);) {
        const std::size_t slash = line.rfind('/');
        if (slash == std::string::npos) continue;
        const std::string_view name = std::string_view(line).substr(slash + 1);
        mapped.device = mapped.device || name == "nvidia-uvm";
        mapped.driver = mapped.driver || name.starts_with("libcuda.so");
    }
    return mapped;
}

void add_once(const std::string& text, std::vector<std::string>& texts) {
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

}  // namespace

void DeviceWatch::look(const std::vector<program::Process>& processes, Clock::time_point now) {
    for (Seen& seen : seen_) {
        if (seen.alive) seen.until = now;
        seen.alive = false;
    }
    const Clock::time_point since = last_look_.value_or(now);
    for (const program::Process& process : processes) {
        auto seen = std::ranges::find(seen_, process, &Seen::process);
        if (seen == seen_.end()) {
            seen_.emplace_back().process = process;
            seen = std::prev(seen_.end());
        }
        seen->alive = true;
        seen->until = now;
        if (!seen->context) update(*seen, since);
    }
    last_look_ = now;
}

void DeviceWatch::update(Seen& seen, Clock::time_point since) {
    const std::string folder = folder_of(seen.process);
    const Mapped mapped = mapped_by(folder);
    if (mapped.device) seen.context = since;
    if (mapped.driver && !seen.library && !has_recorder_variable(folder)) seen.library = since;
    seen.hidden = seen.hidden || mapped.hidden;
    if (!seen.command.empty() || (!seen.context && !seen.library && !seen.hidden)) return;
    seen.command = name_of_program(folder);
    seen.inner_pid = inner_pid(folder);
}

DeviceWatch::Unrecorded DeviceWatch::unrecorded(
    const std::vector<activity::Recording>& recordings) const {
    std::set<std::pair<std::int64_t, std::int64_t>> recorded;  // pid, start
    for (const activity::Recording& recording : recordings) {
        const auto number = [&](const char* field) {
            return util::parsed<std::int64_t>(recording.field(field)).value_or(0);
        };
        recorded.emplace(number("pid"), number("start"));
    }
    const auto is_recorded = [&](const Seen& seen) {
        const auto start = static_cast<std::int64_t>(seen.process.start);
        return recorded.contains({seen.process.pid, start}) ||
               recorded.contains({seen.inner_pid, start});
    };
    // Where the device file is not mapped, as on WSL, what is mapped of the driver has to do.
    const bool contexts_show = std::ranges::any_of(
        seen_, [&](const Seen& seen) { return seen.context && is_recorded(seen); });
    Unrecorded found;
    for (const Seen& seen : seen_) {
        if (is_recorded(seen)) continue;
        const auto from = seen.context || contexts_show ? seen.context : seen.library;
        if (from) {
            found.seconds += std::chrono::duration<double>(seen.until - *from).count();
            add_once(seen.command, found.commands);
        } else if (seen.hidden) {
            add_once(seen.command, found.hidden);
        }
    }
    return found;
}

std::vector<std::string> unrecorded_notes(const DeviceWatch::Unrecorded& unrecorded) {
    std::vector<std::string> notes;
    for (const std::string& command : unrecorded.commands) {
        notes.push_back(fmt::format("'{}' used the GPU and left no recording", command));
    }
    for (const std::string& command : unrecorded.hidden) {
        notes.push_back(fmt::format(
            "'{}' of another user may have used the GPU, and left no recording", command));
    }
    return notes;
}

}  // namespace perfgate::command

// SPDX-License-Identifier: Apache-2.0
#include "program/process_tree.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace perfgate::program {
namespace {

namespace fs = std::filesystem;

bool has_mark(const fs::path& process, const std::string& mark) {
    // A kernel thread's environment is empty, and that of other users is not readable.
    std::ifstream file(process / "environ", std::ios::binary);
    // The stream's own functions treat a process that has ended meanwhile as the end of the file.
    for (std::string entry; std::getline(file, entry, '\0');) {
        if (entry == mark) return true;
    }
    return false;
}

std::string executable_of(const fs::path& process) {
    std::error_code unknown;
    return fs::read_symlink(process / "exe", unknown).native();
}

}  // namespace

ProcessTree::ProcessTree(pid_t root, std::string mark)
    : mark_(std::move(mark)), own_executable_(executable_of("/proc/self")) {
    const auto state = util::state_of({root, "/proc/" + std::to_string(root)});
    root_ = {root, state ? state->start : 0};
}

const std::vector<Process>& ProcessTree::look() {
    struct Candidate {
        util::ListedProcess listed;
        util::ProcessState state;
    };
    std::vector<Process> members;
    std::vector<Candidate> candidates;
    std::vector<Process> others;
    for (util::ListedProcess& listed : util::list_processes()) {
        const auto state = util::state_of(listed);
        if (!state || listed.pid == getpid()) continue;
        const Process process{listed.pid, state->start};
        if (state->state == 'Z') {
            // Nobody else waits for our orphans.
            if (process != root_ && state->parent == getpid() && state->start >= root_.start) {
                waitpid(process.pid, nullptr, WNOHANG);
            }
        } else if (std::ranges::find(members_, process) != members_.end()) {
            members.push_back(process);
        } else if (std::ranges::binary_search(others_, process)) {
            others.push_back(process);
        } else {
            candidates.push_back({std::move(listed), *state});
        }
    }
    for (bool found = true; found;) {
        const auto rest = std::stable_partition(
            candidates.begin(), candidates.end(),
            [&](const Candidate& each) { return !belongs(each.listed, each.state, members); });
        found = rest != candidates.end();
        for (auto each = rest; each != candidates.end(); ++each) {
            members.push_back({each->listed.pid, each->state.start});
        }
        candidates.erase(rest, candidates.end());
    }
    for (const Candidate& each : candidates) others.push_back({each.listed.pid, each.state.start});
    std::ranges::sort(others);
    others_ = std::move(others);
    members_ = std::move(members);
    return members_;
}

bool ProcessTree::belongs(const util::ListedProcess& listed, const util::ProcessState& state,
                          const std::vector<Process>& members) const {
    const auto is_parent = [&](const Process& member) { return member.pid == state.parent; };
    return Process{listed.pid, state.start} == root_ || std::ranges::any_of(members, is_parent) ||
           is_adopted(listed, state) || has_mark(listed.folder, mark_);
}

/// Our other children are older than the program, or run our own executable.
bool ProcessTree::is_adopted(const util::ListedProcess& listed,
                             const util::ProcessState& state) const {
    return state.parent == getpid() && state.start >= root_.start &&
           executable_of(listed.folder) != own_executable_;
}

void ProcessTree::signal_all(int signal) {
    for (const Process& process : look()) util::send_signal(process, signal);
}

}  // namespace perfgate::program

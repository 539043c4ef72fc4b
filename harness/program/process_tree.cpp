// SPDX-License-Identifier: Apache-2.0
#include "program/process_tree.hpp"

#include <unistd.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace perfgate::program {
namespace {

bool has_mark(const std::filesystem::path& process, const std::string& mark) {
    // A zombie's environment is empty, and so is a kernel thread's.
    std::ifstream file(process / "environ", std::ios::binary);
    // A stream's own functions take a process that has ended meanwhile as the end of the file.
    for (std::string entry; std::getline(file, entry, '\0');) {
        if (entry == mark) return true;
    }
    return false;
}

}  // namespace

std::vector<pid_t> processes_with(const std::string& mark) {
    std::vector<pid_t> found;
    std::error_code error;
    for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename();
        pid_t pid = 0;
        const auto [rest, failed] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (failed != std::errc{} || rest != name.data() + name.size() || pid == getpid()) continue;
        if (has_mark(entry->path(), mark)) found.push_back(pid);
    }
    return found;
}

std::size_t signal_all(const std::string& mark, int signal) {
    const std::vector<pid_t> all = processes_with(mark);
    for (const pid_t pid : all) ::kill(pid, signal);
    return all.size();
}

}  // namespace perfgate::program

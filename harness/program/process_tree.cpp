// SPDX-License-Identifier: Apache-2.0
#include "program/process_tree.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

namespace perfgate::program {
namespace {

bool has_mark(const std::filesystem::path& process, const std::string& mark) {
    // A zombie's environment is empty, and so is a kernel thread's.
    std::ifstream file(process / "environ", std::ios::binary);
    const std::string environment(std::istreambuf_iterator<char>(file), {});
    std::string_view rest = environment;
    while (!rest.empty()) {
        const std::string_view entry = rest.substr(0, rest.find('\0'));
        if (entry == mark) return true;
        rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
    }
    return false;
}

}  // namespace

std::vector<pid_t> processes_with(const std::string& mark) {
    std::vector<pid_t> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        const std::string name = entry.path().filename();
        pid_t pid = 0;
        const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (failed != std::errc{} || end != name.data() + name.size() || pid == getpid()) continue;
        if (has_mark(entry.path(), mark)) found.push_back(pid);
    }
    return found;
}

std::size_t signal_all(const std::string& mark, int signal) {
    const std::vector<pid_t> all = processes_with(mark);
    for (const pid_t pid : all) ::kill(pid, signal);
    return all.size();
}

}  // namespace perfgate::program

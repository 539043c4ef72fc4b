// SPDX-License-Identifier: Apache-2.0
#include "program/process_tree.hpp"

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "model/process_list.hpp"

namespace perfgate::program {
namespace {

bool has_mark(const std::filesystem::path& process, const std::string& mark) {
    // A zombie's environment is empty, and so is a kernel thread's.
    std::ifstream file(process / "environ", std::ios::binary);
    // The stream's own functions treat a process that has ended meanwhile as the end of the file.
    for (std::string entry; std::getline(file, entry, '\0');) {
        if (entry == mark) return true;
    }
    return false;
}

}  // namespace

std::vector<pid_t> processes_with(const std::string& mark) {
    std::vector<pid_t> found;
    for (const model::ListedProcess& listed : model::list_processes()) {
        if (listed.pid == getpid()) continue;
        if (has_mark(listed.folder, mark)) found.push_back(listed.pid);
    }
    return found;
}

std::size_t signal_all(const std::string& mark, int signal) {
    const std::vector<pid_t> all = processes_with(mark);
    for (const pid_t pid : all) ::kill(pid, signal);
    return all.size();
}

}  // namespace perfgate::program

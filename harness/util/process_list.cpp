// SPDX-License-Identifier: Apache-2.0
#include "util/process_list.hpp"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <system_error>

#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::util {

std::vector<ListedProcess> list_processes() {
    std::vector<ListedProcess> processes;
    std::error_code error;
    for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
         entry.increment(error)) {
        const auto pid = parsed<pid_t>(entry->path().filename().string());
        if (pid) processes.push_back({*pid, entry->path()});
    }
    return processes;
}

std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::string text;
    std::getline(stream, text, '\0');  // a stream's own functions do not throw; an iterator would
    return text;
}

std::optional<ProcessState> state_of(const ListedProcess& process) {
    const std::string stat = text_of(process.folder / "stat");
    // The second field is the program's name, which may contain any character.
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream fields(stat.substr(name_end + 1));
    ProcessState found;
    pid_t group = 0;
    fields >> found.state >> found.parent >> group >> found.session;
    std::string skipped;
    for (int field = 7; field < 22; ++field) fields >> skipped;
    fields >> found.start;
    return fields ? std::optional(found) : std::nullopt;
}

bool send_signal(const ProcessId& process, int signal) {
    // The descriptor stays with the process that has the number now; then its start tells which.
    const Descriptor descriptor(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
    const auto state = state_of({process.pid, "/proc/" + std::to_string(process.pid)});
    if (!state || state->start != process.start) return false;
    if (descriptor.get() < 0) return ::kill(process.pid, signal) == 0;  // an old kernel
    return syscall(SYS_pidfd_send_signal, descriptor.get(), signal, nullptr, 0) == 0;
}

void adopt_orphans() {
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

}  // namespace perfgate::util

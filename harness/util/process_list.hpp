// SPDX-License-Identifier: Apache-2.0
// The processes of the machine that are visible to this one.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace perfgate::util {

struct ListedProcess {
    pid_t pid = 0;
    std::filesystem::path folder;  ///< /proc/PID; disappears with the process
};

/// The processes that /proc lists now. Does not throw; a process that ends meanwhile may or may not
/// be in the list.
std::vector<ListedProcess> list_processes();

/// The text of a file of /proc up to a NUL; empty if it cannot be read: its process may have
/// ended.
std::string text_of(const std::filesystem::path& file);

/// From /proc/PID/stat.
struct ProcessState {
    char state = 0;  ///< 'Z': it has ended
    pid_t parent = 0, session = 0;
    std::uint64_t start = 0;  ///< clock ticks since the boot: tells processes of one pid apart
};

/// Nothing if the process has disappeared.
std::optional<ProcessState> state_of(const ListedProcess& process);

/// A process, whatever gets its number later.
struct ProcessId {
    pid_t pid = 0;
    std::uint64_t start = 0;  ///< as ProcessState has it

    auto operator<=>(const ProcessId&) const = default;
};

/// Sends the signal. False if the process has disappeared or that is not allowed; another process
/// that has its number now gets none.
bool send_signal(const ProcessId& process, int signal);

/// From now on orphaned descendants become children of this process.
void adopt_orphans();

}  // namespace perfgate::util

// SPDX-License-Identifier: Apache-2.0
// The processes of the machine that are visible to this one.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <vector>

namespace perfgate::model {

struct ListedProcess {
    pid_t pid = 0;
    std::filesystem::path folder;  ///< /proc/PID; disappears with the process
};

/// The processes that /proc lists now. Does not throw; a process that ends meanwhile may or may not
/// be in the list.
std::vector<ListedProcess> list_processes();

}  // namespace perfgate::model

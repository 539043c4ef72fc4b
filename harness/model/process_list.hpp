// SPDX-License-Identifier: Apache-2.0
// The processes of the machine that this one may see.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <vector>

namespace perfgate::model {

struct ListedProcess {
    pid_t pid = 0;
    std::filesystem::path folder;  ///< /proc/PID; gone when the process is
};

/// What /proc lists now. Throws nothing: a process that ends meanwhile is or is not in the list.
std::vector<ListedProcess> list_processes();

}  // namespace perfgate::model

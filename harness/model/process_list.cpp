// SPDX-License-Identifier: Apache-2.0
#include "model/process_list.hpp"

#include <charconv>
#include <string>
#include <system_error>

namespace perfgate::model {

std::vector<ListedProcess> list_processes() {
    std::vector<ListedProcess> processes;
    std::error_code error;
    for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename();
        pid_t pid = 0;
        const auto [rest, failed] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (failed != std::errc{} || rest != name.data() + name.size()) continue;
        processes.push_back({pid, entry->path()});
    }
    return processes;
}

}  // namespace perfgate::model

// SPDX-License-Identifier: Apache-2.0
#include "backend/host/host_environment.hpp"

#include <sched.h>
#include <sys/utsname.h>

#include <fstream>
#include <string>

#include "model/text.hpp"

namespace perfgate::backend {
namespace {

/// The value of the first line "key<separator>value" of a file, unquoted; empty if there is
/// none.
std::string first_value(const char* path, std::string_view key, char separator) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.rfind(key, 0) != 0) continue;
        const std::size_t at = line.find(separator);
        if (at == std::string::npos) continue;
        std::string value = line.substr(at + 1);
        const std::size_t begin = value.find_first_not_of(" \t\"");
        const std::size_t end = value.find_last_not_of(" \t\"");
        return begin == std::string::npos ? "" : value.substr(begin, end - begin + 1);
    }
    return "";
}

}  // namespace

void describe_host(model::Environment& environment) {
    environment.os = model::printable(first_value("/etc/os-release", "PRETTY_NAME", '='), 100);
    environment.cpu = model::printable(first_value("/proc/cpuinfo", "model name", ':'), 100);
    utsname name{};
    if (uname(&name) == 0) environment.kernel = model::printable(name.release, 100);
    if (environment.cpu.empty()) environment.cpu = model::printable(name.machine, 100);
    // The cores this process may use, which in a container are fewer than the machine has.
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) == 0) environment.cores = CPU_COUNT(&set);
}

}  // namespace perfgate::backend

// SPDX-License-Identifier: Apache-2.0
// The files that are mapped into a process.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "stacks/memory.hpp"

namespace perfgate::stacks {

struct Mapping {
    Address begin = 0, end = 0;
    std::string file;         ///< with the words that the kernel adds: " (deleted)"
    std::uint64_t inode = 0;  ///< of the file
    bool executable = false;
};

/// By address; none if the process has ended or may not be looked at.
std::vector<Mapping> mappings_of(pid_t process);
/// Where the file is mapped first.
std::optional<Address> first_of(const std::vector<Mapping>& mappings, const std::string& file);

}  // namespace perfgate::stacks

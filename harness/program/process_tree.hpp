// SPDX-License-Identifier: Apache-2.0
// The processes that belong to a program: those with its mark in their environment, which children
// inherit regardless of session or parent.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace perfgate::program {

/// "NAME=value": processes that were started with it, without zombies and this process. Processes
/// of other users are not visible.
std::vector<pid_t> processes_with(const std::string& mark);

/// Sends the signal to all of them and returns their number.
std::size_t signal_all(const std::string& mark, int signal);

}  // namespace perfgate::program

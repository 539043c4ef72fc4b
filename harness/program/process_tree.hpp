// SPDX-License-Identifier: Apache-2.0
// The processes that belong to a program: those whose environment has its mark, which children
// inherit, wherever in the system they are by now.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace perfgate::program {

/// "NAME=value": processes that were started with it, zombies and this one left out. Those of other
/// users cannot be seen.
std::vector<pid_t> processes_with(const std::string& mark);

/// Sends the signal to all of them. How many there were.
std::size_t signal_all(const std::string& mark, int signal);

}  // namespace perfgate::program

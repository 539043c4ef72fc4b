// SPDX-License-Identifier: Apache-2.0
// The processes that belong to a program, whatever they do about their session, their parents and
// their environment.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "util/process_list.hpp"

namespace perfgate::program {

struct Process {
    pid_t pid = 0;
    std::uint64_t start = 0;  ///< as in util::ProcessState

    bool operator==(const Process&) const = default;
};

/// From now on, processes whose parents have ended become our children, so that a ProcessTree finds
/// them. Call it before the program starts.
void adopt_orphans();

/// Looks for the processes of one program: its first process, their children, those that we have
/// adopted since it started, and those with its mark in their environment.
class ProcessTree {
  public:
    /// `root`: our child, not yet reaped. `mark`: "NAME=value" in its environment.
    ProcessTree(pid_t root, std::string mark);

    /// Those that live now, without zombies. Reaps adopted ones, never `root`.
    const std::vector<Process>& look();
    /// Sends the signal to those that live now.
    void signal_all(int signal);

  private:
    [[nodiscard]] bool belongs(const util::ListedProcess& listed, const util::ProcessState& state,
                               const std::vector<Process>& members) const;
    [[nodiscard]] bool is_adopted(const util::ListedProcess& listed,
                                  const util::ProcessState& state) const;

    Process root_;
    std::string mark_;
    std::string own_executable_;
    std::vector<Process> members_;
    std::vector<pid_t> others_;  ///< of other programs in the last look, in order
};

}  // namespace perfgate::program

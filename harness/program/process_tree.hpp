// SPDX-License-Identifier: Apache-2.0
// The processes that belong to a program, whatever they do about their session, their parents and
// their environment.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "util/process_list.hpp"

namespace perfgate::program {

using Process = util::ProcessId;

/// Looks for the processes of one program: its first process, their children, those that we have
/// adopted since it started, and those with its mark in their environment.
class ProcessTree {
  public:
    /// `root`: our child, not yet reaped. `mark`: "NAME=value" in its environment.
    ProcessTree(pid_t root, std::string mark);

    /// Those that live now, without zombies. Reaps adopted ones, however short they lived, never
    /// `root`.
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
    std::vector<Process> others_;  ///< of other programs in the last look, in order
};

}  // namespace perfgate::program

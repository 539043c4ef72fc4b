// SPDX-License-Identifier: Apache-2.0
// The text of a run's progress. Pure: progress.hpp prints it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "measure/item.hpp"

namespace perfgate::cli {

/// For a terminal's live line: "[3/20] time: gemm/naive[…], 2 min left".
/// `begun` is what was done before, by an earlier execution, and `elapsed_s` what this one took.
std::string live_text(const measure::Progress& progress, std::size_t begun, double elapsed_s);

/// Of a program that is being recorded: "recorded 12 s, 34.00 MiB".
std::string recording_text(double elapsed_s, std::uint64_t bytes);

/// For a log, which keeps every line: one for each group of cases (those of a suite that are of
/// one workload, and their counters), and one for each tenth of the run.
class ProgressLog {
  public:
    /// The line for this step; empty: nothing to add. With the time left, as live_text has it.
    std::string line(const measure::Progress& progress, std::size_t begun = 0,
                     double elapsed_s = 0);

  private:
    std::set<std::string> groups_;
    std::size_t tenth_ = 0;
};

}  // namespace perfgate::cli

// SPDX-License-Identifier: Apache-2.0
// Progress of long work on stderr: a live line on a terminal, a line per group of cases elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "cli/terminal/progress_text.hpp"
#include "measure/coordinator.hpp"

namespace perfgate::cli {

class ProgressLine {
  public:
    explicit ProgressLine(bool quiet);
    ~ProgressLine();  ///< leaves the live line empty
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(const measure::Progress& progress);

  private:
    bool quiet_, terminal_;
    std::size_t width_ = 80;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::optional<std::size_t> begun_;  ///< what was done at the first step
    ProgressLog log_;
};

}  // namespace perfgate::cli

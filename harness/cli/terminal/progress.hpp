// SPDX-License-Identifier: Apache-2.0
// Progress on stderr: a live line on a terminal, otherwise a line per group of cases.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "cli/terminal/progress_text.hpp"
#include "runner/choice.hpp"

namespace perfgate::cli {

class ProgressLine final : public runner::ProgressObserver {
  public:
    ProgressLine();

    void begin() override;
    void show(const measure::Progress& progress) override;
    void end() override;  ///< leaves the live line empty

  private:
    bool terminal_;
    bool shown_ = false;  ///< there is a live line
    std::size_t width_ = 80;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::optional<std::size_t> begun_;  ///< what was done at the first step
    ProgressLog log_;
};

}  // namespace perfgate::cli

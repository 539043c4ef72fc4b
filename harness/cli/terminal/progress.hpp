// SPDX-License-Identifier: Apache-2.0
// Progress on stderr: a live line on a terminal, otherwise a line per group of cases; of a program
// that is being recorded a few words in a corner.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "measure/item.hpp"
#include "runner/choice.hpp"

namespace perfgate::cli {

// The text of a run's progress. Pure: progress.hpp prints it.

/// For a terminal's live line: "[3/20] time: gemm/naive[…], 2 min left".
/// `begun` is what was done before, by an earlier execution, and `elapsed_s` what this one took.
std::string live_text(const measure::Progress& progress, std::size_t begun, double elapsed_s);

/// "recorded 12 s, 34.00 MiB", while a program is being recorded.
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

/// Standard error, if it is a terminal.
struct Terminal {
    Terminal();

    bool there;
    std::size_t width = 80;
};

class ProgressLine final : public runner::ProgressObserver {
  public:
    ProgressLine();

    void begin() override;
    void show(const measure::Progress& progress) override;
    void end() override;  ///< leaves the live line empty
    void say(const std::string& line) override;

  private:
    Terminal terminal_;
    bool shown_ = false;  ///< there is a live line
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::optional<std::size_t> begun_;  ///< what was done at the first step
    ProgressLog log_;
};

/// How far `profile` is. The program writes to the same terminal, wherever it likes: so this stays
/// at the right edge, leaves the cursor where it was, and shows nothing where there is no terminal.
class RecordingProgress {
  public:
    RecordingProgress() = default;
    RecordingProgress& operator=(RecordingProgress&&) = delete;  // nor copied
    ~RecordingProgress() { show(""); }

    void show(double elapsed_s, std::uint64_t bytes) { show(recording_text(elapsed_s, bytes)); }

  private:
    void show(const std::string& text);

    Terminal terminal_;
    std::size_t shown_ = 0;  ///< columns
};

}  // namespace perfgate::cli

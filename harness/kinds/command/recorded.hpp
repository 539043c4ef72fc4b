// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "activity/captured_part.hpp"
#include "activity/recording.hpp"
#include "activity/timeline.hpp"
#include "model/capture_range.hpp"

namespace perfgate::command {

/// A process of a recorded program, and which part of it counts: none if `part.missing` says so.
struct RecordedProcess {
    activity::Timeline timeline;
    activity::CapturedPart part;
};

/// The recordings of one run of a program, complete, and the part of them that counts.
class Recorded {
  public:
    explicit Recorded(std::vector<activity::Recording> recordings,
                      model::CaptureRange capture = {});
    Recorded& operator=(Recorded&&) = delete;  // nor copied

    [[nodiscard]] const std::deque<RecordedProcess>& processes() const { return processes_; }
    [[nodiscard]] const model::CaptureRange& capture() const { return capture_; }
    /// Why nothing of any process counts; empty if something does.
    [[nodiscard]] std::string missing() const;
    /// Of how many processes something counts.
    [[nodiscard]] std::size_t counted() const;
    /// How many of these did work on the device in the part that counts.
    [[nodiscard]] std::size_t working() const { return working_; }
    /// What a reader of the values should know: processes that do not count, and notes of parts.
    [[nodiscard]] std::vector<std::string> notes() const;
    /// " in the capture range (profiler_api)"; empty if the whole program counts.
    [[nodiscard]] std::string where() const;

  private:
    std::vector<activity::Recording> recordings_;
    model::CaptureRange capture_;
    std::deque<RecordedProcess> processes_;
    std::size_t working_ = 0;
};

}  // namespace perfgate::command

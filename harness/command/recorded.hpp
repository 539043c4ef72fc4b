// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <vector>

#include "activity/recording.hpp"
#include "activity/timeline.hpp"

namespace perfgate::command {

/// The recordings of one run of a program, complete, with their timelines.
class Recorded {
  public:
    explicit Recorded(std::vector<activity::Recording> recordings);
    Recorded(const Recorded&) = delete;
    Recorded& operator=(const Recorded&) = delete;

    [[nodiscard]] const std::deque<activity::Timeline>& timelines() const { return timelines_; }

  private:
    std::vector<activity::Recording> recordings_;
    std::deque<activity::Timeline> timelines_;
};

}  // namespace perfgate::command

// SPDX-License-Identifier: Apache-2.0
//
// Rest between launches that are timed. A GPU that works without pause reaches its power limit, and
// its clock then depends on the previous work; README.md shows the effect on times.
#pragma once

#include <chrono>

namespace perfgate::backend::cuda {

class Pace {
  public:
    /// With the device idle: waits for as long as it was busy since the last call (at first, since
    /// construction), 0.2 s at most. Short times are accumulated until they are worth a wait.
    void rest();

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point since_ = Clock::now();
    Clock::duration owed_{};
};

}  // namespace perfgate::backend::cuda

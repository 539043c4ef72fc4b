// SPDX-License-Identifier: Apache-2.0
// Launches on the host that take a known time. Arithmetic takes as long as a machine's other
// programs let it; a sleeper wakes within a fraction of a millisecond beside any of them, so that
// tests may judge its time.
#pragma once

#include <chrono>
#include <thread>

namespace pace {

/// From its making to its end `time` passes, unless what is done meanwhile takes longer.
class Lasting {
  public:
    explicit Lasting(std::chrono::nanoseconds time) : end_(Clock::now() + time) {}
    Lasting(const Lasting&) = delete;
    Lasting& operator=(const Lasting&) = delete;
    ~Lasting() { std::this_thread::sleep_until(end_); }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point end_;
};

}  // namespace pace

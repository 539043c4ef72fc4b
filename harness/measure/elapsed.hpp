// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace perfgate::measure {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Where the time goes: seconds by phase, one phase at a time.
class PhaseTimes {
  public:
    /// From now on, until the next call.
    void enter(std::string phase) {
        if (!phase_.empty()) seconds_[phase_] += seconds_since(since_);
        phase_ = std::move(phase);
        since_ = std::chrono::steady_clock::now();
    }
    const std::map<std::string, double>& seconds() const { return seconds_; }

  private:
    std::map<std::string, double> seconds_;
    std::string phase_;
    std::chrono::steady_clock::time_point since_;
};

}  // namespace perfgate::measure

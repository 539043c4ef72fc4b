// SPDX-License-Identifier: Apache-2.0
// Energy from repeated readings of a device's energy counter, which changes only at intervals of
// its own. Pure functions of readings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace perfgate::model {

/// The counter, and the host's steady clock before and after it was read.
struct EnergyReading {
    double before_s = 0, after_s = 0;
    std::uint64_t millijoules = 0;
};

/// From one update of the counter to a later one.
struct EnergySpan {
    double joules = 0;
    double seconds = 0;
    std::size_t updates = 0;  ///< of the counter, without the one that begins the span
    /// The most by which `joules / seconds` may be wrong, as a fraction: an update lies anywhere
    /// between two readings, and the counter has whole millijoules.
    double resolution = 0;

    double watts() const { return joules / seconds; }
    /// Mean time between two updates.
    double interval_s() const { return seconds / static_cast<double>(updates); }
};

/// Takes readings in the order of their times.
class EnergyCounter {
  public:
    void add(const EnergyReading& reading);

    /// An update was seen: the span has begun.
    bool begun() const { return first_.has_value(); }
    /// From the first update to the last. Nothing before the second one, or after a problem.
    std::optional<EnergySpan> span() const;
    /// Why the readings are of no use: the counter fell. Empty: they are.
    const std::string& problem() const { return problem_; }

  private:
    /// When the counter changed, to half of `gap_s`, and to what.
    struct Update {
        double at_s = 0, gap_s = 0;
        std::uint64_t millijoules = 0;
    };

    std::optional<EnergyReading> previous_;
    std::optional<Update> first_, last_;
    std::size_t updates_ = 0;
    std::string problem_;
};

/// A span with at least this much of everything describes a steady load.
struct EnergyGoal {
    double seconds = 1;
    std::size_t updates = 10;
    double resolution = 0.005;
};
bool reaches(const EnergySpan& span, const EnergyGoal& goal);

/// "61 updates of 20.0 ms, resolution 0.13 %".
std::string in_words(const EnergySpan& span);

}  // namespace perfgate::model

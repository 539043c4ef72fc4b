// SPDX-License-Identifier: Apache-2.0
#include "model/energy_counter.hpp"

#include <fmt/format.h>

namespace perfgate::model {

void EnergyCounter::add(const EnergyReading& reading) {
    if (!problem_.empty()) return;
    if (previous_ && reading.millijoules < previous_->millijoules) {
        problem_ = fmt::format("the energy counter fell from {} to {} mJ", previous_->millijoules,
                               reading.millijoules);
        return;
    }
    if (previous_ && reading.millijoules > previous_->millijoules) {
        last_ = Update{(previous_->before_s + reading.after_s) / 2,
                       reading.after_s - previous_->before_s, reading.millijoules};
        if (first_) {
            ++updates_;
        } else {
            first_ = last_;
        }
    }
    previous_ = reading;
}

std::optional<EnergySpan> EnergyCounter::span() const {
    if (updates_ == 0 || !problem_.empty()) return std::nullopt;
    EnergySpan span;
    span.joules = static_cast<double>(last_->millijoules - first_->millijoules) / 1000;
    span.seconds = last_->at_s - first_->at_s;
    span.updates = updates_;
    if (!(span.seconds > 0)) return std::nullopt;
    constexpr double quantum_j = 0.001;
    span.resolution = (first_->gap_s + last_->gap_s) / 2 / span.seconds + quantum_j / span.joules;
    return span;
}

bool reaches(const EnergySpan& span, const EnergyGoal& goal) {
    return span.seconds >= goal.seconds && span.updates >= goal.updates &&
           span.resolution <= goal.resolution;
}

std::string in_words(const EnergySpan& span) {
    return fmt::format("{} updates of {:.1f} ms, resolution {:.2g} %", span.updates,
                       span.interval_s() * 1000, span.resolution * 100);
}

}  // namespace perfgate::model

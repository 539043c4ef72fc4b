// SPDX-License-Identifier: Apache-2.0
// When to stop sampling. Pure functions of numbers.
#pragma once

#include <span>

namespace perfgate::measure {

/// Bounds of one kind of time in one process.
struct SamplingGoal {
    double precision = 0.005;    ///< half width of the median's 95 % interval, as a fraction
    double time_budget_s = 0.1;  ///< bound on the time spent, flushes included
    int min_samples = 10;        ///< below this, no interval of the median is useful
    int least_samples = 3;       ///< if min_samples would cost more than the budget
    int max_samples = 300;
};

/// How many more samples to take after `samples` that took `spent_s` in all; 0: stop. Chunks grow,
/// so that the decision is made only a few times.
int next_samples(std::span<const double> samples, double spent_s, const SamplingGoal& goal);

}  // namespace perfgate::measure

// SPDX-License-Identifier: Apache-2.0
#include "measure/sampling.hpp"

#include <algorithm>

#include "stats/quantiles.hpp"

namespace perfgate::measure {

int next_samples(std::span<const double> samples, double spent_s, const SamplingGoal& goal) {
    const int taken = static_cast<int>(samples.size());
    if (taken < goal.least_samples) return goal.least_samples - taken;
    if (taken < goal.min_samples) {
        const double each_s = spent_s / taken;
        const double affordable = (goal.time_budget_s - spent_s) / std::max(each_s, 1e-12);
        return std::clamp(static_cast<int>(std::min<double>(affordable, goal.min_samples)), 0,
                          goal.min_samples - taken);
    }
    if (taken >= goal.max_samples || spent_s >= goal.time_budget_s) return 0;
    const auto half_width = stats::median_relative_half_width(samples);
    if (half_width && *half_width <= goal.precision) return 0;
    // As many again, but no more than the budget allows.
    const double seconds_each = spent_s / taken;
    const double affordable =
        seconds_each > 0 ? (goal.time_budget_s - spent_s) / seconds_each : goal.max_samples;
    const int wanted = std::min(taken, goal.max_samples - taken);
    return std::clamp(static_cast<int>(std::min<double>(wanted, affordable)), 1, wanted);
}

}  // namespace perfgate::measure

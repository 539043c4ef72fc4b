// SPDX-License-Identifier: Apache-2.0
#include "gate/rule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/quantiles.hpp"

namespace perfgate::gate {

namespace {

using model::Direction;
using model::Verdict;

/// The samples decide where there are any: `value` may have been edited by hand. NaN if one of them
/// is not a number.
double median_of(const model::MetricSeries& series) {
    const std::vector<double> samples = model::all_samples(series);
    if (samples.empty()) return series.value;
    const bool finite = std::all_of(samples.begin(), samples.end(),
                                    [](double sample) { return std::isfinite(sample); });
    return finite ? stats::median(samples) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Change change_between(const Comparison& comparison, double baseline, double measured) {
    const Direction direction = comparison.definition->direction;
    const double rise = measured - baseline;
    Change change;
    change.good_way =
        (direction == Direction::lower && rise < 0) || (direction == Direction::higher && rise > 0);
    const model::Tolerance& tolerance = comparison.tolerance;
    const double fraction =
        change.good_way ? tolerance.better.value_or(tolerance.worse) : tolerance.worse;
    change.size = std::fabs(rise);
    change.allowed = std::max((fraction + comparison.leeway) * std::fabs(baseline), tolerance.abs);
    const double rounding =
        change.allowed == 0 ? 0 : 1e-12 * std::max(std::fabs(baseline), std::fabs(measured));
    change.counts = change.size > change.allowed + rounding;
    return change;
}

Judgement judge_medians(const Comparison& comparison) {
    Judgement judgement{Verdict::pass, median_of(*comparison.baseline),
                        median_of(*comparison.measured)};
    const double baseline = judgement.baseline;
    const double measured = judgement.measured;
    if (!std::isfinite(baseline) || !std::isfinite(measured)) {
        judgement.verdict = Verdict::invalid;
        return judgement;
    }

    const Change change = change_between(comparison, baseline, measured);
    if (change.counts) judgement.verdict = change.good_way ? Verdict::improved : Verdict::regressed;
    return judgement;
}

}  // namespace perfgate::gate

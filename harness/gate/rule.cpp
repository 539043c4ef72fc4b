// SPDX-License-Identifier: Apache-2.0
#include "gate/rule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gate/series.hpp"
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

bool is_good(Direction direction, bool rises) {
    return direction == (rises ? Direction::higher : Direction::lower);
}

double fraction_of(const Comparison& comparison, bool good_way) {
    const model::Tolerance& tolerance = comparison.tolerance;
    return (good_way ? tolerance.better.value_or(tolerance.worse) : tolerance.worse) +
           comparison.leeway;
}

double allowed_of(const Comparison& comparison, double fraction, double baseline) {
    return std::max(fraction * std::fabs(baseline), comparison.tolerance.abs);
}

}  // namespace

Allowance allowance_of(const Comparison& comparison, double baseline, bool rises) {
    const double fraction =
        fraction_of(comparison, is_good(comparison.definition->direction, rises));
    const double allowed = allowed_of(comparison, fraction, baseline);
    const double factor = rises ? 1 + fraction : 1 - fraction;
    if (baseline > 0 && factor > 0 && fraction * baseline >= comparison.tolerance.abs) {
        return {factor, 0};
    }
    return {1, rises ? allowed : -allowed};
}

double share_by_abs(const model::MetricDefinition& definition, const model::MetricSeries& baseline,
                    const model::Tolerance& tolerance) {
    const double size = std::fabs(estimate_of(baseline));
    if (definition.unit == "%" || !(size > 0) || tolerance.worse == 0) return 0;
    const double share = tolerance.abs / size;
    return std::isfinite(share) && share > tolerance.worse ? share : 0;
}

bool allows_nothing_left(const Comparison& comparison, double baseline) {
    return comparison.definition->direction == Direction::higher && baseline > 0 &&
           change_between(comparison, baseline, 0).allowed >= baseline;
}

Change change_between(const Comparison& comparison, double baseline, double measured) {
    const double rise = measured - baseline;
    Change change;
    change.good_way = rise != 0 && is_good(comparison.definition->direction, rise > 0);
    change.size = std::fabs(rise);
    change.allowed = allowed_of(comparison, fraction_of(comparison, change.good_way), baseline);
    const double rounding =
        change.allowed == 0 ? 0 : 1e-12 * std::max(std::fabs(baseline), std::fabs(measured));
    change.counts = change.size > change.allowed + rounding;
    return change;
}

void judge_by_tolerance(const Comparison& comparison, Judgement& judgement) {
    const Change change = change_between(comparison, judgement.baseline, judgement.measured);
    judgement.verdict = !change.counts    ? Verdict::pass
                        : change.good_way ? Verdict::improved
                                          : Verdict::regressed;
}

Judgement judge_medians(const Comparison& comparison) {
    Judgement judgement{Verdict::pass, median_of(*comparison.baseline),
                        median_of(*comparison.measured)};
    if (std::isfinite(judgement.baseline) && std::isfinite(judgement.measured)) {
        judge_by_tolerance(comparison, judgement);
    } else {
        judgement.verdict = Verdict::invalid;
    }
    return judgement;
}

}  // namespace perfgate::gate

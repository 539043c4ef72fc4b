// SPDX-License-Identifier: Apache-2.0
// Location and spread of batches: one number per process, and the spread between processes.
//
// All throw std::invalid_argument for values that are not finite and for no values.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace perfgate::stats {

/// The mean of what is left when the floor(n · fraction) smallest and as many of the largest are
/// dropped. `fraction` is in [0, 0.5). Ignores outliers like the median. For two modes it follows
/// their proportion, while the median jumps from one to the other.
double trimmed_mean(std::span<const double> samples, double fraction);

/// Pooled standard deviation of several groups around their own means.
struct PooledSpread {
    double deviation = 0;
    double df = 0;  ///< Σ (size - 1) over the groups; 0: the spread is unknown

    bool operator==(const PooledSpread&) const = default;
};
PooledSpread pooled_spread(std::span<const std::vector<double>> groups);

/// The spread combined with a prior, which counts as `prior.df` further degrees of freedom, so that
/// a few values that agree by chance do not yield a spread of zero.
PooledSpread moderated(const PooledSpread& measured, const PooledSpread& prior);

/// What the spreads of items of one kind have in common, to moderate() each with: their usual
/// deviation, and with how many degrees of freedom their true deviations vary around it, few if
/// they are unlike (the empirical Bayes method of Smyth, 2004, from the logarithms of the
/// variances). The dispersion counts as larger by one standard error, so that a few items that are
/// alike by chance weigh little. No degrees of freedom with fewer than two items. Deviations and
/// degrees of freedom are above 0.
PooledSpread common_spread(std::span<const PooledSpread> items);

/// The shift, in standard deviations, that a one-sided comparison of the means of n and m values at
/// this level detects with this power: (t(level) + t(1 - power)) · √(1/n + 1/m).
double detectable_shift(std::size_t n, std::size_t m, double df, double level, double power);

}  // namespace perfgate::stats

// SPDX-License-Identifier: Apache-2.0
// The location of samples and the precision of their median. Pure functions; samples may be in any
// order.
//
// All throw std::invalid_argument for no samples and for samples that are not finite: a caller that
// may have none checks first. A result that needs more samples than there are is absent.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace perfgate::stats {

/// The quantile at `probability` in [0, 1], linear between the order statistics around rank
/// (n - 1) · probability: type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages"
/// (1996), the default of R and NumPy.
double quantile(std::span<const double> samples, double probability);

/// quantile(samples, 0.5): the mean of the two middle samples if their number is even.
double median(std::span<const double> samples);

struct Interval {
    double low = 0, high = 0;

    bool operator==(const Interval&) const = default;
};

/// Contains the median of the samples' population with at least this probability, whatever its
/// distribution: the order statistics of ranks k and n + 1 - k (from 1), with the largest k for
/// which P(Binomial(n, 1/2) < k) <= (1 - confidence) / 2. Assumes independent samples. Absent if
/// there are too few: 95 % takes 6 samples. `confidence` is in (0, 1).
std::optional<Interval> median_interval(std::span<const double> samples, double confidence = 0.95);

/// The samples, or of more than `most` as many, evenly spaced.
std::vector<double> thinned(std::span<const double> samples, std::size_t most);

/// Half the interval's width as a fraction of the median's magnitude: the precision of the median.
/// Absent if there is no interval or the median is 0.
std::optional<double> median_relative_half_width(std::span<const double> samples,
                                                 double confidence = 0.95);

}  // namespace perfgate::stats

// SPDX-License-Identifier: Apache-2.0
// The distributions that the tests use: normal, Student, Fisher, binomial. Tails are computed
// directly, so that a probability of 1e-12 is accurate. Pure functions.
//
// All throw std::invalid_argument outside their domain: probabilities in (0, 1), degrees of freedom
// above 0, arguments that are not NaN.
#pragma once

#include <cstddef>

namespace perfgate::stats {

/// P(Z > z) of the standard normal distribution.
double normal_upper_tail(double z);

/// The z with P(Z > z) = probability.
double normal_upper_quantile(double probability);

/// P(T > t) of Student's distribution with `df` degrees of freedom, which need not be whole.
double student_upper_tail(double t, double df);

/// The t with P(T > t) = probability.
double student_upper_quantile(double probability, double df);

/// The F with P(X > F) = probability for Fisher's distribution: of the ratio of two variances with
/// so many degrees of freedom each.
double fisher_upper_quantile(double probability, double df1, double df2);

/// P(X <= successes) of the binomial distribution.
double binomial_lower_tail(std::size_t successes, std::size_t trials, double probability);

/// The probability of success that is at least so large with this confidence (Clopper and Pearson).
double binomial_lower_bound(std::size_t successes, std::size_t trials, double confidence);

}  // namespace perfgate::stats

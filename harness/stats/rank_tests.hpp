// SPDX-License-Identifier: Apache-2.0
// The rank-sum test of Wilcoxon, Mann and Whitney, exact, ties included: tests whether one group's
// values are larger than another's without assuming a distribution. If all values come from one
// source, every division of them into the two groups is equally likely; the test counts the
// divisions that are at least as extreme.
//
// All throw std::invalid_argument for an empty group and for values that are not finite.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "stats/quantiles.hpp"

namespace perfgate::stats {

/// P(the rank sum of `group` is at least what it is), given the values. Exact up to about a hundred
/// values in total; beyond that the normal approximation with corrections for ties and continuity,
/// whose far tail is heavier.
double rank_sum_greater(std::span<const double> others, std::span<const double> group);

/// The smallest probability that the test can return, 1 / C(n + m, m): at a lower level it can
/// never reject.
double rank_sum_least(std::size_t others, std::size_t group);

/// P(the `most` largest of others + group values are all of the group), if all come from one
/// source: the precedence test of Nelson against the largest of the others.
double precedence_greater(std::size_t others, std::size_t group, std::size_t most);

/// The least number of pairs, of one value of each group, in which the group's value must be the
/// larger one for rank_sum_greater() to be at most `level`; without ties. Absent if it never is.
std::optional<std::size_t> rank_sum_critical(std::size_t others, std::size_t group, double level);

/// Contains, with at least this probability, the shift by which the group's source lies over the
/// others': the test inverted (Moses), between two of the ordered differences of all pairs. It
/// assumes that both sources have the same shape; ties make it wider, never narrower. Absent where
/// there are too few values for the confidence. Of more than 1000 values 1000 are used.
std::optional<Interval> rank_sum_interval(std::span<const double> others,
                                          std::span<const double> group, double confidence);

// Wilcoxon's signed-rank test, exact, ties included: tests whether the differences of pairs are
// above zero, assuming only that they are symmetric. If they are centred at zero, both signs of
// each difference are equally likely; the test counts the choices of signs that are at least as
// extreme.

/// P(the ranks of the positive differences add up to at least what they do), given the sizes of the
/// differences. Differences of zero carry no information and are left out; 1 if there are no
/// others. Exact up to 200 differences; beyond that the normal approximation with corrections for
/// ties and continuity. Throws std::invalid_argument for no difference and for one that is not
/// finite.
double signed_rank_greater(std::span<const double> differences);

/// The smallest probability that the test can return for this many pairs, 1 / 2^n: at a lower level
/// it can never reject.
double signed_rank_least(std::size_t pairs);

/// Contains, with at least this probability, the point around which the differences are symmetric:
/// the test inverted (Tukey), between two of the ordered means of all pairs of differences. Absent
/// where there are too few for the confidence. Of more than 1000 differences 1000 are used.
std::optional<Interval> signed_rank_interval(std::span<const double> differences,
                                             double confidence);

}  // namespace perfgate::stats

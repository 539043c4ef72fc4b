// SPDX-License-Identifier: Apache-2.0
// Wilcoxon's signed-rank test, exact, ties included: tests whether the differences of pairs are
// above zero, assuming only that they are symmetric. If they are centred at zero, both signs of
// each difference are equally likely; the test counts the choices of signs that are at least as
// extreme.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "stats/quantiles.hpp"

namespace perfgate::stats {

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

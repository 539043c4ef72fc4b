// SPDX-License-Identifier: Apache-2.0
// Wilcoxon's signed-rank test, exact, ties included: whether differences of pairs lie over zero can
// be told where only their symmetry is known. Under the hypothesis that they lie around zero, each
// difference is as likely to have the one sign as the other; the test counts the choices of signs
// that look at least as extreme.
#pragma once

#include <cstddef>
#include <span>

namespace perfgate::stats {

/// P(the ranks of the positive differences add up to at least what they do), given the sizes of the
/// differences. Differences of zero say nothing and are left out; 1 if no other is there. Exact
/// up to 200 differences, the normal approximation with corrections for ties and continuity beyond.
/// Throws std::invalid_argument for no difference and for one that is not finite.
double signed_rank_greater(std::span<const double> differences);

/// The least probability that the test can give for so many pairs, 1 / 2^n: with less than that as
/// its level the test is blind.
double signed_rank_least(std::size_t pairs);

}  // namespace perfgate::stats

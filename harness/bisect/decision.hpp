// SPDX-License-Identifier: Apache-2.0
// What a step says of a commit: whether its pairs of processes show it to be slow, or not to be.
// Both need the paired rule's test at the policy's level; what is not shown is undecided.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bisect/search.hpp"
#include "model/metric.hpp"

namespace perfgate::bisect {

/// How often a step is judged: at first with the fewest pairs that can decide at its level, then
/// with twice as many more, then with twice that number more.
inline constexpr std::size_t looks = 3;
std::size_t first_pairs(double false_alarms);

/// By how much processes differ from their median: the mean of their logarithms' distances, without
/// the largest tenth. 0 if a value has no logarithm.
double spread_of(std::vector<double> values);

/// Whether the commit's processes differ far more than those of GOOD and of BAD, and by enough that
/// some may be on either side of the boundary: they are not all slow, and not all fast.
bool scattered(const Target& target, const model::MetricSeries& good,
               const model::MetricSeries& commit);

struct Decided {
    Decision decision = Decision::undecided;
    std::string why = {};   ///< of what more pairs of this kind would not decide
    bool is_final = false;  ///< more pairs change nothing
};

/// `good` and `commit` are the target's series, measured back to back. The boundary is half way
/// between GOOD and BAD, as a factor where both are positive. `false_alarms` is the probability, at
/// most, of deciding for the wrong side of the boundary in all looks of one step. Times that are
/// scattered(), or beyond three times the change from GOOD to BAD, are undecided: what made a
/// commit so slow was undone before BAD, and may be the change that is searched or another.
Decided decide(const model::MetricDefinition& definition, const Target& target,
               const model::MetricSeries& good, const model::MetricSeries& commit,
               double false_alarms);

}  // namespace perfgate::bisect

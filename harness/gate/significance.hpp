// SPDX-License-Identifier: Apache-2.0
// What the rules that judge by spread share, be the processes paired or not: what is known of a
// spread before it is measured, the levels of the tests, and the way from a probability to a
// judgement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "gate/rule.hpp"
#include "stats/spread.hpp"

namespace perfgate::gate {

/// Of the processes, for the size of the change. The tests use them all.
inline constexpr double trimmed_processes = 0.2;
/// Degrees of freedom that the knowledge of a class's spread is worth.
inline constexpr double prior_df = 8;

bool in_use(const model::Batch& batch);
/// One value for the batch's process; NaN where a sample is not finite.
double batch_value(const model::Batch& batch);

/// A spread that is never taken for smaller than `measured`, nor, with few processes, for much
/// smaller than what is known of the metric's class. `size` is the metric's; `factor` is 1 for the
/// spread of processes, √2 for that of differences of two.
stats::PooledSpread cautious_spread(const model::MetricDefinition& definition,
                                    const stats::PooledSpread& measured, double size,
                                    double factor);

/// Levels and rounds, as they are for each of a run's tests.
struct Levels {
    double single = 0;  ///< one test's share of the budget
    std::int64_t rounds = 0;

    Levels(double false_alarms, std::size_t tests, std::int64_t of_rounds);
    /// Each round in which a verdict may fall has its share of half of it; without rounds there is
    /// one look.
    double at_round(std::int64_t round) const;
};

/// stats::detectable_shift at the power of a step. Cases of a run mostly ask the same.
class DetectableShifts {
  public:
    double operator()(std::size_t n, std::size_t m, double df, double level);

  private:
    std::map<std::tuple<std::size_t, std::size_t, double, double>, double> known_;
};

/// What the least change that is seen depends on.
struct Resolution {
    std::size_t against = 0;       ///< processes of the baseline
    std::size_t first = 1;         ///< measured processes before any case is flagged
    std::size_t last = 1;          ///< those on which a verdict would rest
    bool ranks = false;            ///< a test of ranks reaches the level with them
    stats::PooledSpread measured;  ///< the spread as it was seen
    stats::PooledSpread cautious;
    double df_at_last = 0;            ///< of the measured spread with so many processes
    std::vector<double> differences;  ///< between processes of the same code, as they were seen;
                                      ///< empty: nothing is known but their spread
    double drift = 0;                 ///< how far a run may lie off the baseline's for no reason
};

/// How many processes a verdict would rest on.
std::size_t processes_at_verdict(const Levels& levels, std::size_t measured);

/// The level of the test that decides, one side's.
double deciding_level(const Comparison& comparison, const Levels& levels);

/// Sets `minimum_detectable_change` and `tolerance_is_finer`.
void add_resolution(const Comparison& comparison, const Resolution& resolution,
                    const Levels& levels, DetectableShifts& shifts, Judgement& judgement);

/// P(the measured lie so far to this side by more than `leeway` | they do not), for a test that is
/// chosen for this level.
using Probability = std::function<double(bool rises, double leeway, double level)>;

/// Verdict and probability of a judgement that has its values. `last_round` is the measured
/// batches'.
void judge_by_probability(const Comparison& comparison, double drift, std::int64_t last_round,
                          const Levels& levels, const Probability& probability,
                          Judgement& judgement);

/// A first round never confirms where another may be measured; a later one does. Rounds measure
/// times alone: what counters say stays as it is.
bool worth_another_round(const Comparison& comparison, const Judgement& judgement,
                         std::int64_t last_round, std::int64_t rounds);

}  // namespace perfgate::gate

// SPDX-License-Identifier: Apache-2.0
// What the rules that judge by spread share, whether processes are paired or not: the spread that
// is assumed before measuring, the levels of the tests, and the step from a probability to a
// judgement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "gate/rule.hpp"
#include "gate/series.hpp"
#include "stats/quantiles.hpp"
#include "stats/spread.hpp"

namespace perfgate::gate {

/// The weight, in degrees of freedom, of the spread that is assumed for a class.
inline constexpr double prior_df = 8;

/// Times are judged by ranks alone, within the budget of false alarms. Counters are not: a run has
/// one value of them, with which no rank test reaches a level.
bool is_time(const Comparison& comparison);

/// A spread that is at least `measured` and, with few processes, not much smaller than what is
/// known for the metric's class. `size` is the metric's value; `factor` is 1 for the spread of
/// processes, √2 for that of differences of two.
stats::PooledSpread cautious_spread(const model::MetricDefinition& definition,
                                    const stats::PooledSpread& measured, double size,
                                    double factor);

/// Levels and rounds, the same for each test of a run. What may end in a false alarm shares one
/// test's share of the budget: the first look a fifth, later rounds seven twentieths together, what
/// sessions and boards differ by two fifths, slow processes the last twentieth. Pairs have no
/// drift, and their rounds its part.
struct Levels {
    double single = 0;  ///< one test's share of the budget
    std::int64_t rounds = 0;

    Levels(double false_alarms, std::size_t tests, std::int64_t of_rounds);
    /// The level of the test by ranks. At round 0, where no other round follows, what is not for
    /// slow processes, and for drift if there may be some.
    double at_round(std::int64_t round, bool drifts = false) const;
    /// At round 0, if a round may follow: a time that reaches it needs none.
    double at_first_look() const;
    /// The level for what no test of processes models: that sessions and boards differ.
    double for_drift() const;
    /// The level of the precedence test, at each round.
    double for_slow_processes() const;
    /// The levels of this comparison: later rounds measure times only.
    Levels of(const Comparison& comparison, Processes processes = Processes::alone) const;

  private:
    bool times_ = true;
    bool pairs_ = false;
};

/// stats::detectable_shift at the power of a step, cached: most cases of a run need the same
/// values.
class DetectableShifts {
  public:
    double operator()(std::size_t n, std::size_t m, double df, double level);

  private:
    std::map<std::tuple<std::size_t, std::size_t, double, double>, double> known_;
};

/// What the minimum detectable change depends on.
struct Resolution {
    std::size_t against = 0;       ///< processes of the baseline
    std::size_t first = 1;         ///< measured processes of the first round
    std::size_t last = 1;          ///< those that would decide a verdict
    bool ranks = false;            ///< a rank test can reach the level with them
    stats::PooledSpread measured;  ///< the observed spread
    stats::PooledSpread cautious;
    double df_at_last = 0;     ///< of the measured spread with so many processes
    std::vector<double> logs;  ///< of the baseline's times; empty: only their spread is known
    double drift = 0;          ///< how far a run may differ from the baseline's without a cause
    bool paired = false;       ///< the spread is that of pairs' differences
};

/// How many processes would decide a verdict.
std::size_t processes_at_verdict(const Levels& levels, std::size_t measured, Processes processes);

/// The one-sided level of the deciding test.
double deciding_level(const Comparison& comparison, const Levels& levels);

/// Sets `minimum_detectable_change` and `tolerance_is_finer`.
void add_resolution(const Comparison& comparison, const Resolution& resolution,
                    const Levels& levels, DetectableShifts& shifts, Judgement& judgement);

inline constexpr double interval_level = 0.95;

/// Logarithms if all values of both groups are positive, because slowdowns multiply.
struct Scale {
    bool logarithmic = false;

    Scale(const std::vector<double>& some, const std::vector<double>& others);
    std::vector<double> of(std::vector<double> values) const;
};

/// Sets `interval` and `shown`. `shift` contains the change on this scale, at interval_level;
/// absent: there are too few processes. A run may be off by `drift` without a cause, and a device
/// time by a tick of its clock, so the interval is wider by these.
void add_interval(const Comparison& comparison, const std::optional<stats::Interval>& shift,
                  const Scale& scale, double drift, Judgement& judgement);

/// What the processes say of a change.
struct Test {
    /// The one-sided probability of measuring values so far to this side if the change is just what
    /// is allowed; nothing if there are too few processes for the test to reach this level.
    std::function<std::optional<double>(bool rises, const Allowance& allowed, double level)>
        probability;
    /// Whether all processes are farther to this side than the allowed change would make them.
    std::function<bool(bool rises, const Allowance& allowed)> all_beyond;
    /// The standard error of the logarithm of the change, and that error's degrees of freedom.
    stats::PooledSpread error;
};

/// The standard error of a difference of logarithms between which processes spread so much, never
/// less than a few processes can show; `per_process` is its variance in units of theirs.
stats::PooledSpread cautious_error(const stats::PooledSpread& measured, double per_process);

/// Verdict and probability of a judgement whose values are set. `last_round` is that of the
/// measured batches.
void judge_by_test(const Comparison& comparison, double drift, std::int64_t last_round,
                   const Levels& levels, const Test& test, Judgement& judgement);

/// What exceeds the tolerance by processes of which some are slower than all of the baseline's,
/// whatever their mean: sets `slow_processes`, and the verdict where the deciding processes, so
/// many of `measured` against `baseline`, are improbable at the precedence test's level. A time
/// with a slow process is not shown.
void judge_slow_processes(const Comparison& comparison, std::size_t baseline, std::size_t measured,
                          std::size_t slow, std::int64_t last_round, const Levels& levels,
                          Judgement& judgement);

/// The first round confirms at its own level alone if another may be measured; a later one does at
/// any. Later rounds measure only times, so counters are decided in the first.
bool worth_another_round(const Comparison& comparison, const Judgement& judgement,
                         std::int64_t last_round, std::int64_t rounds);

}  // namespace perfgate::gate

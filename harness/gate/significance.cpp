// SPDX-License-Identifier: Apache-2.0
#include "gate/significance.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "stats/distributions.hpp"
#include "stats/drift.hpp"
#include "stats/rank_tests.hpp"

namespace perfgate::gate {

namespace {

using model::Direction;
using model::MetricClass;
using model::Verdict;

/// A wrong flag costs GPU time, not reliability: one in twenty is cheap.
constexpr double flagging_level = 0.05;
// The shares of a test's budget; see Levels.
constexpr double spent_at_first_look = 0.2;
constexpr double spent_in_rounds = 0.35;
constexpr double spent_on_drift = 0.4;
constexpr double spent_on_slow_processes = 0.05;
static_assert(spent_at_first_look + spent_in_rounds + spent_on_drift + spent_on_slow_processes <=
              1 + 1e-9);
/// Each of the two steps to a verdict, flagging and confirmation, finds the minimum detectable
/// change with this probability, so that both do in nine of ten cases.
constexpr double power_of_a_step = 0.975;
/// The rank-sum test needs a change larger by this factor than Student's test to find it as often,
/// and its far tail is coarse with few processes.
constexpr double rank_margin = 1.1;

/// A baseline has few processes and may lack the extremes of their distribution, so a shift that
/// its own processes need is taken larger by 1 plus this over their number: 1.2 with 20 (results:
/// tests/bench/README.md).
constexpr double recorded_margin = 4;
/// Timestamps of GPUs advance in steps of 32 ns: a change may be read as up to one step less.
constexpr double clock_tick_ns = 32;

/// The spread between processes that is assumed before measuring any: relative and absolute parts,
/// and its weight in degrees of freedom. Timing: of 496 cases over 20 µs on five boards, three in
/// four spread less (tests/bench/README.md).
struct Prior {
    double relative;
    double absolute_ns;
};

Prior prior_of(MetricClass metric_class) {
    switch (metric_class) {
        case MetricClass::timing:
            return {0.005, 200};
        case MetricClass::counter:
            return {0.01, 0};
        case MetricClass::exact:
            return {0.001, 0};
    }
    return {0.01, 0};
}

/// A deviation of logarithms of times that five recorded kernels in six do not reach.
constexpr stats::PooledSpread usual{.deviation = 0.007, .df = 4};

/// The standard deviation of these values. No value counts as farther from the median than five
/// standard deviations of the values in the middle, so that one outlier raises it a little. A few
/// values can agree by chance and lack the modes and outliers that more would show, so it is
/// combined with a deviation that five recorded kernels in six do not reach, at four degrees of
/// freedom (results: tests/bench/README.md).
double robust_deviation(std::span<const double> values) {
    constexpr double farthest = 5;
    const double df = std::max(1.0, static_cast<double>(values.size()) - 1);
    const auto cautious = [&](double deviation) {
        return std::max(deviation, stats::moderated({deviation, df}, usual).deviation);
    };
    const double middle = stats::median(values);
    double squares = 0;
    for (const double value :
         stats::winsorised({values.begin(), values.end()}, farthest, cautious(0))) {
        squares += (value - middle) * (value - middle);
    }
    return cautious(std::sqrt(squares / df));
}

/// The probability that `critical` pairs are in favour of `measured` further values if these are
/// like `sorted` and larger by `shift`. The count's mean and variance are those of the recorded
/// values, whatever their distribution, each without itself. The extremes count twice: a mode that
/// showed once in 20 processes may have twice that share.
double power_of_ranks(const std::vector<double>& sorted, double shift, std::size_t measured,
                      std::size_t critical) {
    const auto n = static_cast<double>(sorted.size());
    const auto m = static_cast<double>(measured);
    double sum = 0;
    double of_measured = 0;  // squares: how many recorded values are below each raised one
    double of_recorded = 0;  // squares: how many raised values are above each recorded one
    std::size_t below = 0;
    std::size_t not_above = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        while (below < sorted.size() && sorted[below] < sorted[i] + shift) ++below;
        while (not_above < sorted.size() && sorted[not_above] + shift <= sorted[i]) ++not_above;
        const double over = (static_cast<double>(below) - 1) / (n - 1);
        const double under = (n - static_cast<double>(not_above) - 1) / (n - 1);
        const double weight = i == 0 || i + 1 == sorted.size() ? 2 : 1;
        sum += weight * over;
        of_measured += weight * over * over;
        of_recorded += under * under;
    }
    const double share = sum / (n + 2);
    const double variance =
        n * m *
        (share * (1 - share) + (m - 1) * std::max(0.0, of_recorded / n - share * share) +
         (n - 1) * std::max(0.0, of_measured / (n + 2) - share * share));
    const double surplus = n * m * share + 0.5 - static_cast<double>(critical);
    if (variance <= 0) return surplus > 0 ? 1 : 0;
    return stats::normal_upper_tail(-surplus / std::sqrt(variance));
}

/// The shift, at least `least`, with which these values reach the power of a step.
double shift_for_power(const std::vector<double>& sorted, double least, std::size_t measured,
                       std::size_t critical) {
    const auto enough = [&](double shift) {
        return power_of_ranks(sorted, shift, measured, critical) >= power_of_a_step;
    };
    if (enough(least)) return least;
    double low = least;
    double high = std::max(least, sorted.back() - sorted.front()) * (1 + 1e-9);
    constexpr int steps = 16;
    for (int step = 0; step < steps; ++step) {
        const double middle = (low + high) / 2;
        (enough(middle) ? high : low) = middle;
    }
    return high;
}

/// By how much the logarithms of times must rise for a rank test of so many to find it.
double hidden_shift(const std::vector<double>& logs, double deviation, std::size_t measured,
                    double level, DetectableShifts& shifts) {
    const std::size_t n = logs.size();
    const double normal = rank_margin * deviation *
                          shifts(n, measured, std::max(1.0, static_cast<double>(n) - 1), level);
    const auto critical = stats::rank_sum_critical(n, measured, level);
    if (!critical || n < 2) return normal;
    const double margin = 1 + recorded_margin / static_cast<double>(n);
    return std::max(normal, margin * shift_for_power(logs, normal / margin, measured, *critical));
}

}  // namespace

stats::PooledSpread cautious_spread(const model::MetricDefinition& definition,
                                    const stats::PooledSpread& measured, double size,
                                    double factor) {
    const Prior prior = prior_of(definition.metric_class);
    const double absolute = definition.unit == "ns" ? prior.absolute_ns : 0;
    const double known = std::hypot(prior.relative * std::fabs(size), absolute);
    stats::PooledSpread spread = stats::moderated(measured, {factor * known, prior_df});
    spread.deviation = std::max(spread.deviation, measured.deviation);
    return spread;
}

bool is_time(const Comparison& comparison) {
    return comparison.definition->metric_class == MetricClass::timing;
}

Levels::Levels(double false_alarms, std::size_t tests, std::int64_t of_rounds)
    : single(false_alarms / static_cast<double>(std::max<std::size_t>(tests, 1))),
      rounds(of_rounds) {}

double Levels::at_round(std::int64_t round, bool drifts) const {
    if (!times_) return single;
    if (round > 0) {
        return single * (spent_in_rounds + (pairs_ ? spent_on_drift : 0)) /
               static_cast<double>(std::max(rounds, round));
    }
    return single * (1 - spent_on_slow_processes - (drifts ? spent_on_drift : 0));
}

double Levels::at_first_look() const {
    return single * spent_at_first_look;
}

double Levels::for_drift() const {
    return single * spent_on_drift;
}

double Levels::for_slow_processes() const {
    return single * spent_on_slow_processes / static_cast<double>(rounds + 1);
}

Levels Levels::of(const Comparison& comparison, Processes processes) const {
    Levels levels = *this;
    levels.pairs_ = processes == Processes::paired;
    levels.times_ = is_time(comparison);
    if (!levels.times_) levels.rounds = 0;
    return levels;
}

double DetectableShifts::operator()(std::size_t n, std::size_t m, double df, double level) {
    const auto [at, is_new] = known_.try_emplace({n, m, df, level}, 0.0);
    if (is_new) at->second = stats::detectable_shift(n, m, df, level, power_of_a_step);
    return at->second;
}

std::size_t processes_at_verdict(const Levels& levels, std::size_t measured, Processes of_sides) {
    if (levels.rounds == 0) return measured;
    std::size_t processes = 0;
    for (std::int64_t round = 1; round <= std::min<std::int64_t>(levels.rounds, 100); ++round) {
        processes += round_size(round, of_sides);
    }
    return processes;
}

double deciding_level(const Comparison& comparison, const Levels& levels) {
    const double level = levels.at_round(levels.rounds);
    return comparison.definition->direction == Direction::none ? level / 2 : level;
}

namespace {

/// What the spread hides, in the metric's unit, whatever the shape of the processes' distribution.
double hidden_by_ranks(const Resolution& resolution, const Levels& levels, double level,
                       double size, DetectableShifts& shifts) {
    std::vector<double> logs = resolution.logs;
    std::sort(logs.begin(), logs.end());
    const double deviation = robust_deviation(logs);
    double shift = hidden_shift(logs, deviation, resolution.last, level, shifts);
    if (levels.rounds > 0) {
        shift = std::max(shift,
                         hidden_shift(logs, deviation, resolution.first, flagging_level, shifts));
    }
    return size * std::expm1(shift);
}

/// The same by the spread alone.
double hidden_by_spread(const Resolution& resolution, const Levels& levels, double level,
                        double size, DetectableShifts& shifts) {
    const stats::PooledSpread& measured = resolution.measured;
    const bool trusts_measured = resolution.ranks && measured.df >= prior_df;
    stats::PooledSpread spread = trusts_measured ? measured : resolution.cautious;
    if (resolution.paired) {
        const stats::PooledSpread known{size * usual.deviation, usual.df};
        spread.deviation = std::max(spread.deviation, stats::moderated(measured, known).deviation);
    }
    const double df = trusts_measured ? resolution.df_at_last : spread.df;
    const double noise = shifts(resolution.against, resolution.last, df, level) * spread.deviation *
                         (resolution.ranks ? rank_margin : 1);
    if (levels.rounds == 0) return noise;
    return std::max(noise, shifts(resolution.against, resolution.first, std::max(measured.df, 1.0),
                                  flagging_level) *
                               spread.deviation);
}

double tick_of(const model::MetricDefinition& definition) {
    const bool by_device = definition.name == "gpu_time" || definition.name == "gpu_span";
    return by_device && definition.unit == "ns" ? clock_tick_ns : 0;
}

}  // namespace

void add_resolution(const Comparison& comparison, const Resolution& resolution,
                    const Levels& levels, DetectableShifts& shifts, Judgement& judgement) {
    const double size = std::fabs(judgement.baseline);
    // Nothing is found, however large, where no test reaches the level.
    if (size == 0 || (is_time(comparison) && !resolution.ranks)) return;
    const double level = deciding_level(comparison, levels);
    const double hidden = resolution.logs.empty()
                              ? hidden_by_spread(resolution, levels, level, size, shifts)
                              : hidden_by_ranks(resolution, levels, level, size, shifts);
    const double unexplained = hidden + tick_of(*comparison.definition);
    Comparison widened = comparison;
    widened.leeway += resolution.drift / size;
    const bool rises = comparison.definition->direction != Direction::higher;
    const Allowance allowed = allowance_of(widened, judgement.baseline, rises);
    const double change = std::fabs(allowed.factor - 1) +
                          (std::fabs(allowed.shift) + allowed.factor * unexplained) / size;
    if (!std::isfinite(change)) return;  // values so large that their spread is not finite
    judgement.minimum_detectable_change = change;
    judgement.tolerance_is_finer =
        unexplained + resolution.drift >
        change_between(comparison, judgement.baseline, judgement.baseline).allowed;
}

Scale::Scale(const std::vector<double>& some, const std::vector<double>& others) {
    const auto positive = [](double value) { return value > 0; };
    logarithmic = std::all_of(some.begin(), some.end(), positive) &&
                  std::all_of(others.begin(), others.end(), positive);
}

std::vector<double> Scale::of(std::vector<double> values) const {
    if (!logarithmic) return values;
    for (double& value : values) value = std::log(value);
    return values;
}

void add_interval(const Comparison& comparison, const std::optional<stats::Interval>& shift,
                  const Scale& scale, double drift, Judgement& judgement) {
    if (!shift) return;
    const double baseline = judgement.baseline;
    const double size = std::fabs(baseline);
    const auto change = [&](double end) {
        return scale.logarithmic ? baseline * std::expm1(end) : end;
    };
    // With modes the means can differ more than the processes do pair by pair.
    const double estimate = judgement.measured - baseline;
    // What another board may differ by keeps a time from failing, and shows nothing.
    const double unknown = drift + tick_of(*comparison.definition) + comparison.leeway * size;
    const double low = std::min(change(shift->low), estimate) - unknown;
    const double high = std::max(change(shift->high), estimate) + unknown;
    if (!std::isfinite(low) || !std::isfinite(high)) return;

    const Direction direction = comparison.definition->direction;
    Comparison itself = comparison;
    itself.leeway = 0;
    const auto within = [&](double end) {
        return !change_between(itself, baseline, baseline + end).counts;
    };
    judgement.shown = (direction == Direction::higher || high <= 0 || within(high)) &&
                      (direction == Direction::lower || low >= 0 || within(low));
    const double low_fraction = low / size;
    const double high_fraction = high / size;
    if (!std::isfinite(low_fraction) || !std::isfinite(high_fraction)) return;
    judgement.interval = model::ChangeInterval{low_fraction, high_fraction, interval_level};
}

namespace {

/// The change to the end of the interval that is nearest to the baseline. The interval contains
/// what another board may differ by.
std::optional<Change> least_change(Comparison comparison, const Judgement& judgement) {
    if (!judgement.interval) return std::nullopt;
    comparison.leeway = 0;
    const double nearest = judgement.measured > judgement.baseline ? judgement.interval->low
                                                                   : judgement.interval->high;
    const double end = judgement.baseline + nearest * std::fabs(judgement.baseline);
    return change_between(comparison, judgement.baseline, end);
}

bool shown_better(const Comparison& comparison, const Judgement& judgement) {
    const auto change = least_change(comparison, judgement);
    return change && change->counts && change->good_way;
}

/// All of the interval is beyond the tolerance, on the bad side.
bool shown_worse(const Comparison& comparison, const Judgement& judgement) {
    if (change_between(comparison, judgement.baseline, judgement.measured).good_way) return false;
    const auto change = least_change(comparison, judgement);
    return change && change->counts && !change->good_way;
}

}  // namespace

stats::PooledSpread cautious_error(const stats::PooledSpread& measured, double per_process) {
    stats::PooledSpread error = stats::moderated(measured, usual);
    error.deviation = std::max(error.deviation, measured.deviation) * std::sqrt(per_process);
    return error;
}

namespace {

/// Whether a time that the test does not decide about is worse by more than the spread explains.
/// Where the processes are too few for the test: if all of the interval is beyond the tolerance, or
/// the processes are as far apart as they can be, each beyond what is allowed. Otherwise if the
/// estimate is beyond twice the tolerance, and Student's test finds it beyond what is allowed, at
/// the same level. That test assumes that there are no modes, so it does not make the time
/// regressed.
bool beyond_spread(const Comparison& comparison, double drift, double level, const Test& test,
                   const Judgement& judgement) {
    if (!is_time(comparison)) return false;
    const bool rises = judgement.measured > judgement.baseline;
    const double unknown = drift + tick_of(*comparison.definition);
    const auto allowed_by = [&](const Comparison& by) {
        Allowance allowed = allowance_of(by, judgement.baseline, rises);
        allowed.shift += rises ? unknown : -unknown;
        return allowed;
    };
    const Allowance allowed = allowed_by(comparison);
    if (judgement.too_few_processes &&
        (shown_worse(comparison, judgement) || test.all_beyond(rises, allowed))) {
        return true;
    }

    Comparison twice = comparison;
    twice.tolerance.worse *= 2;
    twice.tolerance.abs *= 2;
    twice.leeway *= 2;
    const auto beyond = [&](const Allowance& by) {
        const double limit = by.factor * judgement.baseline + by.shift;
        return limit > 0 && judgement.measured > 0
                   ? (rises ? 1 : -1) * std::log(judgement.measured / limit)
                   : -1;
    };
    return beyond(allowed_by(twice)) > 0 && test.error.deviation > 0 &&
           stats::student_upper_tail(beyond(allowed) / test.error.deviation, test.error.df) <=
               level;
}

}  // namespace

void judge_by_test(const Comparison& comparison, double drift, std::int64_t last_round,
                   const Levels& levels, const Test& test, Judgement& judgement) {
    Comparison widened = comparison;
    const double size = std::fabs(judgement.baseline);
    if (size > 0) widened.leeway += drift / size;
    const Change change = change_between(widened, judgement.baseline, judgement.measured);
    if (!change.counts) return;

    const double sides = comparison.definition->direction == Direction::none ? 2 : 1;
    const double level = levels.at_round(last_round, drift > 0);
    const bool rises = judgement.measured > judgement.baseline;
    const Allowance allowed = allowance_of(widened, judgement.baseline, rises);
    judgement.needed_probability = level;
    const auto probability_at = [&](double of_level) {
        std::optional<double> found = test.probability(rises, allowed, of_level / sides);
        if (found) found = std::min(1.0, sides * *found);
        return found;
    };
    const std::optional<double> found = probability_at(level);
    if (found && *found <= level) {
        judgement.probability = found;
        judgement.verdict = change.good_way ? Verdict::improved : Verdict::regressed;
        judgement.confirmed =
            last_round > 0 || levels.rounds == 0 || *found <= levels.at_first_look();
        return;
    }
    judgement.too_few_processes = !found;
    judgement.probability = found ? found : probability_at(flagging_level);
    // Nothing fails for an improvement, so it needs no share of the budget.
    if (change.good_way && shown_better(widened, judgement)) judgement.verdict = Verdict::improved;
    if (change.good_way) return;
    judgement.beyond_spread = beyond_spread(comparison, drift, level / sides, test, judgement);
    if (judgement.beyond_spread ||
        (judgement.probability && *judgement.probability <= flagging_level)) {
        judgement.verdict = Verdict::inconclusive;
        judgement.doubt = model::Doubt::unclear;
    }
}

void judge_slow_processes(const Comparison& comparison, std::size_t baseline, std::size_t measured,
                          std::size_t slow, std::int64_t last_round, const Levels& levels,
                          Judgement& judgement) {
    if (judgement.slow_processes == 0) return;
    judgement.shown = false;
    const bool decided = judgement.verdict == Verdict::regressed || judgement.beyond_spread;
    if (decided || slow == 0) return;
    const double sides = comparison.definition->direction == Direction::none ? 2 : 1;
    const double probability = sides * stats::precedence_greater(baseline, measured, slow);
    if (probability > levels.for_slow_processes()) return;
    judgement.verdict = Verdict::regressed;
    judgement.probability = probability;
    judgement.needed_probability = levels.for_slow_processes();
    judgement.confirmed = last_round > 0 || levels.rounds == 0;
}

bool worth_another_round(const Comparison& comparison, const Judgement& judgement,
                         std::int64_t last_round, std::int64_t rounds) {
    if (!is_time(comparison)) return false;
    const bool flagged =
        judgement.verdict == Verdict::regressed || judgement.verdict == Verdict::inconclusive;
    const bool confirmed =
        judgement.verdict == Verdict::regressed && (judgement.confirmed || last_round > 0);
    return flagged && !confirmed && last_round < rounds;
}

}  // namespace perfgate::gate

// SPDX-License-Identifier: Apache-2.0
#include "gate/batch_rule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <tuple>

#include "gate/suspects.hpp"
#include "stats/distributions.hpp"
#include "stats/rank_sum.hpp"
#include "stats/spread.hpp"

namespace perfgate::gate {

namespace {

using model::Direction;
using model::MetricClass;
using model::Verdict;

/// Of a batch's samples, this share at either end says nothing: outliers of the launch.
constexpr double trimmed_samples = 0.1;
/// Of the processes, for the size of the change. The tests use them all.
constexpr double trimmed_processes = 0.2;
/// A suspicion costs GPU time and no trust: one in twenty is cheap.
constexpr double suspicion_level = 0.05;
/// What "sees" promises: each of the two steps to a verdict, suspicion and confirmation, finds the
/// change with this probability, so that both do in nine cases of ten.
constexpr double power_of_a_step = 0.975;
constexpr double power_in_deviations = 1.96;  // normal_upper_quantile(1 - power_of_a_step)
/// The rank-sum test needs this much larger a change than Student's to find it as often, and its
/// far tail is coarse with few processes.
constexpr double rank_margin = 1.1;
/// Runs of a baseline that lie apart more than their processes explain, at this level, are taken
/// to do so again: the next one within what so few runs let expect with this probability.
constexpr double drift_level = 0.01;
constexpr std::size_t least_drift_runs = 3;

/// What is known of the spread between processes before measuring any: relative and absolute parts,
/// and how many degrees of freedom that knowledge is worth. Timing: over 16 kernels on an H100, 40
/// processes each, no spread of kernels over 20 us was larger, and few of the shorter ones'
/// (tests/bench/README.md).
struct Prior {
    double relative;
    double absolute_ns;
};
constexpr double prior_df = 8;

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

double batch_value(const model::Batch& batch) {
    const bool finite = std::all_of(batch.samples.begin(), batch.samples.end(),
                                    [](double sample) { return std::isfinite(sample); });
    return finite ? stats::trimmed_mean(batch.samples, trimmed_samples)
                  : std::numeric_limits<double>::quiet_NaN();
}

bool in_use(const model::Batch& batch) {
    return batch.set_aside.empty() && !batch.samples.empty();
}

bool all_finite(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

/// One comparison, made ready: what its test needs.
struct Evidence {
    std::vector<double> baseline, measured;
    std::int64_t last_round = 0;      ///< of the measured
    std::size_t first_processes = 0;  ///< of round 0, before any suspicion
    Basis basis = Basis::one_process;
    double drift = 0;  ///< how far a run may lie off the baseline's for no reason
    bool finite = true;
};

/// How far the runs of a baseline lie apart, over what their processes explain.
double drift_of(const model::MetricSeries& series) {
    std::map<std::int64_t, std::vector<double>> by_run;
    for (const model::Batch& batch : series.batches) {
        if (in_use(batch)) by_run[batch.run].push_back(batch_value(batch));
    }
    if (by_run.size() < least_drift_runs) return 0;
    std::vector<std::vector<double>> groups;
    groups.reserve(by_run.size());
    for (auto& [run, values] : by_run) groups.push_back(std::move(values));
    const auto components = stats::variance_components(groups);
    if (!components || components->probability > drift_level) return 0;
    const auto runs = static_cast<double>(groups.size());
    return stats::student_upper_quantile(drift_level, runs - 1) * std::sqrt(1 + 1 / runs) *
           components->between;
}

Evidence evidence_of(const Comparison& comparison) {
    Evidence evidence;
    evidence.baseline = batch_values(*comparison.baseline);
    evidence.measured = batch_values(*comparison.measured);
    for (const model::Batch& batch : comparison.measured->batches) {
        if (!in_use(batch)) continue;
        evidence.last_round = std::max(evidence.last_round, batch.round);
        if (batch.round == 0) ++evidence.first_processes;
    }
    evidence.finite = all_finite(evidence.baseline) && all_finite(evidence.measured);
    if (!evidence.finite || evidence.baseline.empty() || evidence.measured.empty()) {
        return evidence;
    }
    if (comparison.definition->metric_class == MetricClass::exact &&
        (evidence.baseline.size() == 1 || repeats(*comparison.baseline))) {
        evidence.basis = Basis::exact;
    } else if (evidence.baseline.size() > 1) {
        evidence.basis = Basis::spread;
        evidence.drift = drift_of(*comparison.baseline);
    }
    return evidence;
}

/// The spread between processes, in the metric's unit.
stats::PooledSpread measured_spread(const Evidence& evidence) {
    const std::array groups{evidence.baseline, evidence.measured};
    return stats::pooled_spread(groups);
}

stats::PooledSpread cautious_spread(const Comparison& comparison, const Evidence& evidence) {
    const Prior prior = prior_of(comparison.definition->metric_class);
    const double size = std::fabs(stats::trimmed_mean(evidence.baseline, trimmed_processes));
    const double absolute = comparison.definition->unit == "ns" ? prior.absolute_ns : 0;
    const stats::PooledSpread measured = measured_spread(evidence);
    stats::PooledSpread spread =
        stats::moderated(measured, {std::hypot(prior.relative * size, absolute), prior_df});
    spread.deviation = std::max(spread.deviation, measured.deviation);
    return spread;
}

bool rank_sum_reaches(std::size_t baseline, std::size_t measured, double level) {
    return stats::rank_sum_least(baseline, measured) <= level;
}

/// P(the measured lie so far over the baseline | they do not lie over it by more than `leeway`),
/// one-sided; `rises` says which side.
double probability_of(const Comparison& comparison, const Evidence& evidence, bool rises,
                      double leeway, double level) {
    std::vector<double> baseline = evidence.baseline;
    std::vector<double> measured = evidence.measured;
    if (!rises) {
        for (double& value : baseline) value = -value;
        for (double& value : measured) value = -value;
    }
    for (double& value : measured) value -= leeway;
    if (rank_sum_reaches(baseline.size(), measured.size(), level)) {
        return stats::rank_sum_greater(baseline, measured);
    }
    const stats::PooledSpread spread = cautious_spread(comparison, evidence);
    const double rise = stats::trimmed_mean(measured, 0) - stats::trimmed_mean(baseline, 0);
    const double error = spread.deviation * std::sqrt(1 / static_cast<double>(baseline.size()) +
                                                      1 / static_cast<double>(measured.size()));
    if (error == 0) return rise > 0 ? 0 : 1;
    return stats::student_upper_tail(rise / error, spread.df);
}

/// Levels and rounds, as they are for each of a run's tests.
struct Levels {
    double single = 0;  ///< one test's share of the budget
    std::int64_t rounds = 0;

    /// Each round in which a verdict may fall has its share; without rounds there is one look.
    double at_round(std::int64_t round) const {
        return round == 0 ? single : single / static_cast<double>(std::max(rounds, round));
    }
};

/// stats::detectable_shift at the power of a step. Cases of a run mostly ask the same.
class DetectableShifts {
  public:
    double operator()(std::size_t n, std::size_t m, double df, double level) {
        const auto [at, is_new] = known_.try_emplace({n, m, df, level}, 0.0);
        if (is_new) at->second = stats::detectable_shift(n, m, df, level, power_of_a_step);
        return at->second;
    }

  private:
    std::map<std::tuple<std::size_t, std::size_t, double, double>, double> known_;
};

/// Sets `sees` and `tolerance_is_finer`.
void add_resolution(const Comparison& comparison, const Evidence& evidence, const Levels& levels,
                    DetectableShifts& shifts, Judgement& judgement) {
    const double size = std::fabs(judgement.baseline);
    if (size == 0) return;
    const bool again = levels.rounds > 0;
    const std::size_t n = evidence.baseline.size();
    const std::size_t first = std::max<std::size_t>(evidence.first_processes, 1);
    const std::size_t last =
        again ? static_cast<std::size_t>(std::min<std::int64_t>(levels.rounds, 100)) *
                    processes_per_round
              : evidence.measured.size();
    double level = levels.at_round(again ? levels.rounds : 0);
    if (comparison.definition->direction == Direction::none) level /= 2;

    const bool ranks = rank_sum_reaches(n, last, level);
    const stats::PooledSpread measured = measured_spread(evidence);
    const bool trusts_measured = ranks && measured.df >= prior_df;
    const stats::PooledSpread spread =
        trusts_measured ? measured : cautious_spread(comparison, evidence);
    const double df = trusts_measured ? static_cast<double>(n + last - 2) : spread.df;
    const double noise = shifts(n, last, df, level) * spread.deviation * (ranks ? rank_margin : 1);
    const double suspicion =
        shifts(n, first, std::max(measured.df, 1.0), suspicion_level) * spread.deviation;
    // The estimate has to be beyond what is allowed in every step.
    const double allowed =
        change_between(comparison, judgement.baseline, judgement.baseline).allowed;
    const double error = std::sqrt(1 / static_cast<double>(n) + 1 / static_cast<double>(first));
    const double beyond = allowed + power_in_deviations * spread.deviation * error;
    const double unexplained = std::max(noise, again ? suspicion : 0) + evidence.drift;
    judgement.sees = std::max(unexplained, beyond + evidence.drift) / size;
    judgement.tolerance_is_finer = unexplained > allowed;
}

void judge_by_spread(const Comparison& comparison, const Evidence& evidence, const Levels& levels,
                     DetectableShifts& shifts, Judgement& judgement) {
    add_resolution(comparison, evidence, levels, shifts, judgement);
    Comparison widened = comparison;
    const double size = std::fabs(judgement.baseline);
    if (size > 0) widened.leeway += evidence.drift / size;
    const Change change = change_between(widened, judgement.baseline, judgement.measured);
    if (!change.counts) return;

    const bool two_sided = comparison.definition->direction == Direction::none;
    const double sides = two_sided ? 2 : 1;
    const double level = levels.at_round(evidence.last_round);
    const bool rises = judgement.measured > judgement.baseline;
    const double leeway = widened.leeway * size;
    const auto probability_at = [&](double of_level) {
        return std::min(
            1.0, sides * probability_of(comparison, evidence, rises, leeway, of_level / sides));
    };
    const double probability = probability_at(level);
    judgement.probability = probability;
    if (probability <= level) {
        judgement.verdict = change.good_way ? Verdict::improved : Verdict::regressed;
    } else if (!change.good_way && probability_at(suspicion_level) <= suspicion_level) {
        judgement.verdict = Verdict::inconclusive;
    }
}

}  // namespace

std::vector<const model::Batch*> batches_in_use(const model::MetricSeries& series) {
    const bool again =
        std::any_of(series.batches.begin(), series.batches.end(),
                    [](const model::Batch& batch) { return in_use(batch) && batch.round > 0; });
    std::vector<const model::Batch*> used;
    for (const model::Batch& batch : series.batches) {
        if (in_use(batch) && (!again || batch.round > 0)) used.push_back(&batch);
    }
    return used;
}

std::vector<double> batch_values(const model::MetricSeries& series) {
    // A document written by hand may have the value alone.
    if (series.batches.empty()) return {series.value};
    std::vector<double> values;
    for (const model::Batch* batch : batches_in_use(series)) values.push_back(batch_value(*batch));
    return values;
}

bool repeats(const model::MetricSeries& series) {
    const std::vector<double> values = batch_values(series);
    return values.size() > 1 && std::all_of(values.begin(), values.end(),
                                            [&](double value) { return value == values.front(); });
}

BatchRule::BatchRule(const model::Policy& policy)
    : false_alarms_(policy.false_alarms), rounds_(policy.rounds) {}

std::vector<Judgement> BatchRule::judge(std::span<const Comparison> comparisons) const {
    std::vector<Evidence> evidence;
    evidence.reserve(comparisons.size());
    std::size_t tests = 0;
    for (const Comparison& comparison : comparisons) {
        evidence.push_back(evidence_of(comparison));
        if (evidence.back().basis == Basis::spread) ++tests;
    }
    const Levels levels{false_alarms_ / static_cast<double>(std::max<std::size_t>(tests, 1)),
                        rounds_};

    DetectableShifts shifts;
    std::vector<Judgement> judgements = MedianRule().judge(comparisons);
    for (std::size_t i = 0; i < comparisons.size(); ++i) {
        const Evidence& found = evidence[i];
        Judgement& judgement = judgements[i];
        judgement.basis = found.basis;
        if (!found.finite || found.baseline.empty() || found.measured.empty()) {
            judgement.verdict = Verdict::invalid;
            continue;
        }
        if (found.basis == Basis::exact) continue;

        judgement.baseline = stats::trimmed_mean(found.baseline, trimmed_processes);
        judgement.measured = stats::trimmed_mean(found.measured, trimmed_processes);
        judgement.verdict = Verdict::pass;
        if (found.basis == Basis::spread) {
            judge_by_spread(comparisons[i], found, levels, shifts, judgement);
        } else {
            const Change change =
                change_between(comparisons[i], judgement.baseline, judgement.measured);
            if (change.counts) {
                judgement.verdict = change.good_way ? Verdict::improved : Verdict::regressed;
            }
        }
        const bool suspected =
            judgement.verdict == Verdict::regressed || judgement.verdict == Verdict::inconclusive;
        // A first round never convicts where another may be measured; a later one does.
        const bool convicted = judgement.verdict == Verdict::regressed && found.last_round > 0;
        judgement.measure_again = suspected && !convicted && found.last_round < rounds_;
    }
    return judgements;
}

}  // namespace perfgate::gate

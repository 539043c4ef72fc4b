// SPDX-License-Identifier: Apache-2.0
#include "gate/batch_rule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "gate/significance.hpp"
#include "stats/distributions.hpp"
#include "stats/drift.hpp"
#include "stats/quantiles.hpp"
#include "stats/rank_sum.hpp"
#include "stats/spread.hpp"

namespace perfgate::gate {

namespace {

using model::MetricClass;
using model::Verdict;

/// Of a baseline with more processes as many describe their distribution.
constexpr std::size_t most_logs = 100;
/// Processes that agree to this are close enough, however small the tolerance.
constexpr double finest_agreement = 0.01;

/// One comparison with what its test needs.
struct Evidence {
    std::vector<double> baseline, measured;
    std::int64_t last_round = 0;      ///< of the measured
    std::size_t first_processes = 0;  ///< of round 0, which flags cases
    Basis basis = Basis::one_process;
    bool finite = true;
};

/// The board with processes of the most runs; of several, that of the earliest run, so that it is
/// the same for all cases.
std::string most_recorded_board(const model::MetricSeries& series) {
    std::map<std::string, std::set<std::int64_t>> runs;
    for (const model::Batch& batch : series.batches) {
        if (in_use(batch)) runs[batch.device].insert(batch.run);
    }
    const auto most =
        std::max_element(runs.begin(), runs.end(), [](const auto& some, const auto& other) {
            return std::pair(some.second.size(), -*some.second.begin()) <
                   std::pair(other.second.size(), -*other.second.begin());
        });
    return most == runs.end() ? std::string() : most->first;
}

/// The logarithms of a baseline's processes: by board, or by run, only those of one board, because
/// differences between boards are not drift between sessions. Empty if a value has no logarithm.
stats::Groups groups_of(const Comparison& comparison) {
    stats::Groups groups;
    const std::string board = most_recorded_board(*comparison.baseline);
    for (const model::Batch& batch : comparison.baseline->batches) {
        if (!in_use(batch) || (!comparison.new_board && batch.device != board)) continue;
        const double value = batch_value(batch);
        if (!(value > 0) || !std::isfinite(value)) return {};
        groups[comparison.new_board ? batch.device : std::to_string(batch.run)].push_back(
            std::log(value));
    }
    return groups;
}

Evidence evidence_of(const Comparison& comparison) {
    Evidence evidence;
    evidence.baseline = batch_values(*comparison.baseline);
    evidence.measured = batch_values(*comparison.measured);
    for (const model::Batch& batch : comparison.measured->batches) {
        if (in_use(batch) && batch.round == 0) ++evidence.first_processes;
    }
    evidence.last_round = last_round_of(*comparison.measured);
    evidence.finite = all_finite(evidence.baseline) && all_finite(evidence.measured);
    if (!evidence.finite || evidence.baseline.empty() || evidence.measured.empty()) {
        return evidence;
    }
    if (comparison.definition->metric_class == MetricClass::exact &&
        (evidence.baseline.size() == 1 || repeats(*comparison.baseline))) {
        evidence.basis = Basis::exact;
        evidence.measured = values_of_all_rounds(*comparison.measured);
    } else if (evidence.baseline.size() > 1) {
        evidence.basis = Basis::spread;
    }
    return evidence;
}

/// Of an exact metric: the process that is worst in its direction; without one, the farthest from
/// the baseline's value. A mean or a median would drop one that deviates.
double worst_process(const Comparison& comparison, const Evidence& evidence) {
    const auto badness = [&](double value) {
        switch (comparison.definition->direction) {
            case model::Direction::lower:
                return value;
            case model::Direction::higher:
                return -value;
            case model::Direction::none:
                break;
        }
        return std::fabs(value - evidence.baseline.front());
    };
    return *std::max_element(evidence.measured.begin(), evidence.measured.end(),
                             [&](double a, double b) { return badness(a) < badness(b); });
}

/// The spread between processes, in the metric's unit.
stats::PooledSpread measured_spread(const Evidence& evidence) {
    const std::array groups{evidence.baseline, evidence.measured};
    return stats::pooled_spread(groups);
}

stats::PooledSpread spread_to_trust(const Comparison& comparison, const Evidence& evidence) {
    return cautious_spread(*comparison.definition, measured_spread(evidence),
                           stats::trimmed_mean(evidence.baseline, trimmed_processes), 1);
}

bool rank_sum_reaches(std::size_t baseline, std::size_t measured, double level) {
    return stats::rank_sum_least(baseline, measured) <= level;
}

/// As many on each side as the rank-sum test needs to reach the level.
std::size_t processes_to_reach(double level) {
    std::size_t processes = 1;
    while (!rank_sum_reaches(processes, processes, level)) ++processes;
    return processes;
}

/// See Test.
bool all_beyond(const Evidence& evidence, bool rises, const Allowance& allowed) {
    const auto [least, most] =
        std::minmax_element(evidence.measured.begin(), evidence.measured.end());
    const auto [lowest, highest] =
        std::minmax_element(evidence.baseline.begin(), evidence.baseline.end());
    return rises ? allowed.undone(*least) > *highest : allowed.undone(*most) < *lowest;
}

/// See Test.
std::optional<double> probability_of(const Comparison& comparison, const Evidence& evidence,
                                     bool rises, const Allowance& allowed, double level) {
    std::vector<double> baseline = evidence.baseline;
    std::vector<double> measured = evidence.measured;
    for (double& value : measured) value = allowed.undone(value);
    if (!rises) {
        for (double& value : baseline) value = -value;
        for (double& value : measured) value = -value;
    }
    if (rank_sum_reaches(baseline.size(), measured.size(), level)) {
        return stats::rank_sum_greater(baseline, measured);
    }
    if (is_time(comparison)) return std::nullopt;
    const stats::PooledSpread spread = spread_to_trust(comparison, evidence);
    const double rise = stats::trimmed_mean(measured, 0) - stats::trimmed_mean(baseline, 0);
    const double error = spread.deviation * std::sqrt(1 / static_cast<double>(baseline.size()) +
                                                      1 / static_cast<double>(measured.size()));
    if (error == 0) return rise > 0 ? 0 : 1;
    return stats::student_upper_tail(rise / error, spread.df);
}

void judge_by_spread(const Comparison& comparison, const Evidence& evidence,
                     const stats::Drift& drift, const Levels& levels, DetectableShifts& shifts,
                     Judgement& judgement) {
    const double size = std::fabs(judgement.baseline);
    const auto drift_at = [&](double level) {
        const double learned = std::expm1(drift.bound(level));
        return size *
               (comparison.new_board ? std::min(learned, comparison.most_between_boards) : learned);
    };
    const double allowed_drift = drift_at(levels.for_drift());
    const std::size_t baseline = evidence.baseline.size();
    Resolution resolution;
    resolution.against = baseline;
    resolution.first = std::max<std::size_t>(evidence.first_processes, 1);
    resolution.last = processes_at_verdict(levels, evidence.measured.size());
    resolution.ranks =
        rank_sum_reaches(baseline, resolution.last, deciding_level(comparison, levels));
    if (is_time(comparison) &&
        !rank_sum_reaches(baseline, evidence.measured.size(), deciding_level(comparison, levels))) {
        judgement.enough_processes = processes_to_reach(deciding_level(comparison, levels));
    }
    resolution.measured = measured_spread(evidence);
    resolution.cautious = spread_to_trust(comparison, evidence);
    resolution.df_at_last = static_cast<double>(baseline + resolution.last) - 2;
    const Scale scale(evidence.baseline, evidence.measured);
    if (is_time(comparison) && resolution.ranks && scale.logarithmic) {
        resolution.logs = scale.of(stats::thinned(evidence.baseline, most_logs));
    }
    resolution.drift = allowed_drift;
    add_resolution(comparison, resolution, levels, shifts, judgement);
    if (is_time(comparison)) {
        add_interval(comparison,
                     stats::rank_sum_interval(scale.of(evidence.baseline),
                                              scale.of(evidence.measured), interval_level),
                     scale, drift_at((1 - interval_level) / 2), judgement);
    }
    Test test;
    test.probability = [&](bool rises, const Allowance& allowed, double level) {
        return probability_of(comparison, evidence, rises, allowed, level);
    };
    test.all_beyond = [&](bool rises, const Allowance& allowed) {
        return all_beyond(evidence, rises, allowed);
    };
    if (scale.logarithmic) {
        const std::array logs{scale.of(evidence.baseline), scale.of(evidence.measured)};
        test.error = cautious_error(
            stats::pooled_spread(logs),
            1 / static_cast<double>(baseline) + 1 / static_cast<double>(evidence.measured.size()));
    }
    judge_by_test(comparison, allowed_drift, evidence.last_round, levels, test, judgement);
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

std::vector<double> values_of_all_rounds(const model::MetricSeries& series) {
    if (series.batches.empty()) return {series.value};
    std::vector<double> values;
    for (const model::Batch& batch : series.batches) {
        if (in_use(batch)) values.push_back(batch_value(batch));
    }
    return values;
}

std::int64_t last_round_of(const model::MetricSeries& series) {
    std::int64_t last = 0;
    for (const model::Batch& batch : series.batches) {
        if (in_use(batch)) last = std::max(last, batch.round);
    }
    return last;
}

std::vector<double> batch_values(const model::MetricSeries& series) {
    // A document written by hand may have only the value.
    if (series.batches.empty()) return {series.value};
    std::vector<double> values;
    for (const model::Batch* batch : batches_in_use(series)) values.push_back(batch_value(*batch));
    return values;
}

double estimate_of(const model::MetricSeries& series) {
    const std::vector<double> values = batch_values(series);
    return values.empty() || !all_finite(values) ? series.value
                                                 : stats::trimmed_mean(values, trimmed_processes);
}

double untrimmed_estimate_of(const model::MetricSeries& series) {
    std::vector<double> samples;
    for (const model::Batch* batch : batches_in_use(series)) {
        samples.insert(samples.end(), batch->samples.begin(), batch->samples.end());
    }
    return samples.empty() || !all_finite(samples) ? series.value : stats::trimmed_mean(samples, 0);
}

bool disagrees(const model::MetricDefinition& definition, const model::MetricSeries& series,
               const model::Tolerance& tolerance) {
    if (definition.metric_class != MetricClass::timing) return false;
    std::vector<double> values = batch_values(series);
    if (values.size() < 2 || !all_finite(values)) return false;
    if (definition.direction == model::Direction::higher) {
        std::sort(values.begin(), values.end(), std::greater<>());
    } else {
        std::sort(values.begin(), values.end());
    }
    const std::span better(values.data(), values.size() / 2);
    Comparison comparison;
    comparison.definition = &definition;
    comparison.tolerance = tolerance;
    comparison.tolerance.worse = std::max(tolerance.worse, finest_agreement);
    const Change change = change_between(comparison, stats::trimmed_mean(better, trimmed_processes),
                                         stats::trimmed_mean(values, trimmed_processes));
    return change.counts && !change.good_way;
}

bool all_equal(const std::vector<double>& values) {
    return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

bool repeats(const model::MetricSeries& series) {
    const std::vector<double> values = batch_values(series);
    return values.size() > 1 && all_equal(values);
}

std::vector<stats::Drift> drifts_of(std::span<const Comparison> comparisons) {
    // Per metric: gpu_span includes the CPU's work and drifts more than gpu_time.
    std::map<std::tuple<std::size_t, bool, std::string>, std::vector<std::size_t>> pools;
    for (std::size_t i = 0; i < comparisons.size(); ++i) {
        const Comparison& comparison = comparisons[i];
        if (!is_time(comparison)) continue;
        pools[{comparison.suite, comparison.new_board, comparison.definition->name}].push_back(i);
    }
    std::vector<stats::Drift> drifts(comparisons.size());
    for (const auto& [pool, members] : pools) {
        std::vector<stats::Groups> items;
        items.reserve(members.size());
        for (const std::size_t i : members) items.push_back(groups_of(comparisons[i]));
        const auto found = stats::drifts_of(items);
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (found[i]) drifts[members[i]] = *found[i];
        }
    }
    return drifts;
}

BatchRule::BatchRule(const model::Policy& policy, std::size_t other_tests,
                     std::map<std::string, stats::Drift> drifts)
    : false_alarms_(policy.false_alarms),
      rounds_(policy.rounds),
      other_tests_(other_tests),
      drifts_(std::move(drifts)) {}

std::size_t tests_by_spread(std::span<const Comparison> comparisons) {
    return static_cast<std::size_t>(
        std::count_if(comparisons.begin(), comparisons.end(), [](const Comparison& comparison) {
            return evidence_of(comparison).basis == Basis::spread;
        }));
}

std::vector<Judgement> BatchRule::judge(std::span<const Comparison> comparisons) const {
    std::vector<Evidence> evidence;
    evidence.reserve(comparisons.size());
    std::size_t tests = other_tests_;
    for (const Comparison& comparison : comparisons) {
        evidence.push_back(evidence_of(comparison));
        if (evidence.back().basis == Basis::spread) ++tests;
    }
    const Levels levels(false_alarms_, tests, rounds_);
    std::vector<stats::Drift> drifts = drifts_of(comparisons);
    for (std::size_t i = 0; i < comparisons.size(); ++i) {
        const auto learned = drifts_.find(comparisons[i].definition->name);
        if (learned != drifts_.end()) drifts[i] = learned->second;
    }

    DetectableShifts shifts;
    std::vector<Judgement> judgements(comparisons.size());
    for (std::size_t i = 0; i < comparisons.size(); ++i) {
        const Evidence& found = evidence[i];
        Judgement& judgement = judgements[i];
        const bool usable = found.finite && !found.baseline.empty() && !found.measured.empty();
        if (!usable) judgement = judge_medians(comparisons[i]);
        judgement.basis = found.basis;
        if (!usable) {
            judgement.verdict = Verdict::invalid;
            continue;
        }
        if (found.basis == Basis::exact) {
            judgement.baseline = found.baseline.front();
            judgement.measured = worst_process(comparisons[i], found);
            judge_by_tolerance(comparisons[i], judgement);
            continue;
        }
        judgement.baseline = stats::trimmed_mean(found.baseline, trimmed_processes);
        judgement.measured = stats::trimmed_mean(found.measured, trimmed_processes);
        judgement.verdict = Verdict::pass;
        judgement.baseline_disagrees = disagrees(
            *comparisons[i].definition, *comparisons[i].baseline, comparisons[i].tolerance);
        if (found.basis == Basis::spread) {
            judge_by_spread(comparisons[i], found, drifts[i], levels.of(comparisons[i]), shifts,
                            judgement);
        } else {
            judge_by_tolerance(comparisons[i], judgement);
        }
        judgement.measure_again =
            worth_another_round(comparisons[i], judgement, found.last_round, rounds_);
    }
    return judgements;
}

}  // namespace perfgate::gate

// SPDX-License-Identifier: Apache-2.0
#include "gate/batch_rule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "gate/machine_code.hpp"
#include "gate/significance.hpp"
#include "stats/distributions.hpp"
#include "stats/quantiles.hpp"
#include "stats/rank_tests.hpp"
#include "stats/spread.hpp"

namespace perfgate::gate {

namespace {

using model::MetricClass;
using model::Verdict;

/// So many processes describe the distribution of a baseline with more.
constexpr std::size_t most_logs = 100;
/// Pairs are tested by the ranks of their differences, and both sides by theirs, which need fewer
/// pairs where the processes of a pair have nothing in common. They share a level.
constexpr double share_of_signed_ranks = 0.75;
/// So many standard deviations of sessions are allowed, if that is more than what slows a machine.
constexpr double most_deviations = 4;
/// Processes that agree to this are close enough, however small the tolerance.
constexpr double finest_agreement = 0.01;

/// One comparison with what its test needs: two groups of processes, or pairs of them.
struct Evidence {
    std::vector<double> baseline, measured;
    std::int64_t last_round = 0;      ///< of the measured
    std::size_t first_processes = 0;  ///< of round 0, which flags cases
    Basis basis = Basis::one_process;
    bool finite = true;
    bool paired = false;
    /// By how much the logarithms of the counter's collections differ in cases of its suite.
    std::optional<stats::PooledSpread> collections = std::nullopt;
};

using Rounds = std::map<std::int64_t, std::vector<const model::Batch*>>;

Rounds by_round(const model::MetricSeries& series) {
    Rounds rounds;
    for (const model::Batch& batch : series.batches) rounds[batch.round].push_back(&batch);
    return rounds;
}

/// The pairs that decide.
Evidence pairs_of(const Comparison& comparison) {
    Evidence pairs;
    pairs.paired = true;
    pairs.basis = Basis::spread;
    Rounds base = by_round(*comparison.baseline);
    for (const auto& [round, measured] : by_round(*comparison.measured)) {
        const std::vector<const model::Batch*>& partners = base[round];
        for (std::size_t i = 0; i < std::min(measured.size(), partners.size()); ++i) {
            if (!in_use(*measured[i]) || !in_use(*partners[i])) continue;
            if (round == 0) ++pairs.first_processes;
            // The batches that got the case flagged were selected for being slow.
            if (round > 0 && pairs.last_round == 0) {
                pairs.baseline.clear();
                pairs.measured.clear();
            }
            pairs.last_round = round;
            pairs.baseline.push_back(batch_value(*partners[i]));
            pairs.measured.push_back(batch_value(*measured[i]));
        }
    }
    pairs.finite = all_finite(pairs.baseline) && all_finite(pairs.measured);
    return pairs;
}

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

Evidence evidence_of(const Comparison& comparison, Processes processes) {
    const bool exact = comparison.definition->metric_class == MetricClass::exact;
    if ((comparison.paired || processes == Processes::paired) &&
        !(exact && repeats(*comparison.baseline))) {
        if (Evidence pairs = pairs_of(comparison); pairs.baseline.size() > 1) return pairs;
    }
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
    if (exact && (evidence.baseline.size() == 1 || repeats(*comparison.baseline))) {
        evidence.basis = Basis::exact;
        evidence.measured = values_of_all_rounds(*comparison.measured);
    } else if (evidence.baseline.size() > 1) {
        evidence.basis = Basis::spread;
        // Only the last look decides, so a first value that is high by chance fails nothing.
        if (!is_time(comparison)) evidence.measured = values_of_all_rounds(*comparison.measured);
        evidence.finite = all_finite(evidence.measured);
    }
    return evidence;
}

/// The process of an exact metric that is worst in its direction; without a direction, the farthest
/// from the baseline's value. A mean or a median would drop one that deviates.
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

std::vector<double> differences_of(const std::vector<double>& base,
                                   const std::vector<double>& measured) {
    std::vector<double> differences(base.size());
    std::transform(measured.begin(), measured.end(), base.begin(), differences.begin(),
                   std::minus<>());
    return differences;
}

/// What spreads by chance: both groups, or the pairs' differences.
std::vector<std::vector<double>> noise_of(const Evidence& evidence, const Scale& scale) {
    std::vector<double> baseline = scale.of(evidence.baseline);
    std::vector<double> measured = scale.of(evidence.measured);
    if (evidence.paired) return {differences_of(baseline, measured)};
    return {std::move(baseline), std::move(measured)};
}

/// The spread between processes, in the metric's unit. Of pairs that of their ratios, if there are
/// logarithms, as a share of the base's value.
stats::PooledSpread measured_spread(const Evidence& evidence) {
    if (!evidence.paired) {
        return stats::pooled_spread(std::array{evidence.baseline, evidence.measured});
    }
    const Scale scale(evidence.baseline, evidence.measured);
    stats::PooledSpread spread = stats::pooled_spread(noise_of(evidence, scale));
    if (scale.logarithmic) {
        spread.deviation *= stats::trimmed_mean(evidence.baseline, trimmed_processes);
    }
    return spread;
}

/// The spread of a counter's logarithms around the mean of each group; absent if a value has none.
std::optional<stats::PooledSpread> spread_of_logs(const Comparison& comparison,
                                                  const std::vector<std::vector<double>>& groups) {
    std::vector<std::vector<double>> logs;
    for (const std::vector<double>& values : groups) {
        const Scale scale(values, {});
        if (!scale.logarithmic) return std::nullopt;
        logs.push_back(scale.of(values));
    }
    stats::PooledSpread spread = stats::pooled_spread(logs);
    spread.deviation = std::hypot(spread.deviation, least_spread(*comparison.definition));
    return spread;
}

stats::PooledSpread spread_to_trust(const Comparison& comparison, const Evidence& evidence) {
    const double size = stats::trimmed_mean(evidence.baseline, trimmed_processes);
    if (evidence.collections) {
        auto own = spread_of_logs(comparison, {evidence.baseline, evidence.measured});
        if (!own) own = spread_of_logs(comparison, {evidence.baseline});
        stats::PooledSpread spread = stats::moderated(*own, *evidence.collections);
        spread.deviation *= size;
        return spread;
    }
    return cautious_spread(*comparison.definition, measured_spread(evidence), size,
                           evidence.paired ? std::sqrt(2.0) : 1);
}

/// The variance of the change, in units of that of one process or pair.
double variance_per_process(const Evidence& evidence) {
    const double of_measured = 1 / static_cast<double>(evidence.measured.size());
    return evidence.paired ? of_measured
                           : 1 / static_cast<double>(evidence.baseline.size()) + of_measured;
}

/// Whether the test by ranks can reach the level with so many processes, or pairs.
bool ranks_reach(const Evidence& evidence, std::size_t baseline, std::size_t measured,
                 double level) {
    if (!evidence.paired) return stats::rank_sum_least(baseline, measured) <= level;
    return stats::signed_rank_least(measured) <= level * share_of_signed_ranks ||
           stats::rank_sum_least(measured, measured) <= level * (1 - share_of_signed_ranks);
}

/// As many on each side as the test needs to reach the level.
std::size_t processes_to_reach(const Evidence& evidence, double level) {
    std::size_t processes = 1;
    while (!ranks_reach(evidence, processes, processes, level)) ++processes;
    return processes;
}

/// How many measured values are worse than each of the baseline's by more than what is allowed.
std::size_t slower_than_all(const std::vector<double>& baseline,
                            const std::vector<double>& measured, bool rises,
                            const Allowance& allowed) {
    const auto [lowest, highest] = std::minmax_element(baseline.begin(), baseline.end());
    return static_cast<std::size_t>(
        std::count_if(measured.begin(), measured.end(), [&](double value) {
            const double undone = allowed.undone(value);
            return rises ? undone > *highest : undone < *lowest;
        }));
}

/// See Test.
bool all_beyond(const Evidence& evidence, bool rises, const Allowance& allowed) {
    if (evidence.paired) {
        std::vector<double> measured = evidence.measured;
        for (double& value : measured) value = allowed.undone(value);
        const std::vector<double> differences = differences_of(evidence.baseline, measured);
        return std::all_of(differences.begin(), differences.end(), [rises](double difference) {
            return rises ? difference > 0 : difference < 0;
        });
    }
    return slower_than_all(evidence.baseline, evidence.measured, rises, allowed) ==
           evidence.measured.size();
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
    if (ranks_reach(evidence, baseline.size(), measured.size(), level)) {
        const double of_groups = stats::rank_sum_greater(baseline, measured);
        if (!evidence.paired) return of_groups;
        const double of_pairs = stats::signed_rank_greater(differences_of(baseline, measured));
        return std::min(1.0, std::min(of_pairs / share_of_signed_ranks,
                                      of_groups / (1 - share_of_signed_ranks)));
    }
    if (is_time(comparison)) return std::nullopt;
    const stats::PooledSpread spread = spread_to_trust(comparison, evidence);
    const double rise = stats::trimmed_mean(measured, 0) - stats::trimmed_mean(baseline, 0);
    const double error = spread.deviation * std::sqrt(variance_per_process(evidence));
    if (error == 0) return rise > 0 ? 0 : 1;
    return stats::student_upper_tail(rise / error, spread.df);
}

Resolution resolution_of(const Comparison& comparison, const Evidence& evidence, double drift,
                         const Levels& levels) {
    const std::size_t baseline = evidence.baseline.size();
    Resolution resolution;
    // Differences of pairs are compared with zero, which is exact.
    resolution.against = evidence.paired ? std::numeric_limits<std::uint32_t>::max() : baseline;
    resolution.first = std::max<std::size_t>(evidence.first_processes, 1);
    resolution.paired = evidence.paired;
    resolution.last = processes_at_verdict(levels, evidence.measured.size(),
                                           evidence.paired ? Processes::paired : Processes::alone);
    if (!is_time(comparison) && !evidence.paired && evidence.measured.size() == 1) {
        resolution.collects_again = true;
        for (const std::size_t fresh : fresh_collections) resolution.last += fresh;
    }
    resolution.ranks =
        ranks_reach(evidence, baseline, resolution.last, deciding_level(comparison, levels));
    resolution.measured = measured_spread(evidence);
    resolution.cautious = spread_to_trust(comparison, evidence);
    resolution.df_at_last = evidence.paired ? static_cast<double>(resolution.last) - 1
                                            : static_cast<double>(baseline + resolution.last) - 2;
    const Scale scale(evidence.baseline, evidence.measured);
    if (!evidence.paired && is_time(comparison) && resolution.ranks && scale.logarithmic) {
        resolution.logs = scale.of(stats::thinned(evidence.baseline, most_logs));
    }
    resolution.drift = drift;
    return resolution;
}

/// Whether all rounds would show that some processes are slow, if further ones are as often as
/// those that `slow` of the measured ones are.
bool more_would_decide(const Evidence& evidence, std::size_t slow, const Levels& levels) {
    const Processes sides = evidence.paired ? Processes::paired : Processes::alone;
    const std::size_t now = evidence.measured.size();
    const std::size_t all = std::max(processes_at_verdict(levels, now, sides), now);
    const std::size_t then = evidence.paired ? all : evidence.baseline.size();
    return stats::precedence_greater(then, all, slow * all / now) <= levels.for_slow_processes();
}

/// Whether some processes are slow in a mode that the baseline does not have, whatever their mean.
void look_for_slow_processes(Comparison comparison, const Evidence& evidence, double drift,
                             const Levels& levels, Judgement& judgement) {
    const std::vector<double> then = values_of_all_rounds(*comparison.baseline);
    const std::vector<double> now = values_of_all_rounds(*comparison.measured);
    if (!is_time(comparison) || !all_finite(then) || !all_finite(now)) return;
    const double size = std::fabs(judgement.baseline);
    if (size > 0) comparison.leeway += drift / size;
    std::size_t deciding = 0;
    for (const bool rises : {true, false}) {
        if (comparison.definition->direction ==
            (rises ? model::Direction::higher : model::Direction::lower)) {
            continue;
        }
        const Allowance allowed = allowance_of(comparison, judgement.baseline, rises);
        const std::size_t slow = slower_than_all(then, now, rises, allowed);
        if (slow <= judgement.slow_processes) continue;
        judgement.slow_processes = slow;
        deciding = slower_than_all(evidence.baseline, evidence.measured, rises, allowed);
    }
    judgement.processes = now.size();
    judge_slow_processes(comparison, evidence.baseline.size(), evidence.measured.size(), deciding,
                         evidence.last_round, levels, judgement);
    const bool unclear = judgement.slow_processes > 0 && !judgement.confirmed;
    judgement.measure_again =
        unclear && (evidence.last_round == 0 || more_would_decide(evidence, deciding, levels));
}

/// See Judgement. All at the first look count, and of the rounds only what is measured in them.
std::size_t first_look_processes(const Comparison& comparison, const Evidence& evidence,
                                 const Levels& levels) {
    const double sides = comparison.definition->direction == model::Direction::none ? 2 : 1;
    const std::size_t baseline = evidence.baseline.size();
    std::size_t in_rounds = 0;
    for (std::int64_t round = 1; round <= levels.rounds; ++round) {
        in_rounds += round_size(round);
        if (stats::rank_sum_least(baseline, in_rounds) <= levels.at_round(round) / sides) break;
    }
    for (std::size_t more = 0; more < in_rounds; ++more) {
        const std::size_t processes = evidence.measured.size() + more;
        if (stats::rank_sum_least(baseline, processes) <= levels.at_first_look() / sides) {
            return processes;
        }
    }
    return 0;
}

/// What sessions are allowed to differ by, as a logarithm. Few of them say little about their
/// deviation: Student's quantile of three that differ by a tenth is a factor of thousands, which
/// would hide any slowdown.
double between_sessions(const stats::Drift& drift, double level) {
    const double most = std::clamp(most_deviations * drift.deviation, std::log(slowest_machine),
                                   std::log(most_left_to_policy));
    return std::min(drift.bound(level), most);
}

void judge_by_spread(const Comparison& comparison, const Evidence& evidence,
                     const stats::Drift& drift, const Levels& levels, DetectableShifts& shifts,
                     Judgement& judgement) {
    const double size = std::fabs(judgement.baseline);
    const bool rate = comparison.definition->direction == model::Direction::higher;
    const auto drift_at = [&](double level) {
        if (evidence.paired) return 0.0;  // it affects both of a pair
        const double logarithm =
            comparison.new_board ? drift.bound(level) : between_sessions(drift, level);
        // A rate never falls below zero.
        const double learned = rate ? -std::expm1(-logarithm) : std::expm1(logarithm);
        return size *
               (comparison.new_board ? std::min(learned, comparison.most_between_boards) : learned);
    };
    const double allowed_drift = drift_at(levels.for_drift());
    const double level = deciding_level(comparison, levels);
    if (is_time(comparison) &&
        !ranks_reach(evidence, evidence.baseline.size(), evidence.measured.size(), level)) {
        judgement.enough_processes = processes_to_reach(evidence, level);
    }
    add_resolution(comparison, resolution_of(comparison, evidence, allowed_drift, levels), levels,
                   shifts, judgement);
    const Scale scale(evidence.baseline, evidence.measured);
    const std::vector<std::vector<double>> noise = noise_of(evidence, scale);
    if (is_time(comparison) || evidence.paired) {
        add_interval(comparison,
                     evidence.paired ? stats::signed_rank_interval(noise[0], interval_level)
                                     : stats::rank_sum_interval(noise[0], noise[1], interval_level),
                     scale, drift_at((1 - interval_level) / 2), judgement);
    }
    Test test;
    test.probability = [&](bool rises, const Allowance& allowed, double at) {
        return probability_of(comparison, evidence, rises, allowed, at);
    };
    test.all_beyond = [&](bool rises, const Allowance& allowed) {
        return all_beyond(evidence, rises, allowed);
    };
    if (scale.logarithmic) {
        test.error = cautious_error(stats::pooled_spread(noise), variance_per_process(evidence));
    }
    judge_by_test(comparison, allowed_drift, evidence.last_round, levels, test, judgement);
    look_for_slow_processes(comparison, evidence, allowed_drift, levels, judgement);
    const bool all_slow =
        judgement.slow_processes > 0 && judgement.slow_processes == judgement.processes;
    if (all_slow && !judgement.confirmed && evidence.last_round == 0 && !evidence.paired) {
        judgement.first_look_processes = first_look_processes(comparison, evidence, levels);
    }
}

}  // namespace

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

std::vector<stats::Drift> drifts_of(std::span<const Comparison> comparisons) {
    // Per metric: gpu_span includes the CPU's work and drifts more than gpu_time.
    std::map<std::tuple<std::size_t, bool, std::string>, std::vector<std::size_t>> pools;
    for (std::size_t i = 0; i < comparisons.size(); ++i) {
        const Comparison& comparison = comparisons[i];
        if (!is_time(comparison) || comparison.paired) continue;
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

/// Gives counters what their collections differ by: a case has few, so all of its suite's tell.
/// What is known of the class weighs where cases are few.
static void learn_collections(std::span<const Comparison> comparisons,
                              std::vector<Evidence>& evidence) {
    struct Pool {
        std::vector<std::size_t> members;
        std::vector<stats::PooledSpread> spreads;
    };
    std::map<std::pair<std::size_t, std::string>, Pool> pools;
    for (std::size_t i = 0; i < comparisons.size(); ++i) {
        const bool by_collection = !is_time(comparisons[i]) && !evidence[i].paired &&
                                   evidence[i].finite && evidence[i].basis == Basis::spread;
        if (!by_collection) continue;
        const auto own = spread_of_logs(comparisons[i], {evidence[i].baseline});
        if (!own) continue;
        Pool& pool = pools[{comparisons[i].suite, comparisons[i].definition->name}];
        pool.members.push_back(i);
        pool.spreads.push_back(*own);
    }
    for (const auto& [name, pool] : pools) {
        stats::PooledSpread known = known_spread(*comparisons[pool.members.front()].definition);
        known.df = std::max(0.0, known.df - static_cast<double>(pool.members.size() - 1));
        const stats::PooledSpread common =
            stats::moderated(stats::common_spread(pool.spreads), known);
        for (const std::size_t i : pool.members) evidence[i].collections = common;
    }
}

BatchRule::BatchRule(const model::Policy& policy, std::size_t other_tests,
                     std::map<std::string, stats::Drift> drifts)
    : false_alarms_(policy.false_alarms),
      rounds_(policy.rounds),
      other_tests_(other_tests),
      drifts_(std::move(drifts)) {}

BatchRule::BatchRule(const model::Policy& policy, Processes processes) : BatchRule(policy) {
    processes_ = processes;
}

PairedRule::PairedRule(const model::Policy& policy) : BatchRule(policy, Processes::paired) {}

std::size_t tests_by_spread(std::span<const Comparison> comparisons) {
    return static_cast<std::size_t>(
        std::count_if(comparisons.begin(), comparisons.end(), [](const Comparison& comparison) {
            return evidence_of(comparison, Processes::alone).basis == Basis::spread;
        }));
}

std::vector<Judgement> BatchRule::judge(std::span<const Comparison> comparisons) const {
    std::vector<Evidence> evidence;
    evidence.reserve(comparisons.size());
    std::size_t tests = other_tests_;
    for (const Comparison& comparison : comparisons) {
        evidence.push_back(evidence_of(comparison, processes_));
        if (evidence.back().basis == Basis::spread) ++tests;
    }
    learn_collections(comparisons, evidence);
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
        judgement.measured =
            found.paired
                ? judgement.baseline +
                      stats::trimmed_mean(differences_of(found.baseline, found.measured),
                                          trimmed_processes)
                : stats::trimmed_mean(batch_values(*comparisons[i].measured), trimmed_processes);
        judgement.verdict = Verdict::pass;
        judgement.baseline_disagrees =
            !found.paired && disagrees(*comparisons[i].definition, *comparisons[i].baseline,
                                       comparisons[i].tolerance);
        if (found.basis == Basis::spread) {
            judge_by_spread(
                comparisons[i], found, drifts[i],
                levels.of(comparisons[i], found.paired ? Processes::paired : Processes::alone),
                shifts, judgement);
        } else {
            judge_by_tolerance(comparisons[i], judgement);
        }
        judgement.measure_again =
            (judgement.measure_again && found.last_round < rounds_) ||
            worth_another_round(comparisons[i], judgement, found.last_round, rounds_);
    }
    return judgements;
}

}  // namespace perfgate::gate

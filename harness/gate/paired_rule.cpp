// SPDX-License-Identifier: Apache-2.0
#include "gate/paired_rule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "gate/batch_rule.hpp"
#include "gate/significance.hpp"
#include "stats/distributions.hpp"
#include "stats/signed_rank.hpp"
#include "stats/spread.hpp"

namespace perfgate::gate {

namespace {

/// The pairs that decide.
struct Pairs {
    std::vector<double> base, measured;
    std::size_t first = 0;  ///< pairs of round 0, which flags cases
    std::int64_t last_round = 0;
    bool finite = true;
};

using Rounds = std::map<std::int64_t, std::vector<const model::Batch*>>;

Rounds by_round(const model::MetricSeries& series) {
    Rounds rounds;
    for (const model::Batch& batch : series.batches) rounds[batch.round].push_back(&batch);
    return rounds;
}

Pairs pairs_of(const Comparison& comparison) {
    Pairs pairs;
    Rounds base = by_round(*comparison.baseline);
    for (const auto& [round, measured] : by_round(*comparison.measured)) {
        const std::vector<const model::Batch*>& partners = base[round];
        for (std::size_t i = 0; i < std::min(measured.size(), partners.size()); ++i) {
            if (!in_use(*measured[i]) || !in_use(*partners[i])) continue;
            if (round == 0) ++pairs.first;
            // The batches that got the case flagged were selected for being slow.
            if (round > 0 && pairs.last_round == 0) {
                pairs.base.clear();
                pairs.measured.clear();
            }
            pairs.last_round = round;
            pairs.base.push_back(batch_value(*partners[i]));
            pairs.measured.push_back(batch_value(*measured[i]));
            pairs.finite = pairs.finite && std::isfinite(pairs.base.back()) &&
                           std::isfinite(pairs.measured.back());
        }
    }
    return pairs;
}

std::vector<double> differences_of(const std::vector<double>& base,
                                   const std::vector<double>& measured) {
    std::vector<double> differences(base.size());
    std::transform(measured.begin(), measured.end(), base.begin(), differences.begin(),
                   std::minus<>());
    return differences;
}

/// How much larger the second value of each pair is than the first and what is allowed.
std::vector<double> differences_of(const Pairs& pairs, const Allowance& allowed = {}) {
    std::vector<double> measured = pairs.measured;
    for (double& value : measured) value = allowed.undone(value);
    return differences_of(pairs.base, measured);
}

/// Of the pairs' ratios if there are logarithms of the times, as a share of the base's value.
stats::PooledSpread spread_of(const Pairs& pairs) {
    const Scale scale(pairs.base, pairs.measured);
    const std::array groups{differences_of(scale.of(pairs.base), scale.of(pairs.measured))};
    stats::PooledSpread spread = stats::pooled_spread(groups);
    if (scale.logarithmic) {
        spread.deviation *= stats::trimmed_mean(pairs.base, trimmed_processes);
    }
    return spread;
}

stats::PooledSpread spread_to_trust(const Comparison& comparison, const Pairs& pairs) {
    return cautious_spread(*comparison.definition, spread_of(pairs),
                           stats::trimmed_mean(pairs.base, trimmed_processes), std::sqrt(2.0));
}

/// See Test.
bool all_beyond(const Pairs& pairs, bool rises, const Allowance& allowed) {
    const std::vector<double> differences = differences_of(pairs, allowed);
    return std::all_of(differences.begin(), differences.end(), [rises](double difference) {
        return rises ? difference > 0 : difference < 0;
    });
}

/// See Test.
std::optional<double> probability_of(const Comparison& comparison, const Pairs& pairs, bool rises,
                                     const Allowance& allowed, double level) {
    std::vector<double> differences = differences_of(pairs, allowed);
    if (!rises) {
        for (double& difference : differences) difference = -difference;
    }
    if (stats::signed_rank_least(differences.size()) <= level) {
        return stats::signed_rank_greater(differences);
    }
    if (is_time(comparison)) return std::nullopt;
    const stats::PooledSpread spread = spread_to_trust(comparison, pairs);
    const double rise = stats::trimmed_mean(differences, 0);
    const double error = spread.deviation / std::sqrt(static_cast<double>(differences.size()));
    if (error == 0) return rise > 0 ? 0 : 1;
    return stats::student_upper_tail(rise / error, spread.df);
}

/// As many as the signed-rank test needs to reach the level.
std::size_t pairs_to_reach(double level) {
    std::size_t pairs = 1;
    while (stats::signed_rank_least(pairs) > level) ++pairs;
    return pairs;
}

Resolution resolution_of(const Comparison& comparison, const Pairs& pairs, const Levels& levels) {
    Resolution resolution;
    // Differences are compared with zero, which is exact.
    resolution.against = std::numeric_limits<std::uint32_t>::max();
    resolution.first = std::max<std::size_t>(pairs.first, 1);
    resolution.last = processes_at_verdict(levels, pairs.base.size());
    resolution.ranks =
        stats::signed_rank_least(resolution.last) <= deciding_level(comparison, levels);
    resolution.measured = spread_of(pairs);
    resolution.cautious = spread_to_trust(comparison, pairs);
    resolution.df_at_last = static_cast<double>(resolution.last) - 1;
    return resolution;
}

/// Counts that the base repeats are compared to the digit: no difference of theirs is spread.
bool is_exact(const Comparison& comparison) {
    return comparison.definition->metric_class == model::MetricClass::exact &&
           repeats(*comparison.baseline);
}

struct Paired {
    std::size_t index = 0;  ///< of the comparison
    Pairs pairs;
};

}  // namespace

std::vector<Judgement> PairedRule::judge(std::span<const Comparison> comparisons) const {
    std::vector<Paired> paired;
    std::vector<std::size_t> others;
    std::vector<Comparison> left;
    for (std::size_t i = 0; i < comparisons.size(); ++i) {
        Pairs pairs = pairs_of(comparisons[i]);
        if (pairs.base.size() > 1 && !is_exact(comparisons[i])) {
            paired.push_back({i, std::move(pairs)});
        } else {
            others.push_back(i);
            left.push_back(comparisons[i]);
        }
    }
    std::vector<Judgement> judgements(comparisons.size());
    // One budget for both.
    const std::vector<Judgement> of_left = BatchRule(policy_, paired.size()).judge(left);
    for (std::size_t i = 0; i < others.size(); ++i) judgements[others[i]] = of_left[i];

    const Levels levels(policy_.false_alarms, paired.size() + tests_by_spread(left),
                        policy_.rounds);
    DetectableShifts shifts;
    for (const auto& [index, pairs] : paired) {
        const Comparison& comparison = comparisons[index];
        Judgement& judgement = judgements[index];
        judgement.basis = Basis::spread;
        if (!pairs.finite) {
            judgement.verdict = model::Verdict::invalid;
            continue;
        }
        judgement.baseline = stats::trimmed_mean(pairs.base, trimmed_processes);
        judgement.measured =
            judgement.baseline + stats::trimmed_mean(differences_of(pairs), trimmed_processes);
        const Levels own = levels.of(comparison);
        add_resolution(comparison, resolution_of(comparison, pairs, own), own, shifts, judgement);
        const double level = deciding_level(comparison, own);
        if (is_time(comparison) && stats::signed_rank_least(pairs.base.size()) > level) {
            judgement.enough_processes = pairs_to_reach(level);
        }
        const Scale scale(pairs.base, pairs.measured);
        const std::array differences{
            differences_of(scale.of(pairs.base), scale.of(pairs.measured))};
        add_interval(comparison, stats::signed_rank_interval(differences[0], interval_level), scale,
                     0, judgement);
        Test test;
        test.probability = [&, &of = pairs](bool rises, const Allowance& allowed, double at) {
            return probability_of(comparison, of, rises, allowed, at);
        };
        test.all_beyond = [&of = pairs](bool rises, const Allowance& allowed) {
            return all_beyond(of, rises, allowed);
        };
        if (scale.logarithmic) {
            test.error = cautious_error(stats::pooled_spread(differences),
                                        1 / static_cast<double>(pairs.base.size()));
        }
        judge_by_test(comparison, 0, pairs.last_round, own, test, judgement);
        judgement.measure_again =
            worth_another_round(comparison, judgement, pairs.last_round, policy_.rounds);
    }
    return judgements;
}

}  // namespace perfgate::gate

// SPDX-License-Identifier: Apache-2.0
// How the rule judges what is exact, and counters: of single collections, in suites of cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "unit/batch_rule_series.hpp"

namespace perfgate::gate {
namespace batch_rule_counters_test {

using namespace batch_rule_series;

Setting exact() {
    Setting setting;
    setting.metric_class = MetricClass::exact;
    setting.tolerance = {};
    return setting;
}

TEST(BatchRule, AnExactMetricThatRepeatsIsComparedToTheDigit) {
    const MetricSeries baseline = processes(Values(20, 847'682), 0, "count");
    EXPECT_EQ(judged(baseline, processes(Values(5, 847'682)), exact()).verdict, Verdict::pass);
    const Judgement more = judged(baseline, processes(Values(5, 847'683)), exact());
    EXPECT_EQ(more.verdict, Verdict::regressed);
    EXPECT_EQ(more.basis, Basis::exact);
    EXPECT_FALSE(more.measure_again) << "it would be the same again";
    EXPECT_EQ(judged(processes({64}), processes({65}), exact()).verdict, Verdict::regressed);
}

TEST(BatchRule, OfAnExactMetricTheWorstProcessDecides) {
    const MetricSeries baseline = processes(Values(20, 10'000), 0, "count");
    Setting setting = exact();
    const auto judged_from = [&](const Values& values) {
        return judged(baseline, processes(values), setting);
    };
    EXPECT_EQ(judged_from({10'000, 20'000, 10'000}).verdict, Verdict::regressed);
    EXPECT_EQ(judged_from({10'000, 20'000, 10'000}).measured, 20'000);
    EXPECT_EQ(judged_from({10'000, 9'000, 10'000}).verdict, Verdict::pass)
        << "one good process is no improvement";
    EXPECT_EQ(judged_from({9'000, 9'000}).verdict, Verdict::improved);
    setting.direction = Direction::higher;
    EXPECT_EQ(judged_from({10'000, 9'000, 11'000}).measured, 9'000);
    setting.direction = Direction::none;
    EXPECT_EQ(judged_from({10'000, 9'000, 10'500}).measured, 9'000);
    EXPECT_EQ(judged_from({10'000, 9'000, 10'500}).verdict, Verdict::regressed);
    EXPECT_EQ(judged(processes({10'000}), processes({10'000, 20'000}), exact()).verdict,
              Verdict::regressed);
}

TEST(BatchRule, AWorstProcessIsNotForgottenWhenTheCaseIsMeasuredAgain) {
    const MetricSeries baseline = processes(Values(20, 10), 0, "count");
    MetricSeries now = processes({10, 10, 11}, 0, "count");
    const MetricSeries again = processes(Values(8, 10), 1, "count");
    now.batches.insert(now.batches.end(), again.batches.begin(), again.batches.end());
    const Judgement found = judged(baseline, now, exact());
    EXPECT_EQ(found.verdict, Verdict::regressed);
    EXPECT_EQ(found.measured, 11);
}

TEST(BatchRule, AnExactMetricThatVariedIsJudgedByItsSpread) {
    const MetricSeries baseline = processes(spread_around(847'682, 20, 0.0005), 0, "count");
    const Judgement same = judged(baseline, confirmed(847'800, 0.0005), exact());
    EXPECT_EQ(same.verdict, Verdict::pass);
    EXPECT_EQ(same.basis, Basis::spread);
    EXPECT_EQ(judged(baseline, confirmed(860'000, 0.0005), exact()).verdict, Verdict::regressed);
}

TEST(BatchRule, ACounterHasItsOwnSpread) {
    Setting setting;
    setting.metric_class = MetricClass::counter;
    setting.tolerance = {0.01, std::nullopt, 0};
    setting.policy.rounds = 0;
    const MetricSeries wide = processes(spread_around(1e6, 20, 0.05), 0, "bytes");
    const MetricSeries narrow = processes(spread_around(1e6, 20, 0.001), 0, "bytes");
    const MetricSeries now = processes({1.08e6}, 0, "bytes");
    EXPECT_NE(judged(wide, now, setting).verdict, Verdict::regressed);
    EXPECT_EQ(judged(narrow, now, setting).verdict, Verdict::regressed);
}

/// A suite whose counter was collected three times for the baseline.
struct Counted {
    std::size_t cases = 40;
    double spread = 0.003;  ///< the median of the cases', relative
    double unlike = 0;      ///< standard deviation of the logarithms of the cases' spreads
    double run_shift = 0;   ///< standard deviation of what all collections of a run share
    bool outliers = false;  ///< noise of Student's distribution with three degrees of freedom
    double tolerance = 0.02;
    double change = 0;     ///< of the first case
    double in_claims = 0;  ///< of each case, in units of what the first look claims to detect
    Values alone = {};     ///< the first case's in the baseline
    bool collects_again = true;
    Policy policy = {};
};

bool looks_worse(const Judgement& judgement) {
    return judgement.verdict == Verdict::regressed ||
           (judgement.verdict == Verdict::inconclusive && judgement.doubt == model::Doubt::unclear);
}

/// Plays a run as `perfgate run` does: what looks worse is collected again.
std::vector<Judgement> played(const Counted& world, std::uint64_t seed) {
    const model::MetricDefinition metric = definition("x", "count", MetricClass::counter);
    std::mt19937_64 engine(seed);
    std::normal_distribution<double> normal;
    std::student_t_distribution<double> student(3);
    const double shift = world.run_shift * (normal(engine) - normal(engine));
    Values spreads(world.cases);
    for (double& spread : spreads) spread = world.spread * std::exp(world.unlike * normal(engine));
    const auto value = [&](std::size_t i, double moved) {
        const double noise = world.outliers ? student(engine) / std::sqrt(3.0) : normal(engine);
        return 1000.0 * static_cast<double>(i + 1) * std::exp(moved + spreads[i] * noise);
    };
    std::vector<MetricSeries> baselines, runs;
    for (std::size_t i = 0; i < world.cases; ++i) {
        baselines.push_back(processes({value(i, 0), value(i, 0), value(i, 0)}, 0, "count"));
        runs.push_back(processes({value(i, shift)}, 0, "count"));
    }
    if (!world.alone.empty()) baselines[0] = processes(world.alone, 0, "count");
    std::vector<Comparison> comparisons;
    for (std::size_t i = 0; i < world.cases; ++i) {
        comparisons.push_back(
            {&metric, &baselines[i], &runs[i], {world.tolerance, std::nullopt, 0}});
    }
    const BatchRule rule(world.policy);
    Values changes(world.cases, 0);
    changes[0] = world.change;
    if (world.in_claims > 0) {
        const std::vector<Judgement> claims = rule.judge(comparisons);
        for (std::size_t i = 0; i < world.cases; ++i) {
            changes[i] = world.in_claims * claims[i].minimum_detectable_change.value();
        }
    }
    for (std::size_t i = 0; i < world.cases; ++i) {
        runs[i].batches[0].samples[0] *= 1 + changes[i];
        runs[i].value *= 1 + changes[i];
    }
    std::vector<Judgement> judgements = rule.judge(comparisons);
    if (!world.collects_again) return judgements;
    for (std::size_t look = 0; look < fresh_collections.size(); ++look) {
        for (std::size_t i = 0; i < world.cases; ++i) {
            if (!looks_worse(judgements[i])) continue;
            Values fresh(fresh_collections[look]);
            for (double& each : fresh) each = value(i, shift) * (1 + changes[i]);
            add_round(runs[i], fresh, static_cast<std::int64_t>(look) + 1);
        }
        judgements = rule.judge(comparisons);
    }
    return judgements;
}

struct CounterRates {
    double runs_with_alarm = 0;  ///< in a case that did not change
    double found = 0;            ///< of the cases that changed
    double flagged = 0;          ///< of the other cases, after all looks
};

CounterRates rates(const Counted& world, std::uint64_t runs) {
    CounterRates rates;
    const std::size_t changed = world.in_claims > 0 ? world.cases : world.change != 0 ? 1 : 0;
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        const std::vector<Judgement> judgements = played(world, seed);
        bool alarm = false;
        for (std::size_t i = 0; i < world.cases; ++i) {
            const bool regressed = judgements[i].verdict == Verdict::regressed;
            if (i < changed) {
                rates.found += regressed ? 1 : 0;
            } else {
                alarm = alarm || regressed;
                rates.flagged += looks_worse(judgements[i]) ? 1 : 0;
            }
        }
        rates.runs_with_alarm += alarm ? 1 : 0;
    }
    rates.runs_with_alarm /= static_cast<double>(runs);
    rates.found /= static_cast<double>(runs * std::max<std::size_t>(changed, 1));
    rates.flagged /= static_cast<double>(runs * std::max<std::size_t>(world.cases - changed, 1));
    return rates;
}

TEST(BatchRule, AChangeOfACounterIsFoundWhereTheCasesOfASuiteSpreadLittle) {
    const CounterRates alike = rates({.change = 0.05}, 100);
    EXPECT_GE(alike.found, 0.95);
    EXPECT_EQ(alike.runs_with_alarm, 0);
    EXPECT_EQ(alike.flagged, 0);
    const CounterRates unlike = rates({.spread = 0.001, .unlike = 1, .change = 0.05}, 100);
    EXPECT_GE(unlike.found, 0.9);
    EXPECT_EQ(unlike.runs_with_alarm, 0);
    EXPECT_GE(rates({.spread = 0.001, .unlike = 1, .change = 0.1}, 100).found, 0.95);
}

TEST(BatchRule, CountersOfUnchangedCodeKeepTheBudget) {
    // A budget so large that 80 runs show whether it is kept, and a tolerance that hides nothing.
    constexpr double budget = 0.2;
    Policy policy;
    policy.false_alarms = budget;
    for (Counted world :
         {Counted{}, Counted{.spread = 0.01, .unlike = 1.3}, Counted{.cases = 6, .unlike = 1},
          Counted{.spread = 0.01, .unlike = 1, .run_shift = 0.003, .outliers = true}}) {
        world.tolerance = 0;
        world.policy = policy;
        EXPECT_LE(rates(world, 80).runs_with_alarm, budget);
        if (world.outliers) continue;  // the single collections of such a counter are not normal
        world.collects_again = false;
        EXPECT_LE(rates(world, 80).runs_with_alarm, budget);
    }
    // At the usual budget and tolerance.
    EXPECT_EQ(
        rates({.cases = 100, .spread = 0.012, .unlike = 1, .run_shift = 0.003, .outliers = true},
              40)
            .runs_with_alarm,
        0);
}

TEST(BatchRule, WhatACounterClaimsToDetectIsFound) {
    for (Counted world : {Counted{}, Counted{.spread = 0.005, .unlike = 1}}) {
        world.in_claims = 1;
        world.tolerance = 0;
        EXPECT_GE(rates(world, 20).found, 0.9);
    }
}

TEST(BatchRule, ACounterThatLookedWorseOnceDoesNotFail) {
    const model::MetricDefinition metric = definition("x", "count", MetricClass::counter);
    const MetricSeries baseline = processes({1000, 1001, 999}, 0, "count");
    MetricSeries run = processes({1500}, 0, "count");
    const Comparison comparison{&metric, &baseline, &run, {0.02, std::nullopt, 0}};
    EXPECT_EQ(BatchRule(Policy{}).judge({&comparison, 1})[0].verdict, Verdict::regressed);
    add_round(run, {1000, 1001}, 1);
    const Judgement again = BatchRule(Policy{}).judge({&comparison, 1})[0];
    EXPECT_EQ(again.verdict, Verdict::pass);
    EXPECT_DOUBLE_EQ(again.measured, 1000.5) << "of the fresh ones";
}

TEST(BatchRule, CollectionsThatAgreeByChanceDoNotMakeACounterExact) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const std::vector<Judgement> judgements = played(
            {.spread = 0.02, .change = 0.05, .alone = {1000, 1000, 1000}, .collects_again = false},
            seed);
        EXPECT_NE(judgements[0].verdict, Verdict::regressed) << "the other cases spread by 2 %";
    }
}

TEST(BatchRule, ACounterThatCanBeZeroIsJudgedByItsOwnSpread) {
    EXPECT_EQ(played({.change = 0.05, .alone = {0, 0, 0}}, 1)[0].verdict, Verdict::regressed);
}

TEST(BatchRule, ACounterIsNotMeasuredAgainBecauseRoundsMeasureTimes) {
    Setting setting;
    setting.metric_class = MetricClass::counter;
    setting.policy.rounds = 2;
    const MetricSeries now = processes({1.08e6}, 0, "bytes");
    for (const MetricSeries& baseline :
         {processes({1e6}, 0, "bytes"), processes(spread_around(1e6, 20, 0.001), 0, "bytes")}) {
        const Judgement found = judged(baseline, now, setting);
        EXPECT_EQ(found.verdict, Verdict::regressed);
        EXPECT_FALSE(found.measure_again);
    }
}

}  // namespace batch_rule_counters_test
}  // namespace perfgate::gate

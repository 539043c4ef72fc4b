// SPDX-License-Identifier: Apache-2.0
// Each part of the rule for times has the case it must catch and the one it must leave alone.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "unit/batch_rule_series.hpp"
#include "unit/simulated.hpp"

namespace perfgate::gate {
namespace batch_rule_test {

using namespace batch_rule_series;
using simulated::Random;

// ---- practically and statistically --------------------------------------------------------------

TEST(BatchRule, BeyondToleranceAndSpreadIsRegressed) {
    const Judgement judgement = judged(usual_baseline, confirmed(101'000));
    EXPECT_EQ(judgement.verdict, Verdict::regressed);
    EXPECT_EQ(judgement.basis, Basis::spread);
    EXPECT_NEAR(judgement.baseline, 100'000, 1);
    EXPECT_NEAR(judgement.measured, 101'000, 1);
    EXPECT_LE(judgement.probability.value(), 0.0005);
    EXPECT_FALSE(judgement.measure_again);
}

TEST(BatchRule, TheFirstLookOfFiveAgainstTwentyDecidesTenTests) {
    const MetricSeries slower = processes(spread_around(103'000, 5));
    for (const std::size_t tests : {1, 10, 11}) {
        const model::MetricDefinition metric =
            definition("x", "ns", MetricClass::timing, Direction::lower);
        const std::vector<Comparison> comparisons(
            tests, {&metric, &usual_baseline, &slower, {0.005, std::nullopt, 0}, 0});
        const Judgement judgement = BatchRule(Policy()).judge(comparisons).at(0);
        EXPECT_EQ(judgement.verdict, Verdict::regressed) << "what is stored is judged as it is";
        EXPECT_EQ(judgement.measure_again, tests == 11) << tests;
    }
    MetricSeries slightly = processes(spread_around(100'700, 5));
    EXPECT_TRUE(judged(usual_baseline, slightly).measure_again) << "flagged, not decided";
}

TEST(BatchRule, ProcessesThatAreAllSlowerSayHowManyTheFirstLookNeeds) {
    const auto against = [](std::size_t baseline, std::size_t measured) {
        return judged(processes(spread_around(100'000, baseline)),
                      processes(spread_around(130'000, measured)));
    };
    EXPECT_EQ(against(9, 3).first_look_processes, 6U) << "of C(15, 6) orders one is so extreme";
    EXPECT_TRUE(against(9, 3).measure_again);
    EXPECT_TRUE(against(9, 6).confirmed);
    EXPECT_FALSE(against(9, 6).measure_again);
    EXPECT_FALSE(against(9, 5).confirmed);
    EXPECT_EQ(against(8, 3).first_look_processes, 7U);
    EXPECT_EQ(against(12, 3).first_look_processes, 5U);
    EXPECT_EQ(against(3, 3).first_look_processes, 30U) << "rounds would need 5 and 40";
    EXPECT_EQ(against(2, 3).first_look_processes, 0U) << "rounds would not decide, either";
    EXPECT_EQ(against(20, 5).first_look_processes, 0U) << "it has decided";

    const MetricSeries few = processes(spread_around(100'000, 8));
    EXPECT_EQ(judged(few, processes({130'000, 100'000, 131'000})).first_look_processes, 0U);
    MetricSeries again = processes(spread_around(130'000, 3));
    add_round(again, spread_around(130'000, 3), 1);
    EXPECT_EQ(judged(few, again).first_look_processes, 0U) << "it is over";
}

TEST(BatchRule, SignificantWithinTheToleranceIsAPass) {
    EXPECT_EQ(judged(usual_baseline, confirmed(100'400)).verdict, Verdict::pass);
}

TEST(BatchRule, BeyondTheToleranceWithinTheSpreadIsAPass) {
    const MetricSeries noisy = processes(spread_around(100'000, 20, 0.05));
    EXPECT_EQ(judged(noisy, confirmed(101'000, 0.05)).verdict, Verdict::pass);
}

TEST(BatchRule, WhatStaysUnclearIsInconclusive) {
    const MetricSeries noisy = processes(spread_around(100'000, 20, 0.02));
    const Judgement judgement = judged(noisy, confirmed(102'000, 0.02));
    EXPECT_EQ(judgement.verdict, Verdict::inconclusive);
    EXPECT_FALSE(judgement.measure_again) << "both rounds are spent";
    EXPECT_GT(judgement.minimum_detectable_change.value(), 0.02);
    EXPECT_TRUE(judgement.tolerance_is_finer);
}

TEST(BatchRule, AnImprovementNeedsAsMuch) {
    EXPECT_EQ(judged(usual_baseline, confirmed(98'000)).verdict, Verdict::improved);
    EXPECT_EQ(judged(usual_baseline, confirmed(99'700)).verdict, Verdict::pass);
    const MetricSeries noisy = processes(spread_around(100'000, 20, 0.05));
    EXPECT_EQ(judged(noisy, confirmed(98'000, 0.05)).verdict, Verdict::pass);
}

TEST(BatchRule, HigherIsBetterTurnsItRoundAndNoDirectionFailsBothWays) {
    Setting setting;
    setting.direction = Direction::higher;
    EXPECT_EQ(judged(usual_baseline, confirmed(98'000), setting).verdict, Verdict::regressed);
    EXPECT_EQ(judged(usual_baseline, confirmed(102'000), setting).verdict, Verdict::improved);
    setting.direction = Direction::none;
    EXPECT_EQ(judged(usual_baseline, confirmed(98'000), setting).verdict, Verdict::regressed);
    EXPECT_EQ(judged(usual_baseline, confirmed(102'000), setting).verdict, Verdict::regressed);
}

TEST(BatchRule, LeewayForAnotherBoardIsNoChange) {
    Setting setting;
    setting.leeway = 0.02;
    EXPECT_EQ(judged(usual_baseline, confirmed(102'000), setting).verdict, Verdict::pass);
    EXPECT_EQ(judged(usual_baseline, confirmed(104'000), setting).verdict, Verdict::regressed);
}

TEST(BatchRule, TheBudgetIsSharedByAllThatIsJudged) {
    const MetricSeries noisy = processes(spread_around(100'000, 20, 0.006));
    const MetricSeries measured = confirmed(101'300, 0.006);
    const model::MetricDefinition metric = definition("x", "ns", MetricClass::timing);
    const auto among = [&](std::size_t count) {
        std::vector<Comparison> comparisons(count,
                                            {&metric, &noisy, &noisy, {0.005, std::nullopt, 0}, 0});
        comparisons[0].measured = &measured;
        return BatchRule(Policy()).judge(comparisons).at(0);
    };
    // Seven twentieths of 0.1 %, and of that half for the second round.
    const Judgement alone = among(1);
    EXPECT_EQ(alone.verdict, Verdict::regressed);
    const double probability = alone.probability.value();
    EXPECT_LE(probability, 0.000175);
    const auto many = static_cast<std::size_t>(0.000175 / probability);
    ASSERT_LT(many, 2000U);
    EXPECT_EQ(among(many).verdict, Verdict::regressed);
    EXPECT_EQ(among(many + 1).verdict, Verdict::inconclusive);
    EXPECT_GT(among(20'000).minimum_detectable_change, alone.minimum_detectable_change);
}

// ---- rounds -------------------------------------------------------------------------------------

TEST(BatchRule, ThreeProcessesOnlyFlag) {
    const Judgement judgement = judged(usual_baseline, processes(spread_around(101'000, 3)));
    EXPECT_TRUE(judgement.measure_again);
    EXPECT_NE(judgement.verdict, Verdict::pass);
}

TEST(BatchRule, OnlyFreshBatchesDecide) {
    MetricSeries measured = processes(spread_around(110'000, 5));
    add_round(measured, spread_around(100'000, round_size(1)), 1);
    const Judgement judgement = judged(usual_baseline, measured);
    EXPECT_EQ(judgement.verdict, Verdict::pass);
    EXPECT_FALSE(judgement.measure_again);
    EXPECT_NEAR(judgement.measured, 100'000, 1) << "the ten per cent got it flagged";
}

TEST(BatchRule, AClearCaseIsOverAfterOneRound) {
    MetricSeries measured = processes(spread_around(110'000, 5));
    add_round(measured, spread_around(110'000, round_size(1)), 1);
    const Judgement judgement = judged(usual_baseline, measured);
    EXPECT_EQ(judgement.verdict, Verdict::regressed);
    EXPECT_FALSE(judgement.measure_again);
}

TEST(BatchRule, AnUnclearOneIsMeasuredOnceMore) {
    const MetricSeries noisy = processes(spread_around(100'000, 20, 0.01));
    MetricSeries measured = processes(spread_around(101'500, 5, 0.01));
    add_round(measured, spread_around(101'500, round_size(1), 0.01), 1);
    const Judgement judgement = judged(noisy, measured);
    EXPECT_EQ(judgement.verdict, Verdict::inconclusive);
    EXPECT_TRUE(judgement.measure_again);
}

TEST(BatchRule, WithoutRoundsWhatWasMeasuredDecides) {
    Setting setting;
    setting.policy.rounds = 0;
    const Judgement judgement =
        judged(usual_baseline, processes(spread_around(105'000, 8)), setting);
    EXPECT_EQ(judgement.verdict, Verdict::regressed);
    EXPECT_FALSE(judgement.measure_again);
}

TEST(BatchRule, BatchesThatAreExcludedDoNotCount) {
    MetricSeries measured = confirmed(100'000);
    add_round(measured, spread_around(150'000, 8), 2);
    for (std::size_t i = 21; i < measured.batches.size(); ++i) {
        measured.batches[i].excluded = "throttled";
    }
    EXPECT_EQ(judged(usual_baseline, measured).verdict, Verdict::pass);
    for (model::Batch& batch : measured.batches) batch.excluded = "throttled";
    EXPECT_EQ(judged(usual_baseline, measured).verdict, Verdict::invalid);
}

// ---- little data, odd data ----------------------------------------------------------------------

TEST(BatchRule, WithOneProcessInTheBaselineTheToleranceDecides) {
    Setting setting;
    setting.tolerance = {0.03, std::nullopt, 0};
    const MetricSeries one = processes({100'000});
    const Judgement within = judged(one, processes({102'900}), setting);
    EXPECT_EQ(within.verdict, Verdict::pass);
    EXPECT_EQ(within.basis, Basis::one_process);
    EXPECT_FALSE(within.minimum_detectable_change) << "nothing is known of the spread";
    const Judgement beyond = judged(one, processes({103'100}), setting);
    EXPECT_EQ(beyond.verdict, Verdict::regressed);
    EXPECT_TRUE(beyond.measure_again);
    EXPECT_EQ(judged(one, confirmed(102'900), setting).verdict, Verdict::pass);
    EXPECT_EQ(judged(one, confirmed(103'100), setting).verdict, Verdict::regressed);
    EXPECT_EQ(judged(one, processes({96'000}), setting).verdict, Verdict::improved);
}

TEST(BatchRule, WithFewProcessesNoTimeIsRegressedBecauseTheyMayBeTwoModes) {
    Setting setting;
    setting.policy.rounds = 0;
    const MetricSeries same = processes({10'000, 10'000, 10'000});
    for (const double now : {10'100.0, 20'000.0}) {
        const Judgement few = judged(same, processes({now, now, now}), setting);
        EXPECT_EQ(few.verdict, Verdict::inconclusive) << "1 of 20 divisions looks like this";
        EXPECT_TRUE(few.too_few_processes);
        EXPECT_EQ(few.enough_processes, 7U) << "1 of 3432";
        EXPECT_FALSE(few.minimum_detectable_change) << "nothing is found, however large";
    }
    const MetricSeries more = processes({10'000, 10'000, 10'000, 10'000, 10'000, 10'000});
    const Judgement enough = judged(more, processes(Values(8, 20'000)), setting);
    EXPECT_EQ(enough.verdict, Verdict::regressed) << "1 of 3003";
    EXPECT_EQ(enough.enough_processes, 0U);
}

TEST(BatchRule, NoiseWithinTheToleranceRaisesNoAlarmHoweverFewTheProcesses) {
    // Processes within the tolerance of each other, but for a few, judged at once: what is invalid
    // is an alarm, too. The budget is two in 2000, but few processes do not know their tail.
    struct Noise {
        const char* name;
        simulated::Shape shape;
        double spread;
    };
    const Noise noises[] = {{"normal", simulated::normal, 0.01},
                            {"bimodal", simulated::bimodal, 0.006},
                            {"skewed", simulated::skewed, 0.003}};
    Setting setting;
    setting.policy.rounds = 0;
    setting.tolerance.worse = 0.03;
    for (const Noise& noise : noises) {
        for (const auto& [in_baseline, in_run] :
             {std::pair(2, 2), {3, 3}, {5, 5}, {5, 1}, {20, 1}, {20, 5}}) {
            Random random(17);
            constexpr int trials = 2000;
            int alarms = 0;
            for (int i = 0; i < trials; ++i) {
                const auto some = [&](int count) {
                    return processes(simulated::draw(random, noise.shape,
                                                     static_cast<std::size_t>(count), 1e5,
                                                     1e5 * noise.spread));
                };
                const MetricSeries baseline = some(in_baseline);
                const Judgement judgement = judged(baseline, some(in_run), setting);
                alarms += judgement.beyond_spread || judgement.verdict == Verdict::regressed;
            }
            EXPECT_LE(alarms, 10) << noise.name << ' ' << in_baseline << ", " << in_run;
        }
    }
}

TEST(BatchRule, ManyProcessesWithoutAnySpreadAreBelieved) {
    const MetricSeries same = processes(Values(20, 8'512));
    MetricSeries measured = processes(Values(5, 8'600));
    EXPECT_EQ(judged(same, processes(Values(5, 8'512))).verdict, Verdict::pass);
    add_round(measured, Values(8, 8'600), 1);
    EXPECT_EQ(judged(same, measured).verdict, Verdict::regressed);
}

TEST(BatchRule, FromZeroOnlyAbsAllowsADifference) {
    Setting setting;
    setting.metric_class = MetricClass::counter;
    setting.tolerance = {0.1, std::nullopt, 10};
    const MetricSeries none = processes(Values(20, 0), 0, "count");
    const auto now = [](double value) {
        MetricSeries series = processes(Values(5, value), 0, "count");
        add_round(series, Values(8, value), 1);
        return series;
    };
    EXPECT_EQ(judged(none, now(0), setting).verdict, Verdict::pass);
    EXPECT_EQ(judged(none, now(10), setting).verdict, Verdict::pass);
    EXPECT_EQ(judged(none, now(11), setting).verdict, Verdict::regressed);
    EXPECT_FALSE(judged(none, now(11), setting).minimum_detectable_change) << "no fraction of zero";
}

TEST(BatchRule, WhatCannotBeComputedIsNotSaid) {
    // Their squares are no numbers.
    const auto detectable =
        judged(processes(spread_around(1e200, 20)), confirmed(1e200)).minimum_detectable_change;
    EXPECT_TRUE(!detectable || std::isfinite(*detectable)) << *detectable;
}

TEST(BatchRule, AnOutlyingProcessNeitherConfirmsNorShields) {
    Values values = spread_around(100'000, 20);
    values.back() = 180'000;
    const MetricSeries baseline = processes(values);
    EXPECT_EQ(judged(baseline, confirmed(102'000)).verdict, Verdict::regressed);

    MetricSeries measured = confirmed(100'000);
    for (const std::size_t i : {std::size_t{0}, std::size_t{6}, std::size_t{14}}) {
        measured.batches[i].samples = {180'000};
    }
    EXPECT_EQ(judged(usual_baseline, measured).verdict, Verdict::pass);
}

/// 16 processes of 100 µs, of which the last ones take longer.
MetricSeries disturbed(std::size_t count, double factor) {
    Values values = spread_around(100'000, 16 - count);
    for (const double value : spread_around(100'000 * factor, count)) values.push_back(value);
    return processes(values);
}

bool disagree(const MetricSeries& series, double tolerance,
              Direction direction = Direction::lower) {
    return disagrees(definition("x", "ns", MetricClass::timing, direction), series,
                     {tolerance, std::nullopt, 0});
}

TEST(BatchRule, ADisturbedBaselineDoesNotLetARegressionPass) {
    Setting setting;
    setting.tolerance.worse = 0.1;
    const MetricSeries baseline = disturbed(6, 2.4);
    const Judgement judgement = judged(baseline, processes(spread_around(150'000, 5)), setting);
    EXPECT_EQ(judgement.verdict, Verdict::pass) << "50 % slower than what most processes took";
    EXPECT_TRUE(judgement.baseline_disagrees) << "which the gate makes inconclusive";
    EXPECT_FALSE(judged(usual_baseline, confirmed(100'000), setting).baseline_disagrees);
}

TEST(BatchRule, ProcessesDisagreeWhereTheToleranceIsLessThanWhatTheyDo) {
    EXPECT_TRUE(disagree(disturbed(6, 2.4), 0.1));
    EXPECT_TRUE(disagree(disturbed(8, 1.3), 0.1));
    EXPECT_FALSE(disagree(disturbed(6, 1.2), 0.1)) << "hides less than the tolerance once more";
    EXPECT_FALSE(disagree(disturbed(2, 3), 0.1)) << "so few are trimmed";
    EXPECT_FALSE(disagree(disturbed(0, 1), 0.001)) << "no tolerance is finer than what times do";
    EXPECT_FALSE(disagree(processes({100'000}), 0.1)) << "one process has nobody to disagree with";
    EXPECT_TRUE(disagree(processes({100'000, 150'000}), 0.1));
}

TEST(BatchRule, TwoModesWithinTheToleranceAreNoDisagreement) {
    for (const std::size_t slow : {4U, 8U, 12U}) {
        EXPECT_FALSE(disagree(disturbed(slow, 1.03), 0.02)) << slow;
        EXPECT_FALSE(disagree(disturbed(slow, 1.10), 0.10)) << slow;
    }
    EXPECT_TRUE(disagree(disturbed(8, 1.10), 0.02)) << "the tolerance is a fraction of the modes";
}

TEST(BatchRule, TheBetterProcessesAreTheLargerOnesWhereHigherIsBetter) {
    EXPECT_TRUE(disagree(disturbed(6, 0.4), 0.1, Direction::higher));
    EXPECT_FALSE(disagree(disturbed(6, 0.8), 0.1, Direction::higher));
    EXPECT_FALSE(disagrees(definition("x", "count", MetricClass::counter), disturbed(6, 2.4), {}));
}

TEST(BatchRule, OutliersWithinABatchAreTrimmed) {
    MetricSeries series = processes({0, 0});
    for (model::Batch& batch : series.batches) batch.samples = Values(20, 1000);
    series.batches[0].samples[3] = 90'000;
    series.batches[1].samples[7] = 1;
    EXPECT_EQ(batch_values(series), (Values{1000, 1000}));
}

TEST(BatchRule, WhatIsNoNumberIsNeverAPass) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    Values values(8, 100'000);
    values[3] = nan;
    EXPECT_EQ(judged(usual_baseline, processes(values)).verdict, Verdict::invalid);
    EXPECT_EQ(judged(processes(values), confirmed(100'000)).verdict, Verdict::invalid);
}

TEST(BatchRule, NothingToJudgeGivesNothing) {
    EXPECT_TRUE(BatchRule(Policy()).judge({}).empty());
}

}  // namespace batch_rule_test
}  // namespace perfgate::gate

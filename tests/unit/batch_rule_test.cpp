// SPDX-License-Identifier: Apache-2.0
// Each part of the rule has the case it must catch and the one it must leave alone; then its error
// rates, by simulation on the shapes that measured times have.
#include "gate/batch_rule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gate/rule.hpp"
#include "unit/gate_documents.hpp"
#include "unit/simulated.hpp"

namespace perfgate::gate {
namespace batch_rule_test {

using documents::definition;
using model::Direction;
using model::MetricClass;
using model::MetricSeries;
using model::Policy;
using model::Verdict;
using simulated::Random;
using Values = std::vector<double>;

/// One process per value.
MetricSeries processes(const Values& values, std::int64_t round = 0, std::string unit = "ns") {
    MetricSeries series;
    series.unit = std::move(unit);
    series.method = "activity/cold";
    for (const double value : values) {
        model::Batch& batch = series.batches.emplace_back();
        batch.process = static_cast<std::int64_t>(series.batches.size()) - 1;
        batch.samples = {value};
        batch.round = round;
    }
    series.value = values.empty() ? 0 : values.front();
    return series;
}

void add_round(MetricSeries& series, const Values& values, std::int64_t round) {
    for (const model::Batch& batch : processes(values, round).batches) {
        series.batches.push_back(batch);
    }
}

struct Setting {
    MetricClass metric_class = MetricClass::timing;
    Direction direction = Direction::lower;
    model::Tolerance tolerance{0.005, std::nullopt, 0};
    double leeway = 0;
    Policy policy;
};

Judgement judged(const MetricSeries& baseline, const MetricSeries& measured,
                 const Setting& setting = {}) {
    const model::MetricDefinition metric =
        definition("x", baseline.unit, setting.metric_class, setting.direction);
    const std::vector<Comparison> comparisons{
        {&metric, &baseline, &measured, setting.tolerance, setting.leeway}};
    return BatchRule(setting.policy).judge(comparisons).at(0);
}

/// 100 µs with a spread of 0.2 %, without chance.
Values spread_around(double centre, std::size_t count, double relative = 0.002) {
    Values values;
    for (std::size_t i = 0; i < count; ++i) {
        const double position = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
        values.push_back(centre * (1 + relative * 3.4 * (position - 0.5)));
    }
    return values;
}

const MetricSeries usual_baseline = processes(spread_around(100'000, 20));

/// What a run looks like after flagged cases were measured again.
MetricSeries confirmed(double centre, double relative = 0.002) {
    MetricSeries series = processes(spread_around(centre, 5, relative));
    add_round(series, spread_around(centre, round_size(1), relative), 1);
    add_round(series, spread_around(centre, round_size(2), relative), 2);
    return series;
}

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

// ---- exact and counter --------------------------------------------------------------------------

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

// ---- error rates --------------------------------------------------------------------------------

/// A run of `cases` cases, played with rounds as `perfgate run` does.
struct Rates {
    double runs_with_alarm = 0;
    double cases_found = 0;
};

struct World {
    simulated::Shape shape;
    double spread = 0.003;  ///< of a process, relative
    double run_spread = 0;  ///< of a whole run
    std::size_t baseline_processes = 20;
    std::size_t baseline_runs = 1;
    bool runs_are_told = true;
};

Rates simulate(const World& world, double slowdown, double tolerance, double false_alarms,
               std::size_t runs, std::size_t cases) {
    Random random(11);
    Policy policy;
    policy.false_alarms = false_alarms;
    const model::MetricDefinition metric = definition("x", "ns", MetricClass::timing);
    const BatchRule rule(policy);
    Rates rates;
    for (std::size_t run = 0; run < runs; ++run) {
        std::vector<MetricSeries> before(cases);
        std::vector<MetricSeries> now(cases);
        Values centres(cases);
        std::vector<Comparison> comparisons(cases);
        for (std::size_t i = 0; i < cases; ++i) {
            for (std::size_t part = 0; part < world.baseline_runs; ++part) {
                const double offset = world.run_spread * random.normal();
                const std::size_t already = before[i].batches.size();
                add_round(before[i],
                          simulated::draw(random, world.shape,
                                          world.baseline_processes / world.baseline_runs,
                                          1e5 * (1 + offset), 1e5 * world.spread),
                          0);
                for (std::size_t b = already; b < before[i].batches.size(); ++b) {
                    before[i].batches[b].run =
                        world.runs_are_told ? static_cast<std::int64_t>(part) : 0;
                }
            }
            centres[i] = 1e5 * (1 + slowdown + world.run_spread * random.normal());
            now[i] =
                processes(simulated::draw(random, world.shape, 5, centres[i], 1e5 * world.spread));
            comparisons[i] = {&metric, &before[i], &now[i], {tolerance, std::nullopt, 0}, 0};
        }
        std::vector<Judgement> judgements = rule.judge(comparisons);
        for (std::int64_t round = 1; round <= policy.rounds; ++round) {
            for (std::size_t i = 0; i < cases; ++i) {
                if (!judgements[i].measure_again) continue;
                add_round(now[i],
                          simulated::draw(random, world.shape, round_size(round), centres[i],
                                          1e5 * world.spread),
                          round);
            }
            judgements = rule.judge(comparisons);
        }
        std::size_t found = 0;
        bool alarm = false;
        for (const Judgement& judgement : judgements) {
            found += judgement.verdict == Verdict::regressed ? 1 : 0;
            alarm = alarm || judgement.verdict == Verdict::regressed || judgement.beyond_spread;
        }
        rates.runs_with_alarm += alarm ? 1.0 / static_cast<double>(runs) : 0;
        rates.cases_found += static_cast<double>(found) / static_cast<double>(runs * cases);
    }
    return rates;
}

const std::pair<const char*, simulated::Shape> shapes[] = {
    {"normal", simulated::normal},
    {"skewed", simulated::skewed},
    {"bimodal", simulated::bimodal},
    {"seldom fast", simulated::seldom_fast},
    {"heavy-tailed", simulated::heavy_tailed}};

TEST(BatchRule, FalseAlarmsOfWholeRunsStayWithinTheBudgetWhateverTheShape) {
    for (const auto& [name, shape] : shapes) {
        World world;
        world.shape = shape;
        // No tolerance: the statistics alone keep the budget. One in five, so that there is
        // something to count.
        const Rates rates = simulate(world, 0, 0, 0.2, 100, 20);
        EXPECT_LE(rates.runs_with_alarm, 0.2 + 3 * 0.04) << name;
    }
}

TEST(BatchRule, AChangeOfJustTheToleranceRarelyFails) {
    for (const auto& [name, shape] : shapes) {
        World world;
        world.shape = shape;
        const Rates rates = simulate(world, 0.04, 0.04, 0.2, 100, 20);
        EXPECT_LE(rates.runs_with_alarm, 0.2 + 3 * 0.04) << name;
    }
    // By the default budget, one case in a run.
    World world;
    world.shape = simulated::normal;
    EXPECT_LE(simulate(world, 0.04, 0.04, 0.001, 1000, 1).cases_found, 0.002);
    EXPECT_GE(simulate(world, 0.06, 0.04, 0.001, 100, 1).cases_found, 0.95) << "and more is found";
}

TEST(BatchRule, FewProcessesOfTwoModesRaiseNoMoreFalseAlarmsThanTheirShare) {
    // Baselines of ten, 31 cases: the first round that decides has eight processes, for which
    // Student's test called 35 times too many slower.
    World world;
    world.shape = simulated::bimodal;
    world.baseline_processes = 10;
    const Rates rates = simulate(world, 0, 0, 0.02, 200, 31);
    EXPECT_LE(rates.runs_with_alarm, 0.02 + 3 * 0.01);
}

TEST(BatchRule, ChangesOfOnceToFiveTimesTheSpreadAreFoundAsExpected) {
    for (const auto& [name, shape] : shapes) {
        World world;
        world.shape = shape;
        const bool heavy = std::string(name) == "heavy-tailed" || std::string(name) == "skewed";
        EXPECT_GE(simulate(world, heavy ? 0.035 : 0.015, 0.005, 0.001, 3, 40).cases_found, 0.95)
            << name;
        EXPECT_LE(simulate(world, 0.002, 0.005, 0.001, 3, 40).cases_found, 0.02) << name;
    }
}

TEST(BatchRule, DriftBetweenRunsIsForgivenWhereTheBaselineShowedIt) {
    World world;
    world.shape = simulated::normal;
    world.spread = 0.001;
    world.run_spread = 0.005;
    world.baseline_runs = 5;
    const double told = simulate(world, 0, 0.002, 0.001, 5, 60).cases_found;
    world.runs_are_told = false;
    world.baseline_runs = 1;
    const double not_told = simulate(world, 0, 0.002, 0.001, 5, 60).cases_found;
    EXPECT_LE(told, 0.02);
    EXPECT_GE(not_told, 0.2) << "or the test shows nothing";
}

TEST(BatchRule, WhatDriftHidesIsWhatOneMoreRunWouldBeOffBy) {
    const model::MetricDefinition metric = definition("x", "ns", MetricClass::timing);
    // Five runs, 5 ns from one to the next: 7.9 ns is their deviation.
    std::vector<double> samples;
    for (int process = 0; process < 20; ++process) {
        samples.push_back(1000 + 5 * (process / 4 - 2) + 0.1 * (process % 4));
    }
    MetricSeries before = processes(samples);
    for (std::size_t i = 0; i < before.batches.size(); ++i) {
        before.batches[i].run = static_cast<std::int64_t>(i / 4);
    }
    const MetricSeries now = processes({1000, 1000.1, 1000.2, 1000.3, 1000.1});
    const Policy policy;
    const std::vector<Comparison> alone{{&metric, &before, &now, {0, std::nullopt, 0}, 0}};
    const double detectable = BatchRule(policy).judge(alone)[0].minimum_detectable_change.value();
    // Student's t with 4 degrees of freedom, at 0.45 of the case's level of 0.1 %, is 8.85. With
    // five runs their variance may be larger by 1 + sqrt(2 / 4): 8.85 * sqrt(1 + 1/5) * 10.3 ns.
    EXPECT_GT(detectable, 0.097);
    EXPECT_LT(detectable, 0.13);

    // Other cases of the suite that did not differ between these runs say that this one is unusual,
    // and those of another suite say nothing.
    MetricSeries steady = before;
    for (std::size_t i = 0; i < steady.batches.size(); ++i) {
        steady.batches[i].samples = {1000 + static_cast<double>(i * 7 % 10)};
    }
    const auto among = [&](std::size_t suite) {
        std::vector<Comparison> comparisons(20, {&metric, &steady, &now, {0, {}, 0}, 0, suite});
        comparisons.push_back(alone[0]);
        return BatchRule(policy).judge(comparisons);
    };
    EXPECT_LT(among(0).front().minimum_detectable_change.value(), 0.05);
    EXPECT_GT(among(0).back().minimum_detectable_change.value(), 0.03);
    EXPECT_GT(among(1).back().minimum_detectable_change.value(), detectable);
}

TEST(BatchRule, FewSessionsThatDifferHideNoMultipleOfATimeOrARate) {
    for (const bool rate : {false, true}) {
        const model::MetricDefinition metric =
            definition("x", rate ? "1/s" : "ns", MetricClass::timing,
                       rate ? Direction::higher : Direction::lower);
        const auto values = [&](double factor, std::size_t count) {
            return spread_around(1e5 * (rate ? 1 / factor : factor), count, 0.05);
        };
        const auto verdict_after = [&](const Values& sessions, double slowdown) {
            MetricSeries before;
            for (std::size_t run = 0; run < sessions.size(); ++run) {
                add_round(before, values(sessions[run], 4), 0);
                for (std::size_t i = 4 * run; i < before.batches.size(); ++i) {
                    before.batches[i].run = static_cast<std::int64_t>(run);
                }
            }
            MetricSeries now = processes(values(slowdown, 5));
            add_round(now, values(slowdown, round_size(1)), 1);
            const std::vector<Comparison> alone{
                {&metric, &before, &now, {0.05, std::nullopt, 0}, 0}};
            return BatchRule(Policy{}).judge(alone)[0].verdict;
        };
        // As in a quiet night, on a busy machine, and where one session was disturbed.
        for (const Values& sessions :
             {Values{1, 1.05}, Values{1, 1.05, 0.95}, Values{1, 1.15, 0.9}}) {
            EXPECT_EQ(verdict_after(sessions, 3), Verdict::regressed) << rate;
            EXPECT_EQ(verdict_after(sessions, 3000), Verdict::regressed) << rate;
            EXPECT_NE(verdict_after(sessions, 1.4), Verdict::regressed) << "a session may be slow";
        }
        EXPECT_EQ(verdict_after({1, 8, 1}, 3000), Verdict::regressed) << rate;
        EXPECT_NE(verdict_after({1, 8, 1}, 8), Verdict::regressed) << rate;
    }
}

TEST(BatchRule, WhatDriftsInOneMetricSaysNothingAboutAnother) {
    const model::MetricDefinition gpu = definition("gpu_time", "ns", MetricClass::timing);
    const model::MetricDefinition span = definition("gpu_span", "ns", MetricClass::timing);
    const auto recorded = [](double drift) {
        std::vector<double> samples;
        for (int process = 0; process < 21; ++process) {
            samples.push_back(1000 + drift * (process / 7 - 1) + 0.1 * (process % 7));
        }
        MetricSeries series = processes(samples);
        for (std::size_t i = 0; i < series.batches.size(); ++i) {
            series.batches[i].run = static_cast<std::int64_t>(i / 7);
        }
        return series;
    };
    const MetricSeries steady = recorded(0);
    const MetricSeries drifting = recorded(50);
    const MetricSeries now = processes({1000, 1000.1, 1000.2, 1000.3, 1000.1});
    const auto detected_with = [&](const model::MetricDefinition& other) {
        std::vector<Comparison> comparisons(8, {&gpu, &steady, &now, {0.01, {}, 0}, 0, 0});
        comparisons.resize(16, {&other, &drifting, &now, {0.25, {}, 0}, 0, 0});
        return BatchRule(Policy{}).judge(comparisons).front().minimum_detectable_change.value();
    };
    EXPECT_LT(detected_with(span), 0.05);
    EXPECT_GT(detected_with(gpu), 0.5) << "or the test shows nothing";
}

TEST(BatchRule, AnIntervalIsWiderByWhatSessionsDifferByAtItsOwnLevel) {
    const model::MetricDefinition metric = definition("x", "ns", MetricClass::timing);
    const MetricSeries before = processes(spread_around(1e5, 20));
    const MetricSeries now = processes(spread_around(1e5, 5));
    const std::vector<Comparison> alone{{&metric, &before, &now, {0.005, std::nullopt, 0}, 0}};
    const stats::Drift drift{0.002, 4, 3};
    const auto steady = BatchRule(Policy{}).judge(alone)[0].interval;
    const auto drifting = BatchRule(Policy{}, 0, {{"x", drift}}).judge(alone)[0].interval;
    ASSERT_TRUE(steady && drifting);
    const double wider = std::expm1(drift.bound((1 - steady->level) / 2));
    EXPECT_GT(wider, 0);
    EXPECT_NEAR(drifting->high - steady->high, wider, 1e-9);
    EXPECT_NEAR(steady->low - drifting->low, wider, 1e-9);
}

TEST(BatchRule, AnIntervalOfFewSessionsIsNoWiderThanTheDriftThatTheVerdictAllows) {
    const MetricSeries before = processes(spread_around(1e5, 20));
    const MetricSeries now = processes(spread_around(1e5, 5));
    for (const bool rate : {false, true}) {
        const model::MetricDefinition metric =
            definition("x", rate ? "1/s" : "ns", MetricClass::timing,
                       rate ? Direction::higher : Direction::lower);
        const std::vector<Comparison> alone{{&metric, &before, &now, {0.005, std::nullopt, 0}, 0}};
        const auto high_with = [&](const stats::Drift& drift) {
            return BatchRule(Policy{}, 0, {{"x", drift}}).judge(alone)[0].interval.value().high;
        };
        const double steady = high_with({});
        // Student's quantile of two sessions allows more than what slows a machine: a half, or
        // four deviations.
        EXPECT_NEAR(high_with({0.05, 1, 2}) - steady, rate ? 1 - 1 / 1.5 : 0.5, 1e-9);
        EXPECT_NEAR(high_with({0.2, 1, 2}) - steady, rate ? -std::expm1(-0.8) : std::expm1(0.8),
                    1e-9);
    }
}

TEST(BatchRule, MoreProcessesInTheFirstRoundDetectASmallerChange) {
    const MetricSeries before = processes(spread_around(1e5, 40, 0.05));
    const auto detected = [&](std::size_t first) {
        return judged(before, processes(spread_around(1e5, first, 0.05)))
            .minimum_detectable_change.value();
    };
    EXPECT_LT(detected(16), 0.75 * detected(3)) << detected(16) << " " << detected(3);
}

struct Claims {
    double found = 0;  ///< how often a change of this size is found
    double mean = 0;
};

/// What a run claims to see; the case is alone in it.
Claims claims_of(const World& world, std::int64_t rounds, int plays) {
    Random random(12);
    const model::MetricDefinition metric = definition("x", "ns", MetricClass::timing);
    Policy policy;
    policy.rounds = rounds;
    const BatchRule rule(policy);
    Claims claims;
    for (int play = 0; play < plays; ++play) {
        const auto draw = [&](std::size_t count, double centre) {
            return simulated::draw(random, world.shape, count, centre, 1e5 * world.spread);
        };
        const MetricSeries before = processes(draw(world.baseline_processes, 1e5));
        MetricSeries now = processes(draw(5, 1e5));
        const std::vector<Comparison> alone{{&metric, &before, &now, {0.005, std::nullopt, 0}, 0}};
        const double detectable = rule.judge(alone)[0].minimum_detectable_change.value();
        claims.mean += detectable / plays;
        for (model::Batch& batch : now.batches) batch.samples[0] *= 1 + detectable;
        Judgement judgement = rule.judge(alone)[0];
        for (std::int64_t round = 1; judgement.measure_again; ++round) {
            add_round(now, draw(round_size(round), 1e5 * (1 + detectable)), round);
            judgement = rule.judge(alone)[0];
        }
        claims.found += judgement.verdict == Verdict::regressed ? 1.0 / plays : 0;
    }
    return claims;
}

TEST(BatchRule, WhatItClaimsToSeeItFindsWhateverTheShape) {
    for (const auto& [name, shape] : shapes) {
        World world;
        world.shape = shape;
        // Also where one baseline in eight has met the lucky processes once or never.
        const Claims claims = claims_of(world, Policy().rounds, 400);
        EXPECT_GE(claims.found, 0.9) << name;
        EXPECT_GT(claims.mean, 0.005) << name;
        EXPECT_LT(claims.mean, 0.027) << name;
    }
}

TEST(BatchRule, WhatItClaimsToSeeItFindsWhereFewProcessesLackTheRareOnes) {
    // One process in twenty is 1.5 % faster: two in three baselines of eight have none of these,
    // and one in three runs of eight has one.
    World world;
    world.baseline_processes = 8;
    world.spread = 0.001;
    world.shape = [](Random& random) {
        return (random.uniform() < 0.05 ? -15 : 0) + random.normal();
    };
    const Claims few = claims_of(world, 1, 400);
    EXPECT_GE(few.found, 0.9);
    EXPECT_LT(few.mean, 0.03);
    world.baseline_processes = 60;
    EXPECT_NEAR(claims_of(world, 1, 100).mean, 0.0209, 0.0005) << "these have shown them";
}

}  // namespace batch_rule_test
}  // namespace perfgate::gate

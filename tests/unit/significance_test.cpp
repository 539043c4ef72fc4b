// SPDX-License-Identifier: Apache-2.0
// The parts that the gate's rules share, and what a gate says that it cannot detect.
#include "gate/significance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gate/suite_verdict.hpp"
#include "unit/gate_documents.hpp"

namespace perfgate::gate {
namespace {

using documents::definition;
using model::Direction;
using model::MetricClass;
using model::Verdict;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

model::Batch batch(std::vector<double> samples) {
    return {0, "b", 1, std::move(samples)};
}

TEST(BatchValue, IsTheMeanWithoutATenthAtEitherEnd) {
    EXPECT_EQ(batch_value(batch({100, 1, 2, 3, 4, 5, 6, 7, 8, -90})), 4.5);
    EXPECT_EQ(batch_value(batch({1, 4})), 2.5);
    EXPECT_TRUE(std::isnan(batch_value(batch({1, nan}))));
    EXPECT_TRUE(std::isnan(batch_value(batch({1, std::numeric_limits<double>::infinity()}))));
}

TEST(BatchInUse, HasSamplesAndIsNotExcluded) {
    EXPECT_TRUE(in_use(batch({1})));
    EXPECT_FALSE(in_use(batch({})));
    model::Batch excluded = batch({1});
    excluded.excluded = "throttled";
    EXPECT_FALSE(in_use(excluded));
}

TEST(CautiousSpread, IsNeverBelowWhatWasMeasured) {
    const model::MetricDefinition time = definition("x", "ns", MetricClass::timing);
    EXPECT_EQ(cautious_spread(time, {5000, 4}, 1e5, 1).deviation, 5000);
}

TEST(CautiousSpread, OfNothingMeasuredIsWhatIsKnownOfTheClass) {
    const stats::PooledSpread none{0, 0};
    const auto known = [&](const char* unit, MetricClass metric_class, double size,
                           double factor = 1) {
        return cautious_spread(definition("x", unit, metric_class), none, size, factor).deviation;
    };
    EXPECT_NEAR(known("count", MetricClass::timing, 1000), 5, 1e-9);
    EXPECT_NEAR(known("count", MetricClass::timing, -1000), 5, 1e-9);
    EXPECT_NEAR(known("count", MetricClass::counter, 1000), 10, 1e-9);
    EXPECT_NEAR(known("count", MetricClass::exact, 1000), 1, 1e-9);
    EXPECT_NEAR(known("ns", MetricClass::timing, 30'000), 250, 1e-9) << "and 200 ns";
    EXPECT_NEAR(known("ns", MetricClass::counter, 1000), 10, 1e-9);
    EXPECT_NEAR(known("ns", MetricClass::timing, 30'000, 2), 500, 1e-9);
}

TEST(Levels, WhatMayFailARunSharesOneTestsPartOfTheBudget) {
    const Levels three(0.01, 10, 3);
    EXPECT_DOUBLE_EQ(three.single, 0.001);
    double spent = three.at_first_look() + three.for_drift();
    for (const std::int64_t round : {1, 2, 3}) {
        EXPECT_DOUBLE_EQ(three.at_round(round), 0.00035 / 3) << round;
        spent += three.at_round(round);
    }
    for (int look = 0; look <= 3; ++look) spent += three.for_slow_processes();
    EXPECT_LE(spent, three.single * (1 + 1e-12));
    EXPECT_DOUBLE_EQ(three.at_first_look(), 0.0002) << "a fifth";
    const auto time = documents::definition("x", "ns", MetricClass::timing);
    Comparison comparison;
    comparison.definition = &time;
    EXPECT_DOUBLE_EQ(three.of(comparison, Processes::paired).at_round(1),
                     three.of(comparison).at_round(1) + three.for_drift() / 3)
        << "pairs have no drift";
    EXPECT_DOUBLE_EQ(three.at_round(4), 0.00035 / 4) << "a run of another policy";
}

TEST(Levels, WhereNoRoundFollowsTheTestHasWhatTheOthersLeave) {
    const Levels once(0.01, 1, 0);
    EXPECT_DOUBLE_EQ(once.single, 0.01);
    for (const bool drifts : {false, true}) {
        EXPECT_LE(
            once.at_round(0, drifts) + once.for_slow_processes() + (drifts ? once.for_drift() : 0),
            once.single * (1 + 1e-12));
    }
    EXPECT_DOUBLE_EQ(once.at_round(0), 0.0095);
    EXPECT_DOUBLE_EQ(Levels(0.01, 0, 0).at_round(0), 0.0095);
    Comparison counter;
    const model::MetricDefinition definition =
        documents::definition("x", "count", MetricClass::counter);
    counter.definition = &definition;
    EXPECT_DOUBLE_EQ(Levels(0.01, 1, 2).of(counter).at_round(0), 0.01)
        << "no rank, no drift and no slow process";
}

TEST(ProcessesAtVerdict, AreThoseOfAllRounds) {
    EXPECT_EQ(processes_at_verdict(Levels(0.01, 1, 0), 5, Processes::alone), 5U);
    EXPECT_EQ(processes_at_verdict(Levels(0.01, 1, 1), 5, Processes::alone), 8U);
    EXPECT_EQ(processes_at_verdict(Levels(0.01, 1, 2), 5, Processes::alone), 40U);
    EXPECT_EQ(processes_at_verdict(Levels(0.01, 1, 1'000'000'000), 5, Processes::alone),
              8U + 99 * 32);
    EXPECT_EQ(processes_at_verdict(Levels(0.01, 1, 2), 6, Processes::paired), 45U);
}

TEST(DecidingLevel, IsHalvedWhereBothDirectionsFail) {
    const Levels levels(0.01, 1, 2);
    const auto level_of = [&](Direction direction) {
        const auto metric = definition("x", "ns", MetricClass::timing, direction);
        Comparison comparison;
        comparison.definition = &metric;
        return deciding_level(comparison, levels);
    };
    EXPECT_DOUBLE_EQ(level_of(Direction::lower), 0.00175);
    EXPECT_DOUBLE_EQ(level_of(Direction::higher), 0.00175);
    EXPECT_DOUBLE_EQ(level_of(Direction::none), 0.000875);
}

TEST(DetectableShifts, AreThoseOfWhatIsAskedEachTime) {
    DetectableShifts shifts;
    const double some = shifts(5, 8, 11, 0.001);
    EXPECT_GT(some, 0);
    EXPECT_EQ(shifts(5, 8, 11, 0.001), some);
    EXPECT_LT(shifts(5, 8, 11, 0.01), some);
    EXPECT_LT(shifts(5, 32, 11, 0.001), some);
    EXPECT_LT(shifts(20, 8, 11, 0.001), some);
    EXPECT_LT(shifts(5, 8, 100, 0.001), some);
}

TEST(AnotherRound, IsWorthItForFlaggedTimesThatNoRoundHasConfirmed) {
    struct Example {
        MetricClass metric_class;
        Verdict verdict;
        std::int64_t last_round, rounds;
        bool worth;
    };
    const std::vector<Example> examples = {
        {MetricClass::timing, Verdict::regressed, 0, 2, true},
        {MetricClass::timing, Verdict::regressed, 1, 2, false},
        {MetricClass::timing, Verdict::regressed, 0, 0, false},
        {MetricClass::timing, Verdict::inconclusive, 0, 1, true},
        {MetricClass::timing, Verdict::inconclusive, 1, 2, true},
        {MetricClass::timing, Verdict::inconclusive, 2, 2, false},
        {MetricClass::timing, Verdict::pass, 0, 2, false},
        {MetricClass::timing, Verdict::improved, 0, 2, false},
        {MetricClass::timing, Verdict::invalid, 0, 2, false},
        {MetricClass::counter, Verdict::regressed, 0, 2, false},
        {MetricClass::exact, Verdict::inconclusive, 0, 2, false}};
    for (const Example& example : examples) {
        const auto metric = definition("x", "ns", example.metric_class);
        Comparison comparison;
        comparison.definition = &metric;
        Judgement judgement;
        judgement.verdict = example.verdict;
        EXPECT_EQ(worth_another_round(comparison, judgement, example.last_round, example.rounds),
                  example.worth)
            << static_cast<int>(example.verdict) << " after " << example.last_round;
        judgement.confirmed = true;
        EXPECT_EQ(worth_another_round(comparison, judgement, example.last_round, example.rounds),
                  example.worth && example.verdict != Verdict::regressed)
            << "the first look decided";
    }
}

// ---- the verdict of a probability

struct Asked {
    bool rises = false;
    Allowance allowed;
    double level = 0;
};

/// A judgement from these values, whose test says `probability` whatever it is asked.
struct ByProbability {
    double baseline = 1000, measured = 1100, probability = 0;
    Direction direction = Direction::lower;
    double leeway = 0, drift = 0;
    std::int64_t round = 0;
    double least_level = 0;  ///< that so few processes can reach
    bool all_beyond = false;
    stats::PooledSpread error = {};

    Judgement judge(std::vector<Asked>* asked = nullptr) const {
        const auto metric = definition("x", "ns", MetricClass::timing, direction);
        Comparison comparison;
        comparison.definition = &metric;
        comparison.tolerance.worse = 0.03;
        comparison.leeway = leeway;
        Judgement judgement;
        judgement.baseline = baseline;
        judgement.measured = measured;
        Test test;
        test.probability = [&](bool rises, const Allowance& allowed,
                               double level) -> std::optional<double> {
            if (asked != nullptr) asked->push_back({rises, allowed, level});
            if (level < least_level) return std::nullopt;
            return probability;
        };
        test.all_beyond = [&](bool, const Allowance&) { return all_beyond; };
        test.error = error;
        judge_by_test(comparison, drift, round, Levels(0.001, 1, 2), test, judgement);
        return judgement;
    }
};

TEST(JudgeByProbability, AtTheLevelItIsSignificantAndBeyondTheFlaggingLevelAPass) {
    EXPECT_EQ(ByProbability{.probability = 0.0009}.judge().verdict, Verdict::regressed);
    EXPECT_EQ(ByProbability{.probability = 0.00096}.judge().verdict, Verdict::inconclusive);
    EXPECT_EQ(ByProbability{.probability = 0.05}.judge().verdict, Verdict::inconclusive);
    EXPECT_EQ(ByProbability{.probability = 0.051}.judge().verdict, Verdict::pass);
    EXPECT_EQ((ByProbability{.probability = 0.00018, .round = 1}).judge().verdict,
              Verdict::inconclusive);
    EXPECT_EQ((ByProbability{.probability = 0.00017, .round = 1}).judge().verdict,
              Verdict::regressed);
    EXPECT_EQ(ByProbability{.probability = 0.02}.judge().probability, 0.02);
}

TEST(JudgeByProbability, WhereNoErrorOfTheLogarithmIsKnownNothingIsBeyondTheSpread) {
    const ByProbability far{.measured = 1900, .probability = 0.9};
    EXPECT_EQ(far.judge().verdict, Verdict::pass);
    EXPECT_FALSE(far.judge().beyond_spread);
    ByProbability known = far;
    known.error = {0.01, 10};
    EXPECT_TRUE(known.judge().beyond_spread);
}

TEST(JudgeByProbability, AnImprovementIsSignificantOrNone) {
    EXPECT_EQ((ByProbability{.measured = 900, .probability = 0.0009}).judge().verdict,
              Verdict::improved);
    EXPECT_EQ((ByProbability{.measured = 900, .probability = 0.00096}).judge().verdict,
              Verdict::pass);
    EXPECT_EQ((ByProbability{.measured = 1100, .direction = Direction::higher}).judge().verdict,
              Verdict::improved);
    EXPECT_EQ((ByProbability{.measured = 900, .direction = Direction::higher}).judge().verdict,
              Verdict::regressed);
}

TEST(JudgeByProbability, BothDirectionsShareTheLevel) {
    const ByProbability both{.measured = 900, .probability = 0.00045, .direction = Direction::none};
    std::vector<Asked> asked;
    EXPECT_EQ(both.judge(&asked).verdict, Verdict::regressed);
    EXPECT_EQ(both.judge().probability, 0.0009);
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_FALSE(asked[0].rises);
    EXPECT_DOUBLE_EQ(asked[0].level, 0.000475);
    EXPECT_EQ((ByProbability{.probability = 0.0006, .direction = Direction::none}).judge().verdict,
              Verdict::inconclusive);
    EXPECT_EQ((ByProbability{.probability = 0.9, .direction = Direction::none}).judge().probability,
              1)
        << "no probability is more";
}

TEST(JudgeByProbability, LeewayAndDriftWidenTheToleranceAndTheTest) {
    std::vector<Asked> asked;
    EXPECT_EQ((ByProbability{.measured = 1080, .leeway = 0.05}).judge(&asked).verdict,
              Verdict::pass);
    EXPECT_EQ((ByProbability{.measured = 1080, .drift = 50}).judge(&asked).verdict, Verdict::pass);
    EXPECT_TRUE(asked.empty()) << "within the tolerance nothing is tested";
    EXPECT_EQ((ByProbability{.measured = 1081, .leeway = 0.02, .drift = 30}).judge(&asked).verdict,
              Verdict::regressed);
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_TRUE(asked[0].rises);
    EXPECT_NEAR(asked[0].allowed.factor, 1.08, 1e-9) << "0.03 + 0.02 + 30 / 1000";
    EXPECT_DOUBLE_EQ(asked[0].level, 0.00055);
    asked.clear();
    EXPECT_EQ((ByProbability{.baseline = 0, .measured = 7, .drift = 30}).judge(&asked).verdict,
              Verdict::regressed);
    EXPECT_EQ(asked.at(0).allowed.factor, 1) << "of zero no fraction is anything";
    EXPECT_EQ(asked.at(0).allowed.shift, 0);
}

TEST(JudgeByProbability, TooFewProcessesThatAreAllBeyondTheToleranceAreBeyondTheSpread) {
    ByProbability few{.probability = 0.2, .least_level = 0.1, .all_beyond = true};
    EXPECT_TRUE(few.judge().beyond_spread);
    EXPECT_EQ(few.judge().verdict, Verdict::inconclusive) << "it is measured again";
    EXPECT_DOUBLE_EQ(few.judge().needed_probability, 0.00095);
    few.all_beyond = false;
    EXPECT_FALSE(few.judge().beyond_spread);
    EXPECT_EQ(few.judge().verdict, Verdict::pass);
    few.all_beyond = true;
    few.least_level = 0;  // a test can tell, and says no
    EXPECT_FALSE(few.judge().beyond_spread);
    few.least_level = 0.1;
    few.measured = 900;
    EXPECT_FALSE(few.judge().beyond_spread) << "it got better";
}

TEST(JudgeByProbability, TwiceTheToleranceIsBeyondTheSpreadIfStudentsTestSaysSo) {
    const auto beyond = [](double measured, double error, double df = 20) {
        return ByProbability{.measured = measured, .probability = 0.01, .error = {error, df}}
            .judge()
            .beyond_spread;
    };
    EXPECT_TRUE(beyond(1080, 0.01));
    EXPECT_FALSE(beyond(1080, 0.02)) << "the spread explains it";
    EXPECT_FALSE(beyond(1080, 0.01, 2)) << "it is hardly known";
    EXPECT_FALSE(beyond(1059, 0.001)) << "within twice the tolerance";
    EXPECT_TRUE(beyond(1061, 0.001));
    EXPECT_FALSE(beyond(1080, 0)) << "no logarithms";
    const auto higher = [](double measured) {
        return ByProbability{.measured = measured,
                             .probability = 0.01,
                             .direction = Direction::higher,
                             .error = {0.001, 20}}
            .judge()
            .beyond_spread;
    };
    EXPECT_TRUE(higher(930));
    EXPECT_FALSE(higher(950));
}

TEST(JudgeByProbability, WhatNoTestReachesIsFlaggedAndNeverRegressed) {
    const ByProbability few{.probability = 0.02, .round = 1, .least_level = 0.001};
    const Judgement judgement = few.judge();
    EXPECT_EQ(judgement.verdict, Verdict::inconclusive);
    EXPECT_TRUE(judgement.too_few_processes);
    EXPECT_EQ(judgement.probability, 0.02) << "at the level of flagging";
    EXPECT_EQ((ByProbability{.round = 1, .least_level = 0.1}).judge().verdict, Verdict::pass)
        << "not even that level";
}

TEST(Allowance, IsAFactorWhereTheToleranceIsAFraction) {
    const auto allowance = [](double baseline, bool rises, model::Tolerance tolerance,
                              Direction direction = Direction::lower) {
        const auto metric = definition("x", "ns", MetricClass::timing, direction);
        Comparison comparison;
        comparison.definition = &metric;
        comparison.tolerance = tolerance;
        comparison.leeway = 0.01;
        return allowance_of(comparison, baseline, rises);
    };
    const model::Tolerance both{0.03, 0.05, 0};
    EXPECT_NEAR(allowance(1000, true, both).factor, 1.04, 1e-12);
    EXPECT_NEAR(allowance(1000, false, both).factor, 0.94, 1e-12) << "for the better";
    EXPECT_NEAR(allowance(1000, true, both, Direction::higher).factor, 1.06, 1e-12);
    EXPECT_EQ(allowance(1000, true, both).undone(1040), 1000);
    EXPECT_EQ(allowance(1000, true, {0.03, {}, 500}).shift, 500) << "abs is more";
    EXPECT_EQ(allowance(1000, false, {0.03, {}, 500}).undone(500), 1000);
    EXPECT_NEAR(allowance(-1000, true, both).shift, 40, 1e-12);
    EXPECT_NEAR(allowance(1000, false, {2, {}, 0}).shift, -2010, 1e-9);
    EXPECT_EQ(allowance(0, true, {0.03, {}, 7}).undone(7), 0);
}

// ---- the minimum detectable change

struct Resolved {
    double baseline = 100'000;
    double tolerance = 0;
    std::int64_t rounds = 0;
    Resolution resolution{.against = 20,
                          .first = 5,
                          .last = 5,
                          .ranks = false,
                          .measured = {200, 23},
                          .cautious = {300, 31},
                          .df_at_last = 23,
                          .logs = {},
                          .drift = 0};
    MetricClass metric_class = MetricClass::counter;
    const char* metric = "x";

    Judgement judge() const {
        const auto of_metric = definition(metric, "ns", metric_class);
        Comparison comparison;
        comparison.definition = &of_metric;
        comparison.tolerance.worse = tolerance;
        Judgement judgement;
        judgement.baseline = baseline;
        DetectableShifts shifts;
        add_resolution(comparison, resolution, Levels(0.001, 1, rounds), shifts, judgement);
        return judgement;
    }
    double change() const { return judge().minimum_detectable_change.value_or(-1); }
};

TEST(Resolution, IsTheShiftThatTheSpreadHidesAsAFractionOfTheBaseline) {
    DetectableShifts shifts;
    const double shift = shifts(20, 5, 31, 0.00095);
    EXPECT_NEAR(Resolved().change(), shift * 300 / 100'000, 1e-12);
    EXPECT_NEAR((Resolved{.baseline = -100'000}).change(), shift * 300 / 100'000, 1e-12);
    EXPECT_EQ((Resolved{.baseline = 0}).change(), -1);
    EXPECT_EQ((Resolved{.baseline = std::numeric_limits<double>::denorm_min()}).change(), -1);
}

TEST(Resolution, TestsOfRanksTrustTheMeasuredSpreadOnceThereIsEnoughOfIt) {
    DetectableShifts shifts;
    Resolved resolved;
    resolved.resolution.ranks = true;
    EXPECT_NEAR(resolved.change(), 1.1 * shifts(20, 5, 23, 0.00095) * 200 / 100'000, 1e-12);
    resolved.resolution.measured.df = prior_df;
    EXPECT_NEAR(resolved.change(), 1.1 * shifts(20, 5, 23, 0.00095) * 200 / 100'000, 1e-12);
    resolved.resolution.measured.df = prior_df - 1;
    EXPECT_NEAR(resolved.change(), 1.1 * shifts(20, 5, 31, 0.00095) * 300 / 100'000, 1e-12);
}

TEST(Resolution, OfATimeThatNoTestOfRanksCanFailNothingIsClaimed) {
    Resolved resolved{.metric_class = MetricClass::timing};
    EXPECT_EQ(resolved.change(), -1);
    resolved.resolution.ranks = true;
    EXPECT_GT(resolved.change(), 0);
}

TEST(Resolution, DriftAndToleranceAreAddedAndRoundsMustBeReached) {
    const double alone = Resolved().change();
    Resolved drifting;
    drifting.resolution.drift = 500;
    EXPECT_NEAR(drifting.change(), 1.005 * alone + 0.005, 1e-12);
    // A change is found where it is so much larger than the tolerance, which multiplies.
    EXPECT_NEAR((Resolved{.tolerance = 0.5}).change(), 0.5 + 1.5 * alone, 1e-12);
    drifting.tolerance = 0.5;
    EXPECT_NEAR(drifting.change(), 0.505 + 1.505 * alone, 1e-12);
    // What the first round does not flag, no later one confirms.
    Resolved later{.rounds = 1};
    later.resolution.last = 1000;
    DetectableShifts shifts;
    EXPECT_NEAR(later.change(), shifts(20, 5, 23, 0.05) * 300 / 100'000, 1e-12);
    later.rounds = 0;
    EXPECT_NEAR(later.change(), shifts(20, 1000, 31, 0.00095) * 300 / 100'000, 1e-12);
}

/// 20 processes around 100 µs, of which the last `slow` are slower by this factor.
std::vector<double> logs_with(std::size_t slow, double factor) {
    std::vector<double> logs;
    for (std::size_t i = 0; i < 20; ++i) {
        const double spread = 1 + 0.0002 * (static_cast<double>(i % 7) - 3);
        logs.push_back(std::log(100'000 * spread * (i + slow < 20 ? 1 : factor)));
    }
    return logs;
}

TEST(Resolution, ModesHideTheirDistanceAndOneOutlierDoesNot) {
    const auto hidden = [](std::size_t slow, double factor) {
        Resolved resolved{.rounds = 2, .metric_class = MetricClass::timing};
        resolved.resolution.ranks = true;
        resolved.resolution.last = 40;
        resolved.resolution.logs = logs_with(slow, factor);
        return resolved.change();
    };
    const double none = hidden(0, 1);
    EXPECT_GT(none, 0.0004);
    EXPECT_LT(none, 0.007);
    EXPECT_LT(hidden(1, 1.3), 1.5 * none + 0.002) << "one of twenty";
    EXPECT_GT(hidden(10, 1.09), 0.09) << "half of them 9 % slower";
    EXPECT_GT(hidden(5, 1.09), 0.05) << "one in four";
}

TEST(Resolution, FewProcessesThatAgreeHideWhatFurtherOnesMayShow) {
    const auto hidden = [](std::size_t processes, double spread) {
        Resolved resolved{.rounds = 1, .metric_class = MetricClass::timing};
        resolved.resolution.against = processes;
        resolved.resolution.ranks = true;
        resolved.resolution.last = 8;
        for (std::size_t i = 0; i < processes; ++i) {
            const double position = static_cast<double>(i) / static_cast<double>(processes - 1);
            resolved.resolution.logs.push_back(spread * (position - 0.5));
        }
        return resolved.change();
    };
    // A run of 8 may have a process that is 2 % faster than all 7 of the baseline.
    EXPECT_GT(hidden(7, 0), 0.02);
    EXPECT_LT(hidden(7, 0), 0.03);
    EXPECT_LT(hidden(20, 0), 0.4 * hidden(7, 0));
    EXPECT_LT(hidden(60, 0), 0.005);
    // A spread that the baseline has shown is not widened.
    EXPECT_NEAR(hidden(7, 0.1), 0.1982, 0.0005);
    EXPECT_NEAR(hidden(20, 0.1), 0.1063, 0.0005);
}

TEST(Resolution, DeviceTimesHideATickOfTheClockMore) {
    Resolved resolved{.baseline = 2048, .metric_class = MetricClass::timing, .metric = "host_time"};
    resolved.resolution.ranks = true;
    resolved.resolution.logs = std::vector<double>(20, std::log(2048.0));
    const double another_clock = resolved.change();
    EXPECT_GT(another_clock, 0);
    resolved.metric = "gpu_time";
    EXPECT_NEAR(resolved.change(), another_clock + 32.0 / 2048, 1e-12);
    resolved.tolerance = 0.005;
    EXPECT_NEAR(resolved.change(), 0.005 + 1.005 * (another_clock + 32.0 / 2048), 1e-12);
}

TEST(Resolution, TheToleranceIsFinerWhereTheSpreadHidesAsMuch) {
    const double hidden = Resolved().change();
    EXPECT_TRUE((Resolved{.tolerance = hidden * 0.999}).judge().tolerance_is_finer);
    EXPECT_FALSE((Resolved{.tolerance = hidden * 1.001}).judge().tolerance_is_finer);
}

// ---- what is said of it

TEST(Limits, AreSaidOnceForEachMetricOfASuite) {
    const auto time = definition("gpu_time", "ns", MetricClass::timing);
    const auto counter = definition("dram_bytes", "bytes", MetricClass::counter);
    Judgement lonely;
    lonely.basis = Basis::one_process;
    Judgement finer;
    finer.tolerance_is_finer = true;
    finer.minimum_detectable_change = 0.02;
    Judgement finest = finer;
    finest.minimum_detectable_change = 0.03;
    Judgement unknown = finer;
    unknown.minimum_detectable_change.reset();
    Judgement coarse = finer;
    coarse.tolerance_is_finer = false;

    Limits limits;
    limits.add(0, "a", time, lonely);
    limits.add(0, "b", time, lonely);
    limits.add(0, "a", counter, lonely);
    limits.add(1, "a", time, finer);
    limits.add(1, "b", time, finest);
    limits.add(1, "c", time, finer);
    limits.add(1, "d", time, finest);
    limits.add(1, "e", time, unknown);
    limits.add(1, "f", time, coarse);
    std::vector<model::SuiteVerdict> suites(3);
    limits.note(suites);
    ASSERT_EQ(suites[0].notes.size(), 1U);
    EXPECT_NE(suites[0].notes[0].find("gpu_time: in 2 cases"), std::string::npos);
    ASSERT_EQ(suites[1].notes.size(), 1U);
    EXPECT_NE(suites[1].notes[0].find("gpu_time: in 4 cases"), std::string::npos);
    EXPECT_NE(suites[1].notes[0].find("3 % (b)"), std::string::npos) << suites[1].notes[0];
    EXPECT_TRUE(suites[2].notes.empty());
}

TEST(Limits, OneCaseIsSingular) {
    const auto time = definition("gpu_time", "ns", MetricClass::timing);
    Judgement judgement;
    judgement.basis = Basis::one_process;
    judgement.tolerance_is_finer = true;
    judgement.minimum_detectable_change = 0.02;
    Limits limits;
    limits.add(0, "a", time, judgement);
    std::vector<model::SuiteVerdict> suites(1);
    limits.note(suites);
    ASSERT_EQ(suites[0].notes.size(), 2U);
    for (const std::string& note : suites[0].notes) {
        EXPECT_NE(note.find("in 1 case the"), std::string::npos) << note;
    }
}

}  // namespace
}  // namespace perfgate::gate

// SPDX-License-Identifier: Apache-2.0
// Each rule has the case that it must catch and the one that it must leave alone.
#include "gate/rule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "median_rule.hpp"
#include "unit/gate_documents.hpp"

namespace perfgate::gate {
namespace rule_test {

using documents::definition;
using documents::series;
using model::Direction;
using model::MetricClass;
using model::Tolerance;
using model::Verdict;

struct Setting {
    Direction direction = Direction::lower;
    Tolerance tolerance{};
    double leeway = 0;
};

Judgement judged(const std::vector<double>& baseline, const std::vector<double>& measured,
                 const Setting& setting = {}) {
    const model::MetricDefinition metric =
        definition("x", "ns", MetricClass::timing, setting.direction);
    const model::MetricSeries before = series(baseline);
    const model::MetricSeries after = series(measured);
    const std::vector<Comparison> comparisons{
        {&metric, &before, &after, setting.tolerance, setting.leeway}};
    return MedianRule().judge(comparisons).at(0);
}

Verdict verdict(double baseline, double measured, const Setting& setting = {}) {
    return judged({baseline}, {measured}, setting).verdict;
}

const Setting three_percent{Direction::lower, {0.03, std::nullopt, 0}, 0};

TEST(MedianRule, AChangeCountsOverTheToleranceAndNotAtIt) {
    EXPECT_EQ(verdict(1000, 1029.9, three_percent), Verdict::pass);
    EXPECT_EQ(verdict(1000, 1030, three_percent), Verdict::pass);
    EXPECT_EQ(verdict(1000, 1030.1, three_percent), Verdict::regressed);
}

TEST(ChangeBetween, NoChangeIsNoImprovement) {
    for (const Direction direction : {Direction::lower, Direction::higher}) {
        const model::MetricDefinition metric =
            definition("x", "ns", MetricClass::timing, direction);
        const model::MetricSeries same = series({1000});
        const Comparison comparison{&metric, &same, &same, {0.03, 0.1, 0}, 0};
        const Change change = change_between(comparison, 1000, 1000);
        EXPECT_FALSE(change.good_way);
        EXPECT_DOUBLE_EQ(change.allowed, 30);
    }
}

TEST(MedianRule, ExactlyAtTheTolerancePassesWhateverTheDecimalTextRoundsTo) {
    // 12.7102 / 12.34 is 1.03, and not one of these numbers is a double.
    EXPECT_EQ(verdict(12.34, 12.7102, three_percent), Verdict::pass);
    EXPECT_EQ(verdict(0.1, 0.103, three_percent), Verdict::pass);
    EXPECT_EQ(verdict(100007, 103007.21, three_percent), Verdict::pass);
    EXPECT_EQ(verdict(0.1, 0.10300001, three_percent), Verdict::regressed);
}

TEST(MedianRule, AnImprovementIsReportedBeyondTheSameTolerance) {
    EXPECT_EQ(verdict(1000, 970, three_percent), Verdict::pass);
    EXPECT_EQ(verdict(1000, 969.9, three_percent), Verdict::improved);
}

TEST(MedianRule, BetterHasAToleranceOfItsOwn) {
    const Setting setting{Direction::lower, {0.02, 0.10, 0}, 0};
    EXPECT_EQ(verdict(1000, 900, setting), Verdict::pass);
    EXPECT_EQ(verdict(1000, 899, setting), Verdict::improved);
    EXPECT_EQ(verdict(1000, 1021, setting), Verdict::regressed);
}

TEST(MedianRule, HigherIsBetterTurnsItRound) {
    const Setting setting{Direction::higher, {0.05, std::nullopt, 0}, 0};
    EXPECT_EQ(verdict(80, 76, setting), Verdict::pass);
    EXPECT_EQ(verdict(80, 75.9, setting), Verdict::regressed);
    EXPECT_EQ(verdict(80, 84.1, setting), Verdict::improved);
}

TEST(MedianRule, WithoutADirectionBothWaysFail) {
    const Setting setting{Direction::none, {0.05, 0.50, 0}, 0};
    EXPECT_EQ(verdict(100, 105, setting), Verdict::pass);
    EXPECT_EQ(verdict(100, 95, setting), Verdict::pass);
    EXPECT_EQ(verdict(100, 105.1, setting), Verdict::regressed);
    EXPECT_EQ(verdict(100, 94.9, setting), Verdict::regressed);
}

TEST(MedianRule, AbsIsAFloorUnderWhichNoFractionCounts) {
    const Setting setting{Direction::lower, {0.03, std::nullopt, 500}, 0};
    EXPECT_EQ(verdict(1000, 1500, setting), Verdict::pass) << "50 %, but only 500 ns";
    EXPECT_EQ(verdict(1000, 1501, setting), Verdict::regressed);
    EXPECT_EQ(verdict(1000, 500, setting), Verdict::pass);
    EXPECT_EQ(verdict(1000, 499, setting), Verdict::improved);
    EXPECT_EQ(verdict(100000, 102000, setting), Verdict::pass) << "2000 ns, but only 2 %";
    EXPECT_EQ(verdict(100000, 103001, setting), Verdict::regressed);
}

TEST(MedianRule, ZeroToleranceComparesToTheDigit) {
    EXPECT_EQ(verdict(64, 64), Verdict::pass);
    EXPECT_EQ(verdict(64, 65), Verdict::regressed);
    EXPECT_EQ(verdict(64, 63), Verdict::improved);
    EXPECT_EQ(verdict(9007199254740991, 9007199254740992), Verdict::regressed);
    EXPECT_EQ(verdict(6.25, std::nextafter(6.25, 7)), Verdict::regressed);
}

TEST(MedianRule, FromZeroOnlyAbsAllowsADifference) {
    EXPECT_EQ(verdict(0, 0), Verdict::pass);
    EXPECT_EQ(verdict(0, 0, three_percent), Verdict::pass);
    EXPECT_EQ(verdict(0, 1, three_percent), Verdict::regressed);
    EXPECT_EQ(verdict(0, 1, {Direction::higher, {0.03, std::nullopt, 0}, 0}), Verdict::improved);
    EXPECT_EQ(verdict(0, 128, {Direction::lower, {0, std::nullopt, 128}, 0}), Verdict::pass);
    EXPECT_EQ(verdict(0, 129, {Direction::lower, {0, std::nullopt, 128}, 0}), Verdict::regressed);
}

TEST(MedianRule, ToZeroIsAChangeLikeAnyOther) {
    EXPECT_EQ(verdict(128, 0), Verdict::improved);
    EXPECT_EQ(verdict(128, 0, {Direction::higher, {0.5, std::nullopt, 0}, 0}), Verdict::regressed);
}

TEST(MedianRule, NegativeBaselinesAreMeasuredBySize) {
    EXPECT_EQ(verdict(-100, -97, three_percent), Verdict::pass);
    EXPECT_EQ(verdict(-100, -96.9, three_percent), Verdict::regressed);
    EXPECT_EQ(verdict(-100, -103.1, three_percent), Verdict::improved);
}

TEST(MedianRule, LeewayWidensBothWays) {
    const Setting setting{Direction::lower, {0.03, std::nullopt, 0}, 0.02};
    EXPECT_EQ(verdict(1000, 1050, setting), Verdict::pass);
    EXPECT_EQ(verdict(1000, 1051, setting), Verdict::regressed);
    EXPECT_EQ(verdict(1000, 950, setting), Verdict::pass);
    EXPECT_EQ(verdict(1000, 949, setting), Verdict::improved);
}

TEST(MedianRule, TheMedianDecidesNotTheOutliers) {
    const Judgement outlier = judged({1000, 1000, 1001}, {1000, 9000, 1001}, three_percent);
    EXPECT_EQ(outlier.verdict, Verdict::pass);
    EXPECT_EQ(outlier.baseline, 1000);
    EXPECT_EQ(outlier.measured, 1001);
    EXPECT_EQ(judged({1000, 1000, 1001}, {1000, 1090, 1091}, three_percent).verdict,
              Verdict::regressed);
}

TEST(MedianRule, SamplesWithoutSpreadAreJudgedAlike) {
    EXPECT_EQ(judged({5, 5, 5, 5}, {5, 5, 5, 5}).verdict, Verdict::pass);
    EXPECT_EQ(judged({5, 5, 5, 5}, {6, 6, 6, 6}).verdict, Verdict::regressed);
}

TEST(MedianRule, SamplesOfAllBatchesCountAndTheirAbsenceLeavesTheValue) {
    const model::MetricDefinition metric = definition("x", "ns", MetricClass::timing);
    model::MetricSeries batches = series({1000});
    batches.batches.push_back({1, "board-a", 1, {3000, 3000}});
    model::MetricSeries bare = series({});
    bare.value = 1000;
    const std::vector<Comparison> comparisons{{&metric, &bare, &batches, {}, 0},
                                              {&metric, &bare, &bare, {}, 0}};
    const std::vector<Judgement> judgements = MedianRule().judge(comparisons);
    ASSERT_EQ(judgements.size(), 2U);
    EXPECT_EQ(judgements[0], (Judgement{Verdict::regressed, 1000, 3000}));
    EXPECT_EQ(judgements[1], (Judgement{Verdict::pass, 1000, 1000}));
}

TEST(MedianRule, WhatIsNoNumberIsNeverAPass) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(verdict(1000, nan, three_percent), Verdict::invalid);
    EXPECT_EQ(verdict(nan, 1000, three_percent), Verdict::invalid);
    EXPECT_EQ(verdict(1000, infinity, three_percent), Verdict::invalid);
    EXPECT_EQ(verdict(infinity, infinity, three_percent), Verdict::invalid);
}

TEST(MedianRule, NothingToJudgeGivesNothing) {
    EXPECT_TRUE(MedianRule().judge({}).empty());
}

TEST(ShareByAbs, IsWhatAbsAllowsBeyondTheFraction) {
    const auto time = documents::definition("x", "ns", model::MetricClass::timing);
    const auto share = [&](double worse, double abs, double value,
                           const model::MetricDefinition& metric) {
        return share_by_abs(metric, documents::series({value}), {worse, std::nullopt, abs});
    };
    EXPECT_NEAR(share(0.04, 800, 7'300, time), 0.1096, 1e-4);
    EXPECT_EQ(share(0.04, 800, 20'000, time), 0);
    EXPECT_EQ(share(0.04, 0, 7'300, time), 0);
    EXPECT_EQ(share(0, 800, 7'300, time), 0) << "it is only said in its unit";
    EXPECT_EQ(share(0.04, 800, 0, time), 0);
    const auto rate = documents::definition("x", "%", model::MetricClass::counter);
    EXPECT_EQ(share(0.01, 2, 50, rate), 0) << "in points";
}

}  // namespace rule_test
}  // namespace perfgate::gate

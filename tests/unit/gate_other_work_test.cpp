// SPDX-License-Identifier: Apache-2.0
// Times on the host that others' work lengthened, of the run or of its baseline.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gate/batch_rule.hpp"
#include "model/verdict.hpp"
#include "unit/gate_pair.hpp"

namespace perfgate::gate::pairs {
namespace gate_other_work_test {

using model::Doubt;
using util::OtherWork;

/// A case with this one host time, 20 processes in the baseline and 8 in the run.
class OtherWorkTest : public ::testing::Test {
  protected:
    void then(double time, OtherWork others) { set(baseline, time, 20, others); }
    void now(double time, OtherWork others) { set(measured, time, 8, others); }

    Pair documents_of() const {
        Pair pair;
        pair.run.metric_definitions["host_time"] =
            documents::definition("host_time", "ns", model::MetricClass::timing, direction);
        pair.now().gates = {{"host_time", {0.05, std::nullopt, 0}, 0}};
        pair.now().metrics = {{"host_time", measured}};
        pair.then().metrics = {{"host_time", baseline}};
        return pair;
    }

    MetricVerdict verdict(const Rule& rule = BatchRule(Policy{})) const {
        const Pair pair = documents_of();
        const Policy policy;
        return metric(only_case(judge(pair.run, stored(pair.baseline), policy, rule)), "host_time");
    }

    static void set(model::MetricSeries& series, double time, std::size_t count, OtherWork others) {
        series = processes(time, 0.01, count);
        for (model::Batch& batch : series.batches) batch.other_work = others;
    }

    model::MetricSeries baseline, measured;
    model::Direction direction = model::Direction::lower;
};

constexpr OtherWork quiet{0.001, 0.01};

TEST_F(OtherWorkTest, ATimeThatIsSlowerByItsWaitingIsInconclusive) {
    then(1000, quiet);
    now(1300, {0.23, 0.3});
    const MetricVerdict found = verdict();
    EXPECT_EQ(found.verdict, Verdict::inconclusive);
    EXPECT_EQ(found.doubt, Doubt::other_work);
    EXPECT_TRUE(says(found.sentence, "waited 23 % of their time")) << found.sentence;
}

TEST_F(OtherWorkTest, ATimeThatIsSlowerByMoreThanItsWaitingRegressed) {
    then(1000, quiet);
    now(2000, {0.23, 0.3});
    EXPECT_EQ(verdict().verdict, Verdict::regressed);
}

TEST_F(OtherWorkTest, OthersOnNeighbouringProcessorsMakeASmallChangeDoubtful) {
    then(1000, quiet);
    now(1200, {0.01, 0.6});
    EXPECT_EQ(verdict().doubt, Doubt::other_work);
    now(1500, {0.01, 0.6});
    EXPECT_EQ(verdict().verdict, Verdict::regressed);
}

TEST_F(OtherWorkTest, NeighboursThatAreAsBusyInTheBaselineExplainNothing) {
    then(1000, {0.01, 0.6});
    now(1200, {0.01, 0.6});
    EXPECT_EQ(verdict().verdict, Verdict::regressed);
}

TEST_F(OtherWorkTest, NeighboursThatAreBusyByTurnsOnBothSidesExplainNothing) {
    then(1000, quiet);
    now(1200, quiet);
    for (model::MetricSeries* series : {&baseline, &measured}) {
        for (std::size_t i = 0; i < series->batches.size(); ++i) {
            series->batches[i].other_work = {0.01, i % 2 == 0 ? 0.1 : 0.9};
        }
    }
    EXPECT_EQ(verdict().verdict, Verdict::regressed);
}

TEST_F(OtherWorkTest, NeighboursOfTheBaselineAloneMakeNoRunSuspicious) {
    then(1000, {0.01, 0.6});
    now(1000, {0.01, 0.05});
    EXPECT_EQ(verdict().verdict, Verdict::pass);
    now(780, {0.01, 0.05});
    EXPECT_EQ(verdict().verdict, Verdict::improved);
}

TEST_F(OtherWorkTest, OnAQuietMachineNothingIsExcused) {
    then(1000, quiet);
    now(1080, quiet);
    EXPECT_EQ(verdict().verdict, Verdict::regressed);
}

TEST_F(OtherWorkTest, WhatIsNotKnownExcusesNothing) {
    then(1000, quiet);
    now(1300, {0.23, 0.3});
    measured.batches.back().other_work.reset();
    EXPECT_EQ(verdict().verdict, Verdict::regressed);
    now(1300, {0.23, 0.3});
    baseline.batches.back().other_work.reset();
    EXPECT_EQ(verdict().verdict, Verdict::regressed);
}

TEST_F(OtherWorkTest, ATimeThatWasAllWaitingIsJudged) {
    for (const model::Direction way : {model::Direction::lower, model::Direction::higher}) {
        direction = way;
        then(1000, quiet);
        now(way == model::Direction::lower ? 1300 : 700, {1, 1});
        EXPECT_EQ(verdict().doubt, Doubt::other_work);
    }
}

TEST_F(OtherWorkTest, AnUnchangedTimeWhoseBaselineWaitedMayHideASlowdown) {
    then(1000, {0.23, 0.01});
    now(1000, quiet);
    EXPECT_EQ(verdict().doubt, Doubt::other_work);
    now(770, quiet);
    EXPECT_EQ(verdict().verdict, Verdict::improved);
}

TEST_F(OtherWorkTest, ARateIsExcusedTheOtherWayRound) {
    direction = model::Direction::higher;
    then(1000, quiet);
    now(770, {0.23, 0.23});
    EXPECT_EQ(verdict().doubt, Doubt::other_work);
    now(500, {0.23, 0.23});
    EXPECT_EQ(verdict().verdict, Verdict::regressed);
}

TEST_F(OtherWorkTest, IsMeasuredAgainIfMoreProcessesMayShowTheRest) {
    const auto flags = [&] {
        Pair pair = documents_of();
        return flagged(pair.run, stored(pair.baseline), Policy{}, BatchRule(Policy{})).size();
    };
    then(1000, quiet);
    now(1300, {0.23, 0.01});
    EXPECT_EQ(flags(), 0U);  // it explains all
    then(1300, {0.23, 0.01});
    now(1300, quiet);
    // Of some processes of the baseline the waiting was outside of what was timed.
    for (std::size_t i = 0; i < 5; ++i) baseline.batches[i].other_work = {0.001, 0.01};
    EXPECT_EQ(verdict().doubt, Doubt::other_work);
    EXPECT_EQ(flags(), 1U);
}

TEST_F(OtherWorkTest, ASpreadThatHidesWhatIsLeftBeyondTheToleranceIsNoExcuse) {
    then(1000, quiet);
    now(1500, {0.2, 0.01});
    for (std::size_t i = 0; i < 3; ++i) measured.batches[i].other_work = {0.4, 0.01};
    EXPECT_EQ(verdict().verdict, Verdict::regressed) << "20 % slower without others' work";
}

TEST_F(OtherWorkTest, PairsAreJudgedAsTheyAre) {
    set(baseline, 1000, 16, quiet);
    set(measured, 1300, 16, {0.23, 0.3});
    EXPECT_EQ(verdict(PairedRule(Policy{})).verdict, Verdict::regressed);
}

}  // namespace gate_other_work_test
}  // namespace perfgate::gate::pairs

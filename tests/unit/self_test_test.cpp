// SPDX-License-Identifier: Apache-2.0
#include "gate/self_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "runner/self_test.hpp"

namespace perfgate::gate {
namespace {

using runner::deal_sizes;
using runner::keep_times_alone;

using model::Verdict;

model::CaseVerdict judged(const std::string& id, Verdict verdict,
                          double minimum_detectable_change) {
    model::CaseVerdict result;
    result.id = id;
    result.verdict = verdict;
    model::MetricVerdict metric;
    metric.metric = "gpu_time";
    metric.verdict = verdict;
    metric.minimum_detectable_change = minimum_detectable_change;
    result.metrics = {metric};
    return result;
}

/// One trial of cases c0, c1, …, each with a size and what the gate said.
Trial trial(const std::vector<std::pair<double, Verdict>>& cases, double claimed = 0.01) {
    Trial result;
    model::SuiteVerdict suite;
    suite.name = "s";
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::string id = "c" + std::to_string(i);
        result.added[{"s", id}] = cases[i].first;
        suite.cases.push_back(judged(id, cases[i].second, claimed));
        if (cases[i].second == Verdict::regressed) result.verdict.exit_code = 1;
    }
    result.verdict.suites = {suite};
    return result;
}

TEST(SelfTest, EachCaseGetsEverySizeOnceInAnOrderOfItsOwn) {
    const auto dealt = deal_sizes(200, 6, 1);
    std::set<std::vector<std::size_t>> orders;
    for (const std::vector<std::size_t>& order : dealt) {
        std::vector<std::size_t> sorted = order;
        std::sort(sorted.begin(), sorted.end());
        EXPECT_EQ(sorted, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
        orders.insert(order);
    }
    EXPECT_GT(orders.size(), 100U);
    EXPECT_EQ(deal_sizes(200, 6, 1), dealt);
    EXPECT_NE(deal_sizes(200, 6, 2), dealt);
}

TEST(SelfTest, CountsWhatWasSaidBySize) {
    const SelfTestReport report =
        tally({trial({{0, Verdict::pass}, {0.02, Verdict::regressed}}),
               trial({{0.02, Verdict::inconclusive}, {0, Verdict::invalid}})});
    ASSERT_EQ(report.sizes.size(), 2U);
    EXPECT_EQ(report.sizes[0], (SizeTally{.size = 0, .cases = 2, .passed = 1, .unjudged = 1}));
    EXPECT_EQ(report.sizes[1],
              (SizeTally{.size = 0.02, .cases = 2, .regressed = 1, .inconclusive = 1}));
    ASSERT_EQ(report.cases.size(), 2U);
    EXPECT_DOUBLE_EQ(report.cases[0].minimum_detectable_change.value(), 0.01);
    EXPECT_EQ(report.cases[1].by_size.at(0.02), Verdict::regressed);
    EXPECT_EQ(report.promised, 2U);
    EXPECT_EQ(report.kept, 1U);
    EXPECT_TRUE(report.problems.empty()) << report.problems.front();
    EXPECT_TRUE(report.not_shown);
}

TEST(SelfTest, CasesThatWereNotJudgedAreCountedAndSkippedOnesTakeNoPart) {
    const SelfTestReport report = tally({trial({{0, Verdict::pass},
                                                {0, Verdict::error},
                                                {0.02, Verdict::invalid},
                                                {0.02, Verdict::skipped}})});
    EXPECT_EQ(report.unjudged, 2U);
    EXPECT_EQ(report.sizes[1], (SizeTally{.size = 0.02, .cases = 1, .unjudged = 1}));
    EXPECT_TRUE(report.problems.empty()) << report.problems.front();
}

TEST(SelfTest, AFalseAlarmIsAProblem) {
    for (const Verdict verdict : {Verdict::regressed, Verdict::improved}) {
        const SelfTestReport report = tally({trial({{0, verdict}, {0.02, Verdict::regressed}})});
        ASSERT_EQ(report.problems.size(), 1U);
        EXPECT_NE(report.problems[0].find("c0"), std::string::npos);
    }
}

TEST(SelfTest, PromisesMayBeBrokenAsOftenAsTheyAreMadeToBe) {
    std::vector<std::pair<double, Verdict>> cases(100, {0.02, Verdict::regressed});
    for (std::size_t i = 0; i < 14; ++i) cases[i].second = Verdict::pass;
    EXPECT_TRUE(tally({trial(cases)}).problems.empty());
    for (std::size_t i = 0; i < 25; ++i) cases[i].second = Verdict::inconclusive;
    ASSERT_EQ(tally({trial(cases)}).problems.size(), 1U);
    // What is smaller than a claim was never promised.
    EXPECT_TRUE(tally({trial(cases, 0.05)}).problems.empty());
}

/// So many slowdowns that are as large as the claim, and so many of them found.
SelfTestReport found_of(std::size_t found, std::size_t all) {
    std::vector<std::pair<double, Verdict>> cases(all, {0.02, Verdict::inconclusive});
    for (std::size_t i = 0; i < found; ++i) cases[i].second = Verdict::regressed;
    return tally({trial(cases)});
}

TEST(SelfTest, FewerThanNineOfTenShowNothingEvenIfItMayBeChance) {
    for (const auto& [found, all] : {std::pair(35, 43), {8, 9}, {0, 1}, {44, 49}}) {
        const SelfTestReport report = found_of(found, all);
        EXPECT_TRUE(report.problems.empty()) << found << " of " << all << report.problems.front();
        EXPECT_TRUE(report.not_shown) << found << " of " << all;
        EXPECT_LT(report.at_least, promised_share);
    }
    for (const auto& [found, all] : {std::pair(11, 11), {1, 1}, {9, 10}, {45, 50}, {29, 29}}) {
        const SelfTestReport report = found_of(found, all);
        EXPECT_TRUE(report.problems.empty()) << found << " of " << all << report.problems.front();
        EXPECT_FALSE(report.not_shown) << found << " of " << all;
    }
    EXPECT_LT(found_of(28, 28).at_least, promised_share);
    EXPECT_GE(found_of(29, 29).at_least, promised_share);
    const SelfTestReport worse = found_of(30, 43);
    EXPECT_EQ(worse.problems.size(), 1U);
    EXPECT_FALSE(worse.not_shown) << "this is no chance";
}

TEST(SelfTest, TheExitCodeMustSayWhatTheVerdictsSay) {
    Trial silent = trial({{0.02, Verdict::regressed}});
    silent.verdict.exit_code = 0;
    ASSERT_EQ(tally({silent}).problems.size(), 1U);
    Trial loud = trial({{0.02, Verdict::pass}}, 0.05);
    loud.verdict.exit_code = 1;
    ASSERT_EQ(tally({loud}).problems.size(), 1U);
}

TEST(SelfTest, NothingJudgedProvesNothing) {
    EXPECT_EQ(tally({}).problems.size(), 1U);
    EXPECT_EQ(tally({trial({{0, Verdict::error}})}).problems.size(), 1U);
}

TEST(SelfTest, WhatReachesNoClaimProvesNothing) {
    // Of slowdowns of 2 % the gate claims nothing: it detects 5 %.
    const SelfTestReport report = tally({trial({{0, Verdict::pass}, {0.02, Verdict::pass}}, 0.05)});
    EXPECT_TRUE(report.problems.empty());
    EXPECT_TRUE(report.proves_nothing);
    EXPECT_EQ(report.at_least, 0);
    EXPECT_FALSE(tally({trial({{0, Verdict::pass}}, 0.05)}).proves_nothing)
        << "without slowdowns it tests for false alarms";
    const SelfTestReport found = tally({trial({{0.1, Verdict::regressed}}, 0.05)});
    EXPECT_FALSE(found.proves_nothing);
    EXPECT_NEAR(found.at_least, 0.05, 1e-9) << "one of one says little";
}

TEST(SelfTest, APlanKeepsOneTimeOfEachCase) {
    model::Plan plan;
    model::PlannedSuite suite;
    model::PlannedCase device;
    device.metrics = {"registers", "gpu_span", "gpu_time"};
    device.gates = {{.metric = "registers", .tolerance = {}}};
    model::PlannedCase host = device;
    host.target = model::Target::host;
    host.metrics = {"host_time"};
    model::PlannedCase counters = device;
    counters.metrics = {"registers"};
    suite.cases = {device, host, counters};
    suite.relations.resize(1);
    plan.suites = {suite};
    keep_times_alone(plan, 0.005);
    ASSERT_EQ(plan.suites[0].cases.size(), 2U);
    EXPECT_TRUE(plan.suites[0].relations.empty());
    EXPECT_EQ(plan.suites[0].cases[0].metrics, std::vector<std::string>{"gpu_time"});
    ASSERT_EQ(plan.suites[0].cases[0].gates.size(), 1U);
    EXPECT_EQ(plan.suites[0].cases[0].gates[0].tolerance.worse, 0.005);
    EXPECT_EQ(plan.suites[0].cases[1].metrics, std::vector<std::string>{"host_time"});
}

TEST(SelfTest, ACaseIsFoundFromTheSmallestSizeFromWhichAllAre) {
    const auto from = [](std::map<double, Verdict> by_size) {
        return found_from({.name = {}, .minimum_detectable_change = {}, .by_size = by_size});
    };
    const Verdict yes = Verdict::regressed;
    const Verdict no = Verdict::inconclusive;
    EXPECT_EQ(from({{0, Verdict::pass}, {0.01, no}, {0.02, yes}, {0.05, yes}}), 0.02);
    EXPECT_EQ(from({{0, Verdict::pass}, {0.01, yes}, {0.02, no}, {0.05, yes}}), 0.05);
    EXPECT_EQ(from({{0, yes}, {0.01, yes}}), 0.01) << "of no work there is nothing to find";
    EXPECT_EQ(from({{0.01, yes}, {0.05, no}}), std::nullopt);
    EXPECT_EQ(from({{0.01, yes}, {0.05, yes}}), 0.01);
    EXPECT_EQ(from({}), std::nullopt);
}

TEST(SelfTest, EachVerdictIsCountedAsWhatItIs) {
    const SelfTestReport report = tally({trial({{0.02, Verdict::regressed},
                                                {0.02, Verdict::inconclusive},
                                                {0.02, Verdict::inconclusive},
                                                {0.02, Verdict::improved},
                                                {0.02, Verdict::pass},
                                                {0.02, Verdict::error},
                                                {0.02, Verdict::missing},
                                                {0.02, Verdict::skipped}},
                                               0.05)});
    ASSERT_EQ(report.sizes.size(), 1U);
    EXPECT_EQ(report.sizes[0], (SizeTally{.size = 0.02,
                                          .cases = 7,
                                          .regressed = 1,
                                          .inconclusive = 2,
                                          .improved = 1,
                                          .passed = 1,
                                          .unjudged = 2}));
    EXPECT_EQ(report.promised, 0U) << "all claim 5 %";
    EXPECT_TRUE(report.problems.empty());
}

TEST(SelfTest, AClaimIsTheMeanOfTheTrialsAndPromisesItsOwnSize) {
    const SelfTestReport report = tally(
        {trial({{0.02, Verdict::regressed}}, 0.01), trial({{0.04, Verdict::regressed}}, 0.03)});
    ASSERT_EQ(report.cases.size(), 1U);
    EXPECT_DOUBLE_EQ(report.cases[0].minimum_detectable_change.value(), 0.02);
    EXPECT_EQ(report.promised, 2U) << "a size as large as the claim is promised";
    EXPECT_EQ(report.kept, 2U);
}

TEST(SelfTest, AVerdictOfACaseWithoutASizeOrAClaimTellsNothing) {
    Trial strange = trial({{0.02, Verdict::regressed}});
    strange.added.clear();
    EXPECT_EQ(tally({strange}).sizes.size(), 0U);
    Trial silent = trial({{0.02, Verdict::pass}});
    silent.verdict.suites[0].cases[0].metrics[0].minimum_detectable_change.reset();
    const SelfTestReport report = tally({silent});
    EXPECT_EQ(report.promised, 0U);
    EXPECT_FALSE(report.cases.at(0).minimum_detectable_change.has_value());
}

}  // namespace
}  // namespace perfgate::gate

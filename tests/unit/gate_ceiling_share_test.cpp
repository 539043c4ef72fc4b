// SPDX-License-Identifier: Apache-2.0
// A share of a ceiling as a gated metric: judged by its processes as a time is, and higher is
// better.
#include <gtest/gtest.h>

#include <string>

#include "gate/batch_rule.hpp"
#include "gate/proof.hpp"
#include "metrics/catalogue.hpp"
#include "unit/gate_pair.hpp"

namespace perfgate::gate {
namespace gate_ceiling_share_test {

using model::MetricVerdict;
using model::Verdict;
using pairs::Pair;
using pairs::processes;
using pairs::says;

constexpr const char* share = "ceiling_share";

/// Gated with 2 points; 20 processes around 80 % in the baseline, 20 around `now` in the run.
Pair gated(double now, double spread = 0.004) {
    Pair pair;
    pair.run.metric_definitions[share] = metrics::find_metric(share)->definition;
    pair.now().gates = {{share, {0, {}, 2}, 0.05}};
    pair.now().metrics[share] = processes(now, spread, 20, "%", "activity/cold/ceiling");
    pair.then().metrics[share] = processes(80, spread, 20, "%", "activity/cold/ceiling");
    return pair;
}

MetricVerdict judged(const Pair& pair, int exit_code) {
    const model::Policy policy;
    const model::VerdictDocument document =
        judge(pair.run, documents::stored(pair.baseline), policy, BatchRule(policy));
    EXPECT_EQ(document.exit_code, exit_code);
    return pairs::metric(pairs::only_case(document), share);
}

void add_code(Pair& pair) {
    model::Kernel kernel;
    kernel.name = "k";
    kernel.code = "c0de";
    kernel.arguments = "a1";
    pair.now().kernels = pair.then().kernels = {kernel};
    pair.now().host_code = pair.then().host_code = "0057";
    pair.now().libraries = pair.then().libraries = model::Libraries{};
}

TEST(CeilingShareGate, FivePointsLessFail) {
    const MetricVerdict verdict = judged(gated(75), 1);
    EXPECT_EQ(verdict.verdict, Verdict::regressed);
    EXPECT_TRUE(says(verdict.sentence, "-5.0 points")) << verdict.sentence;
    EXPECT_EQ(verdict.tolerance, "2 percentage points");
}

TEST(CeilingShareGate, AnUnchangedOnePassesAndAHigherOneIsBetter) {
    EXPECT_EQ(judged(gated(80), 0).verdict, Verdict::pass);
    EXPECT_EQ(judged(gated(79), 0).verdict, Verdict::pass) << "within its tolerance";
    EXPECT_EQ(judged(gated(85), 0).verdict, Verdict::improved);
}

TEST(CeilingShareGate, TheSpanIsNotComparedWithTheTime) {
    Pair pair = gated(75);
    pair.now().metrics[share].method = "event/cold/ceiling";
    EXPECT_EQ(judged(pair, 3).verdict, Verdict::invalid);
}

TEST(CeilingShareGate, WhatWasNotCollectedIsNoPass) {
    Pair pair = gated(80);
    pair.now().metrics.erase(share);
    pair.now().not_collected = {{share, "the workload states no work"}};
    const MetricVerdict verdict = judged(pair, 3);
    EXPECT_EQ(verdict.verdict, Verdict::not_collected);
    EXPECT_TRUE(says(verdict.sentence, "the workload states no work")) << verdict.sentence;
    pair.now().not_collected.clear();
    EXPECT_EQ(judged(pair, 3).verdict, Verdict::not_collected);
}

// As of its time: the cause is in the machine, or in the ceilings.
TEST(CeilingShareGate, OfUnchangedCodeItIsInconclusiveUntilNoMachineExplainsIt) {
    Pair pair = gated(75);
    add_code(pair);
    MetricVerdict verdict = judged(pair, 0);
    EXPECT_EQ(verdict.verdict, Verdict::inconclusive);
    EXPECT_EQ(verdict.doubt, model::Doubt::nothing_changed);
    pair.now().kernels[0].code = "c0de-other";
    EXPECT_EQ(judged(pair, 1).verdict, Verdict::regressed);

    pair = gated(53);
    add_code(pair);
    verdict = judged(pair, 3);
    EXPECT_EQ(verdict.verdict, Verdict::invalid);
    EXPECT_TRUE(says(verdict.sentence, "by more than a factor of 1.5")) << verdict.sentence;
    pair = gated(54);
    add_code(pair);
    EXPECT_EQ(judged(pair, 0).verdict, Verdict::inconclusive);
}

TEST(CeilingShareGate, IsProved) {
    const auto known = [](std::string_view metric) -> std::optional<model::Direction> {
        return metrics::find_metric(metric)->definition.direction;
    };
    const auto proved = [&](const Pair& pair) {
        return prove(pair.run, documents::stored(pair.baseline), {}, known);
    };
    const Proof proof = proved(gated(80));
    EXPECT_EQ(proof.gates, 1U);
    EXPECT_TRUE(proof.problems.empty()) << proof.problems.front();

    Pair wrong = gated(80);
    wrong.run.metric_definitions[share].direction = model::Direction::lower;
    EXPECT_EQ(proved(wrong).problems.size(), 1U);
    // 1 % cannot get worse by 2 points.
    Pair low = gated(1);
    low.then().metrics[share] = low.now().metrics[share];
    ASSERT_EQ(proved(low).problems.size(), 1U);
    EXPECT_TRUE(says(proved(low).problems[0], "cannot fail")) << proved(low).problems[0];
}

TEST(CeilingShareGate, AnExpectedShareHoldsAndCanBeBroken) {
    Pair pair = gated(86);
    model::Relation relation;
    relation.place = {"suites/s.yaml", 40};
    relation.left_text = "gemm/tiled.ceiling_share";
    relation.comparator = model::Comparator::greater_equal;
    relation.right_text = "85%";
    relation.unit = "%";
    relation.operands = {"gemm/tiled"};
    relation.left = {model::OperandMetric{0, share}};
    relation.right = {0.85};
    relation.instances = {{pairs::first_id}};
    pair.run.suites[0].relations = {relation};
    const auto verdict = [&] { return pair.judged().suites.at(0).relations.at(0); };
    EXPECT_EQ(verdict().verdict, Verdict::pass) << verdict().sentence;
    EXPECT_TRUE(says(verdict().sentence, "gemm/tiled.ceiling_share is 86.00 %"))
        << verdict().sentence;
    EXPECT_TRUE(prove_relations(pair.run).problems.empty());

    pair.now().metrics[share] = processes(84, 0.004, 20, "%", "activity/cold/ceiling");
    EXPECT_EQ(verdict().verdict, Verdict::regressed) << verdict().sentence;
    pair.now().metrics.erase(share);
    EXPECT_EQ(verdict().verdict, Verdict::error) << verdict().sentence;
}

}  // namespace gate_ceiling_share_test
}  // namespace perfgate::gate

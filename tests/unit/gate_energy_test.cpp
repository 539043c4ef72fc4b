// SPDX-License-Identifier: Apache-2.0
// What gets worse besides time, as gated metrics: energy by its processes as a time is, calls and
// memory to the digit.
#include <gtest/gtest.h>

#include <string>

#include "gate/batch_rule.hpp"
#include "gate/proof.hpp"
#include "metrics/catalogue.hpp"
#include "unit/gate_pair.hpp"

namespace perfgate::gate {
namespace gate_energy_test {

using model::MetricVerdict;
using model::Verdict;
using pairs::Pair;
using pairs::processes;
using pairs::says;

constexpr const char* loop = "nvml-counter/hot/back-to-back";

void define(Pair& pair, const std::string& metric, double fraction) {
    pair.run.metric_definitions[metric] = metrics::find_metric(metric)->definition;
    pair.now().gates = {{metric, {fraction, {}, 0}, 0.05}};
}

std::string unit_of(const std::string& metric) {
    return metrics::find_metric(metric)->definition.unit;
}

/// Gated with 3 %; 20 processes on either side that spread by 0.6 %.
Pair steady(const std::string& metric, double before, double now) {
    Pair pair;
    define(pair, metric, 0.03);
    pair.now().metrics[metric] = processes(now, 0.006, 20, unit_of(metric), loop);
    pair.then().metrics[metric] = processes(before, 0.006, 20, unit_of(metric), loop);
    return pair;
}

/// Gated to the digit; one value on either side.
Pair counted(const std::string& metric, double before, double now) {
    Pair pair;
    define(pair, metric, 0);
    pair.now().metrics[metric] = processes(now, 0, 1, unit_of(metric), "m");
    pair.then().metrics[metric] = processes(before, 0, 1, unit_of(metric), "m");
    return pair;
}

MetricVerdict judged(const Pair& pair, int exit_code) {
    const model::Policy policy;
    const model::VerdictDocument document =
        judge(pair.run, documents::stored(pair.baseline), policy, BatchRule(policy));
    EXPECT_EQ(document.exit_code, exit_code);
    return pairs::only_case(document).metrics.at(0);
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

TEST(EnergyGate, FivePercentMoreFailAndUnchangedPasses) {
    const MetricVerdict worse = judged(steady("energy", 0.4, 0.42), 1);
    EXPECT_EQ(worse.verdict, Verdict::regressed);
    EXPECT_TRUE(says(worse.sentence, "400.0 mJ")) << worse.sentence;
    EXPECT_TRUE(says(worse.sentence, "420.0 mJ")) << worse.sentence;
    EXPECT_EQ(judged(steady("energy", 0.4, 0.4), 0).verdict, Verdict::pass);
    EXPECT_EQ(judged(steady("energy", 0.4, 0.404), 0).verdict, Verdict::pass);
    EXPECT_EQ(judged(steady("energy", 0.4, 0.38), 0).verdict, Verdict::improved);
}

TEST(EnergyGate, EachMetricHasItsOwnBadWay) {
    EXPECT_EQ(judged(steady("efficiency", 1e12, 0.95e12), 1).verdict, Verdict::regressed);
    EXPECT_EQ(judged(steady("efficiency", 1e12, 1.05e12), 0).verdict, Verdict::improved);
    EXPECT_EQ(judged(steady("bytes_per_joule", 6e9, 5.7e9), 1).verdict, Verdict::regressed);
    // More power for less time may be good: whoever gates it wants to know of either.
    EXPECT_EQ(judged(steady("power", 400, 420), 1).verdict, Verdict::regressed);
    EXPECT_EQ(judged(steady("power", 400, 380), 1).verdict, Verdict::regressed);
    EXPECT_EQ(judged(steady("power", 400, 400), 0).verdict, Verdict::pass);
}

TEST(EnergyGate, WhatWasNotCollectedIsNoPass) {
    Pair pair = steady("energy", 0.4, 0.4);
    pair.now().metrics.erase("energy");
    pair.now().not_collected = {{"energy", "this NVML has no energy counter"}};
    const MetricVerdict verdict = judged(pair, 3);
    EXPECT_EQ(verdict.verdict, Verdict::not_collected);
    EXPECT_TRUE(says(verdict.sentence, "no energy counter")) << verdict.sentence;
}

TEST(EnergyGate, WithTheResetIsNotComparedWithout) {
    Pair pair = steady("energy", 0.4, 0.42);
    pair.now().metrics["energy"].method = std::string(loop) + "/reset";
    EXPECT_EQ(judged(pair, 3).verdict, Verdict::invalid);
}

TEST(EnergyGate, OfUnchangedCodeItIsInconclusive) {
    Pair pair = steady("energy", 0.4, 0.42);
    add_code(pair);
    const MetricVerdict verdict = judged(pair, 0);
    EXPECT_EQ(verdict.verdict, Verdict::inconclusive);
    EXPECT_EQ(verdict.doubt, model::Doubt::nothing_changed);
    pair.now().kernels[0].code = "c0de-other";
    EXPECT_EQ(judged(pair, 1).verdict, Verdict::regressed);
}

/// As a time it would be explained by the clock, or be suspected to be hidden by it.
TEST(EnergyGate, IsNoTimeThatAClockExplains) {
    const auto at_clocks = [](Pair pair, double before_mhz, double now_mhz) {
        for (auto& batch : pair.then().metrics["energy"].batches) batch.sm_clock_mhz = before_mhz;
        for (auto& batch : pair.now().metrics["energy"].batches) batch.sm_clock_mhz = now_mhz;
        pair.run.metric_definitions["cycles"] = metrics::find_metric("cycles")->definition;
        pair.now().metrics["cycles"] = processes(1000, 0, 1, "count");
        pair.then().metrics["cycles"] = processes(1000, 0, 1, "count");
        return pair;
    };
    const Pair worse = at_clocks(steady("energy", 0.4, 0.44), 1980, 1780);
    EXPECT_EQ(judged(worse, 1).verdict, Verdict::regressed);
    Pair same = at_clocks(steady("energy", 0.4, 0.4), 1780, 1980);
    same.now().metrics["cycles"] = processes(1120, 0, 1, "count");
    EXPECT_EQ(judged(same, 0).verdict, Verdict::pass);
}

TEST(EnergyGate, IsProved) {
    const auto known = [](std::string_view metric) -> std::optional<model::Direction> {
        return metrics::find_metric(metric)->definition.direction;
    };
    for (const char* metric : {"energy", "power", "efficiency", "bytes_per_joule"}) {
        const Pair pair = steady(metric, 2, 2);
        const Proof proof = prove(pair.run, documents::stored(pair.baseline), {}, known);
        EXPECT_EQ(proof.gates, 1U) << metric;
        EXPECT_TRUE(proof.problems.empty()) << metric << ": " << proof.problems.front();
    }
}

TEST(SubmissionGate, ASlowerOneFailsWhateverTheDeviceCodeIs) {
    Pair pair = steady("submit_time", 5000, 5500);
    EXPECT_EQ(judged(pair, 1).verdict, Verdict::regressed);
    add_code(pair);
    pair.now().host_code = "other";
    EXPECT_EQ(judged(pair, 1).verdict, Verdict::regressed);
    EXPECT_EQ(judged(steady("submit_time", 5000, 5000), 0).verdict, Verdict::pass);
}

TEST(FootprintGate, CountsToTheDigit) {
    for (const auto& [metric, before, worse] : {std::tuple{"api_calls", 3.0, 4.0},
                                                {"memory_peak", 2097152.0, 4194304.0},
                                                {"leak", 0.0, 2097152.0}}) {
        EXPECT_EQ(judged(counted(metric, before, worse), 1).verdict, Verdict::regressed) << metric;
        EXPECT_EQ(judged(counted(metric, before, before), 0).verdict, Verdict::pass) << metric;
        EXPECT_EQ(judged(counted(metric, worse, before), 0).verdict, Verdict::improved) << metric;
    }
}

}  // namespace gate_energy_test
}  // namespace perfgate::gate

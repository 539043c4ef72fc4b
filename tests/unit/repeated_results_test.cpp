// SPDX-License-Identifier: Apache-2.0
#include "gate/invalid.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gate/series.hpp"
#include "unit/gate_pair.hpp"
#include "unit/golden_sentence.hpp"

namespace perfgate::gate {
namespace {

using namespace pairs;

model::MetricSeries reported(std::size_t processes, const std::vector<double>& samples) {
    model::MetricSeries series;
    series.unit = "ns";
    series.method = "json";
    series.value = samples.front();
    for (std::size_t i = 0; i < processes; ++i) {
        series.batches.push_back({static_cast<std::int64_t>(i), "board-a", 1, samples});
    }
    return series;
}

bool repeats(std::size_t processes, const std::vector<double>& samples) {
    return !repeated_results(reported(processes, samples)).empty();
}

TEST(RepeatedResults, TimesOfThreeProcessesAreNeverTheSame) {
    const std::vector<double> stored{1023456, 1031245.25, 1019870.5, 1027713};
    expect_sentence(repeated_results(reported(5, stored)));
    EXPECT_TRUE(repeats(3, stored));
    EXPECT_TRUE(repeats(3, {1023456, 1031245}));
    EXPECT_FALSE(repeats(2, stored));
    model::MetricSeries measured = reported(5, stored);
    measured.batches[3].samples[1] += 1;
    EXPECT_EQ(repeated_results(measured), "");
}

TEST(RepeatedResults, TwoProcessesWithManySamplesAlikeAreEnough) {
    const std::vector<double> ten{10011542, 10086640, 10063629, 10002198, 10051409,
                                  10002369, 10029554, 10098235, 10091919, 10028730};
    EXPECT_TRUE(repeats(2, ten));
    // Two of three are of another run than the third.
    model::MetricSeries some = reported(3, ten);
    some.batches[0].samples[0] += 1000;
    expect_sentence(repeated_results(some));
    some.batches[1].samples[1] += 1000;
    EXPECT_EQ(repeated_results(some), "");
    // Few steps of a clock, whatever their number and order.
    std::vector<double> coarse(100, 5120);
    for (std::size_t i = 60; i < coarse.size(); ++i) coarse[i] = 5152;
    EXPECT_FALSE(repeats(2, coarse));
    EXPECT_FALSE(repeats(2, {1.02e9, 1.03e9, 1.01e9, 1.04e9, 1.05e9, 1.06e9, 1.07e9, 1.08e9}));
    EXPECT_FALSE(repeats(2, std::vector<double>(10, 10011542)));
}

TEST(RepeatedResults, ACoarseClockMayRepeatThem) {
    EXPECT_FALSE(repeats(20, {1000}));
    EXPECT_FALSE(repeats(20, {1000, 1000, 1000}));
    EXPECT_FALSE(repeats(20, {2048, 2048, 2048})) << "64 ticks of 32 ns";
    EXPECT_FALSE(repeats(20, {2048.0001, 2048.0001})) << "also as float32";
    EXPECT_FALSE(repeats(20, {1.02e9, 1.02e9})) << "two digits of a second";
    EXPECT_FALSE(repeats(20, {0, 0}));
    // Steps of 32 ns, as a GPU's clock has them, also as float32.
    EXPECT_FALSE(repeats(3, {5120, 5152}));
    EXPECT_FALSE(repeats(3, {5120, 5120, 5152, 5120, 5120}));
    EXPECT_FALSE(repeats(3, {5120.00011, 5152.00011, 5088.00007}));
    // Two digits of a second.
    EXPECT_FALSE(repeats(3, {1.02e9, 1.03e9, 1.01e9}));
    EXPECT_FALSE(repeats(20, {0, 1023456}));
    // In the end even these are no coincidence.
    EXPECT_TRUE(repeats(20, {5120, 5152}));
}

TEST(RepeatedResults, OneValueOfManyDigitsInEverySampleIsNoMeasurement) {
    EXPECT_TRUE(repeats(3, {1023456, 1023456, 1023456, 1023456}));
    EXPECT_TRUE(repeats(3, {1023456.25, 1023456.25}));
    EXPECT_FALSE(repeats(2, {1023456, 1023456, 1023456, 1023456}));
    // One sample a process: the same may come again twice, not four times.
    EXPECT_FALSE(repeats(3, {1023456}));
    EXPECT_TRUE(repeats(5, {1023456}));
    EXPECT_FALSE(repeats(20, {1020000}));
}

TEST(RepeatedResults, MakeABenchmarksTimeInvalidInTheRunAndInItsBase) {
    const std::vector<double> stored{1023456, 1031245.25, 1019870.5, 1027713};
    std::vector<double> other = stored;
    other[0] += 1;
    const auto judged = [&](std::size_t repeated_now, std::size_t repeated_then, double tolerance,
                            const char* instance) {
        Pair pair;
        pair.now().command = {"bench"};
        pair.now().instance = instance;
        pair.now().gates = {{"gpu_time", {tolerance, std::nullopt, 0}, 0}};
        for (auto* metrics : {&pair.now().metrics, &pair.then().metrics}) {
            model::MetricSeries& series = (*metrics)["gpu_time"] = reported(8, stored);
            const bool now = metrics == &pair.now().metrics;
            if ((now ? repeated_now : repeated_then) == 0) series.batches[2].samples = other;
        }
        return only_case(pair.judged());
    };
    EXPECT_EQ(judged(0, 0, 0.03, "iteration").verdict, model::Verdict::pass);
    const model::CaseVerdict head = judged(1, 0, 0.03, "iteration");
    EXPECT_EQ(head.verdict, model::Verdict::invalid);
    EXPECT_TRUE(says(head.reason, "gpu_time is invalid: measured 1.02")) << head.reason;
    const model::CaseVerdict base = judged(0, 1, 0.03, "iteration");
    EXPECT_EQ(base.verdict, model::Verdict::invalid);
    EXPECT_TRUE(says(base.reason, "but in the baseline, each of 8 processes")) << base.reason;
    // What was recorded, and what is to be the same.
    EXPECT_EQ(judged(1, 1, 0.03, "launch").verdict, model::Verdict::pass);
    EXPECT_EQ(judged(1, 1, 0, "iteration").verdict, model::Verdict::pass);
}

model::MetricSeries stored_means(const model::MetricSeries& measured) {
    model::MetricSeries stored = measured;
    for (model::Batch& batch : stored.batches) batch.samples = {batch_value(batch)};
    return stored;
}

/// Of this many processes, each a little slower than the one before.
model::MetricSeries rising(std::size_t processes, const std::vector<double>& samples) {
    model::MetricSeries series = reported(processes, samples);
    for (std::size_t i = 0; i < processes; ++i) {
        for (double& sample : series.batches[i].samples) {
            sample *= 1 + 0.0001 * static_cast<double>(i);
        }
    }
    return series;
}

TEST(RepeatedBaseline, TheTimesOfAnotherMeasurementAreNotTheSame) {
    const std::vector<double> samples{1023456, 1031245.25, 1019870.5, 1027713};
    const model::MetricSeries measured = rising(5, samples);
    EXPECT_TRUE(says(repeated_baseline(measured, measured), "each of 5 processes reported times"));
    EXPECT_NE(repeated_baseline(stored_means(measured), measured), "");
    EXPECT_NE(repeated_baseline(rising(9, samples), rising(9, samples)), "");
    EXPECT_NE(repeated_baseline(rising(9, samples), measured), "") << "some of them";
    EXPECT_NE(repeated_baseline(rising(1, samples), rising(1, samples)), "");
    model::MetricSeries other = measured;
    std::reverse(other.batches.begin(), other.batches.end());
    EXPECT_NE(repeated_baseline(measured, other), "") << "in another order";
    other.batches[3].samples[1] += 10;
    EXPECT_EQ(repeated_baseline(measured, other), "") << "one is new";
    EXPECT_EQ(repeated_baseline(rising(4, samples), measured), "") << "one process more";
    EXPECT_EQ(repeated_baseline(stored_means(measured), other), "");
    EXPECT_EQ(repeated_baseline({}, measured), "");
    EXPECT_EQ(repeated_baseline(measured, {}), "");
}

TEST(RepeatedBaseline, ChanceExplainsFewDigitsAndFewProcesses) {
    const auto repeats_itself = [](const model::MetricSeries& measured) {
        return !repeated_baseline(stored_means(measured), measured).empty();
    };
    EXPECT_FALSE(repeats_itself(rising(1, {1023456})));
    EXPECT_TRUE(repeats_itself(rising(9, {1023456})));
    EXPECT_FALSE(repeats_itself(reported(9, {1020000})));
    EXPECT_FALSE(repeats_itself(reported(20, {2048.0001, 2048.0001})));
    EXPECT_FALSE(repeats_itself(reported(9, {0, 1023456})));
    // One of twenty samples is a tick of the GPU's clock longer, in every process.
    std::vector<double> ticks(20, 5120);
    ticks[7] += 32;
    EXPECT_FALSE(repeats_itself(reported(9, ticks)));
    EXPECT_EQ(repeated_baseline(reported(2, ticks), reported(2, ticks)), "");
}

TEST(RepeatedBaseline, MakesStoredResultsInvalidUnlessTheyAreExactOrTheBaselineIsOfThem) {
    const auto judged = [](const char* backend, double tolerance, const char* began) {
        Pair pair;
        pair.run.backend = backend;
        pair.run.started_at = began;
        pair.now().gates = {{"gpu_time", {tolerance, std::nullopt, 0}, 0}};
        pair.now().metrics["gpu_time"] = pair.then().metrics["gpu_time"] = rising(9, {1023456});
        pair.then().provenance.recorded_at = "2026-11-20T10:00:00Z";
        return only_case(pair.judged()).verdict;
    };
    const char* later = "2026-11-21T10:00:00Z";
    EXPECT_EQ(judged("imported", 0.03, later), model::Verdict::invalid);
    EXPECT_EQ(judged("imported", 0, later), model::Verdict::pass);
    EXPECT_EQ(judged("imported", 0.03, "2026-11-20T10:00:00Z"), model::Verdict::pass);
    EXPECT_EQ(judged("cuda", 0.03, later), model::Verdict::pass);
}

/// A benchmark's value without a unit, with a tolerance of 5 %.
Pair gated_without_unit(const std::string& name, model::Direction better) {
    Pair pair;
    pair.now().command = {"bench"};
    pair.now().instance = "iteration";
    pair.now().gates = {{name, {0.05, std::nullopt, 0}, 0}};
    model::MetricDefinition& metric = pair.run.metric_definitions[name];
    metric.name = name;
    metric.unit = "count";
    metric.direction = better;
    metric.metric_class = model::MetricClass::exact;
    return pair;
}

TEST(RepeatedResults, AValueWithoutAUnitIsMeasuredIfTheBaselinesProcessesDiffer) {
    const auto judged = [&](bool differs_then) {
        Pair pair = gated_without_unit("rate", model::Direction::higher);
        const std::vector<double> stored{1023456, 1031245.25, 1019870.5, 1027713};
        for (auto* metrics : {&pair.now().metrics, &pair.then().metrics}) {
            model::MetricSeries& series = (*metrics)["rate"] = reported(8, stored);
            series.unit = "count";
            for (std::size_t i = 0; i < 8 && metrics == &pair.then().metrics && differs_then; ++i) {
                series.batches[i].samples = {1023456.0 + static_cast<double>(i)};
            }
        }
        return metric(only_case(pair.judged()), "rate");
    };
    EXPECT_EQ(judged(true).verdict, model::Verdict::invalid);
    EXPECT_EQ(judged(false).verdict, model::Verdict::pass) << "counted";
}

TEST(RepeatedResults, AMeasuredValueWithoutAUnitCanBeTooGood) {
    const auto judged = [&](double step) {
        Pair pair = gated_without_unit("latency", model::Direction::lower);
        for (auto* metrics : {&pair.now().metrics, &pair.then().metrics}) {
            model::MetricSeries& series = (*metrics)["latency"] = reported(8, {1000});
            series.unit = "count";
            for (std::size_t i = 0; i < 8; ++i) {
                const double value = 1000 + step * static_cast<double>(i);
                const bool now = metrics == &pair.now().metrics;
                series.batches[i].samples = {now ? value / 1000 : value};
            }
        }
        return metric(only_case(pair.judged()), "latency");
    };
    EXPECT_EQ(judged(1).doubt, model::Doubt::too_good);
    EXPECT_EQ(judged(0).verdict, model::Verdict::improved) << "a count may fall to nothing";
}

}  // namespace
}  // namespace perfgate::gate

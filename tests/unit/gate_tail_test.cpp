// SPDX-License-Identifier: Apache-2.0
// The slow end of a time's samples, and processes that are slow as a whole: neither is in the
// time's value.
#include "gate/tail.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "baseline/pooling.hpp"
#include "gate/batch_rule.hpp"
#include "unit/gate_pair.hpp"

namespace perfgate::gate::pairs {
namespace gate_tail_test {

using model::Doubt;

/// How a process's samples end.
struct End {
    std::size_t slow = 0;
    double factor = 1;
};

/// Processes of so many samples, of which these are slower.
model::MetricSeries sampled(std::size_t processes, std::size_t samples, End end = {},
                            std::int64_t round = 0) {
    model::MetricSeries result = series({}, "ns", "m");
    result.batches.clear();
    for (std::size_t p = 0; p < processes; ++p) {
        model::Batch& batch = result.batches.emplace_back();
        batch = {static_cast<std::int64_t>(p), "board-a", 1, {}};
        batch.round = round;
        for (std::size_t i = 0; i < samples; ++i) {
            const double usual = 100'000 + 10 * static_cast<double>((7 * i + 3 * p) % 11);
            batch.samples.push_back(usual * (i < end.slow ? end.factor : 1));
        }
    }
    result.value = 100'050;
    return result;
}

Pair of_samples(const model::MetricSeries& then, const model::MetricSeries& now) {
    Pair pair;
    pair.then().metrics["gpu_time"] = then;
    pair.now().metrics["gpu_time"] = now;
    return pair;
}

MetricVerdict time_of(const Pair& pair, const Policy& policy = {}) {
    return metric(only_case(judge(pair.run, stored(pair.baseline), policy, BatchRule(policy))),
                  "gpu_time");
}

int exit_of(const Pair& pair, bool not_shown_fails) {
    Policy policy;
    policy.not_shown_fails = not_shown_fails;
    return judge(pair.run, stored(pair.baseline), policy, BatchRule(policy)).exit_code;
}

void run_the_same_code(Pair& pair) {
    model::Kernel kernel;
    kernel.name = "tiled";
    kernel.code = "c0de";
    kernel.arguments = "a1";
    pair.now().kernels = pair.then().kernels = {kernel};
    pair.now().host_code = pair.then().host_code = "0057";
    pair.now().libraries = pair.then().libraries = model::Libraries{{"libhelper.so", "11b"}};
    ASSERT_EQ(only_case(judge(pair.run, stored(pair.baseline), {}, BatchRule({}))).code,
              model::CodeChange::unchanged);
}

bool is_flagged(const Pair& pair) {
    return !flagged(pair.run, stored(pair.baseline), {}, BatchRule({})).empty();
}

TEST(Tail, TwoOfTwentyInstancesTenTimesSlowerAreFound) {
    const Pair pair = of_samples(sampled(20, 20), sampled(5, 20, {2, 10}));
    const MetricVerdict found = time_of(pair);
    EXPECT_EQ(found.verdict, Verdict::inconclusive);
    EXPECT_EQ(found.doubt, Doubt::slow_tail);
    EXPECT_NEAR(found.change.value(), 0, 0.001) << "the time leaves them out";
    ASSERT_TRUE(found.tail);
    EXPECT_NEAR(found.tail->measured / found.tail->baseline, 10, 0.01);
    EXPECT_DOUBLE_EQ(found.tail->tolerance, 0.06) << "twice the time's";
    EXPECT_DOUBLE_EQ(found.tail->beyond, 0.1);
    EXPECT_FALSE(found.tail->max);
    EXPECT_TRUE(says(found.sentence, "slowest tenth 100.1 µs → 1.000 ms")) << found.sentence;
    EXPECT_EQ(exit_of(pair, true), 4);
    EXPECT_EQ(exit_of(pair, false), 0);
    EXPECT_FALSE(is_flagged(pair)) << "the first look decides";
}

TEST(Tail, OneRankOfTwelveIsFoundAgainstAStoredBaseline) {
    Pair pair = of_samples(baseline::condensed(sampled(20, 12)), sampled(3, 12, {1, 2}));
    EXPECT_EQ(pair.then().metrics["gpu_time"].batches.at(0).samples.size(), 1U);
    EXPECT_EQ(time_of(pair).doubt, Doubt::slow_tail);
    EXPECT_EQ(exit_of(pair, true), 4);
    pair.now().metrics["gpu_time"] = sampled(3, 12);
    EXPECT_EQ(time_of(pair).verdict, Verdict::pass);
    EXPECT_TRUE(time_of(pair).tail);
    EXPECT_EQ(exit_of(pair, true), 0);
    EXPECT_FALSE(says(time_of(pair).sentence, "slowest")) << "nothing to say";
}

TEST(Tail, TheMeanHardlyDependsOnHowManySamplesThereAre) {
    for (const std::size_t samples : {10, 12, 19, 20, 35}) {
        model::Batch batch;
        for (std::size_t i = 1; i <= samples; ++i) {
            batch.samples.push_back(static_cast<double>(i) / static_cast<double>(samples));
        }
        EXPECT_NEAR(tail_of(batch).value().slowest_tenth, 0.97, 0.04) << samples;
    }
    model::Batch batch{0, "b", 1, std::vector<double>(15, 1)};
    batch.samples[4] = 4;
    EXPECT_DOUBLE_EQ(tail_of(batch).value().slowest_tenth, 3) << "one and a half of 15";
    batch.samples.resize(9);
    EXPECT_FALSE(tail_of(batch)) << "a mean of nine trims none";
    batch.tail = {5, 6};
    EXPECT_EQ(tail_of(batch).value().p99, 6) << "a stored one";
}

TEST(Tail, ATailThatIsDecidedNeedsNoFurtherProcesses) {
    // So many slow samples that each process's trimmed mean has some, and is slow itself.
    const Pair pair = of_samples(sampled(20, 20), sampled(5, 20, {3, 3}));
    EXPECT_NE(time_of(pair).verdict, Verdict::pass);
    model::MetricSeries mixed = sampled(5, 20, {2, 10});
    mixed.batches[0] = sampled(1, 20, {3, 10}).batches[0];
    const Pair both = of_samples(sampled(20, 20), mixed);
    EXPECT_EQ(time_of(both).doubt, Doubt::slow_tail);
    EXPECT_FALSE(is_flagged(both));
}

TEST(Tail, FewSamplesHaveNone) {
    EXPECT_FALSE(slowest_tenths(sampled(2, 14)));
    EXPECT_TRUE(slowest_tenths(sampled(3, 10)));
    EXPECT_FALSE(slowest_tenths(sampled(20, 9)));
    EXPECT_TRUE(slowest_tenths(sampled(1, 30)));
    EXPECT_FALSE(time_of(of_samples(sampled(20, 20), sampled(20, 5))).tail);
    EXPECT_FALSE(time_of(of_samples(sampled(20, 5), sampled(20, 20))).tail) << "an older baseline";
}

TEST(Tail, OneThatTheBaselineHasNoneForIsJudgedByTheMeanOfAllSamples) {
    for (const auto& then : {sampled(14, 9), baseline::condensed(sampled(14, 9))}) {
        const Pair pair = of_samples(then, sampled(14, 10, {1, 1000}));
        const MetricVerdict found = time_of(pair);
        EXPECT_EQ(found.doubt, Doubt::slow_tail);
        EXPECT_FALSE(found.tail);
        EXPECT_TRUE(says(found.sentence, "mean of all samples 100.0 µs → 10.09 ms"))
            << found.sentence;
        EXPECT_EQ(exit_of(pair, true), 4);
        EXPECT_EQ(time_of(of_samples(then, sampled(14, 10))).verdict, Verdict::pass);
        EXPECT_EQ(time_of(of_samples(then, sampled(14, 10, {1, 1.5}))).verdict, Verdict::pass)
            << "5 % of 6 %";
    }
}

TEST(Tail, ProcessesWithFewerSamplesHaveNoPartInIt) {
    model::MetricSeries then = sampled(8, 20);
    then.batches.push_back(sampled(1, 9).batches[0]);
    for (const auto& baseline : {then, baseline::condensed(then)}) {
        EXPECT_EQ(time_of(of_samples(baseline, sampled(9, 20))).verdict, Verdict::pass);
        EXPECT_EQ(time_of(of_samples(baseline, sampled(9, 20, {2, 10}))).doubt, Doubt::slow_tail);
    }
}

TEST(Tail, ARateHasNone) {
    Pair pair = of_samples(sampled(20, 20), sampled(5, 20, {2, 10}));
    pair.run.metric_definitions.at("gpu_time").direction = model::Direction::higher;
    EXPECT_FALSE(time_of(pair).tail);
}

TEST(Tail, ASuiteSetsItsToleranceAndItsSeverity) {
    Pair pair = of_samples(sampled(20, 20), sampled(5, 20, {2, 1.05}));
    EXPECT_EQ(time_of(pair).verdict, Verdict::pass) << "5 % of 6 %";
    pair.now().gates[0].tolerance.tail = 0.04;
    EXPECT_EQ(time_of(pair).doubt, Doubt::slow_tail);
    pair.now().metrics["gpu_time"] = sampled(5, 20, {2, 10});
    pair.now().gates[0].tolerance.tail = 10;
    EXPECT_EQ(time_of(pair).verdict, Verdict::pass);
    pair.now().gates[0].tolerance.tail.reset();
    pair.now().gates[0].tolerance.severity = model::Severity::warn;
    EXPECT_EQ(exit_of(pair, true), 0);
    EXPECT_EQ(time_of(pair).doubt, Doubt::slow_tail) << "it still says so";
}

TEST(Tail, WithFewProcessesItIsMeasuredAgainBeforeItIsBelieved) {
    Pair pair = of_samples(sampled(6, 20), sampled(3, 20, {2, 1.5}));
    EXPECT_TRUE(is_flagged(pair));
    for (const model::Batch& batch : sampled(8, 20, {}, 1).batches) {
        pair.now().metrics["gpu_time"].batches.push_back(batch);
    }
    EXPECT_EQ(time_of(pair).verdict, Verdict::pass) << "fresh processes decide";
    EXPECT_FALSE(is_flagged(pair));
}

TEST(Tail, FiveHundredSamplesAreDescribedByTheirQuantiles) {
    const MetricVerdict found = time_of(of_samples(sampled(20, 100), sampled(5, 100, {1, 3})));
    ASSERT_TRUE(found.tail);
    EXPECT_LT(found.tail->p95.value(), found.tail->p99.value());
    EXPECT_GT(found.tail->max.value(), 2.9e5);
    EXPECT_DOUBLE_EQ(found.tail->beyond, 0.01);
    EXPECT_TRUE(says(found.sentence, ", p95 100.1 µs, p99 ")) << found.sentence;
    EXPECT_FALSE(time_of(of_samples(sampled(20, 100), sampled(4, 124))).tail->max);
}

TEST(Tail, OfUnchangedCodeIsListedAndNoFailure) {
    Pair pair = of_samples(sampled(20, 20), sampled(5, 20, {2, 10}));
    run_the_same_code(pair);
    EXPECT_EQ(time_of(pair).doubt, Doubt::nothing_changed);
    EXPECT_EQ(exit_of(pair, true), 0);
}

// ---- slow processes

/// Processes of one value, of which some are twice as slow.
model::MetricSeries with_slow(std::size_t processes, std::size_t slow, std::int64_t round = 0) {
    model::MetricSeries result = pairs::processes(100'000, 0.01, processes);
    for (std::size_t i = 0; i < processes; ++i) {
        result.batches[i].round = round;
        if (i < slow) result.batches[i].samples[0] *= 2;
    }
    return result;
}

void add_round(Pair& pair, const model::MetricSeries& more) {
    std::vector<model::Batch>& batches = pair.now().metrics["gpu_time"].batches;
    batches.insert(batches.end(), more.batches.begin(), more.batches.end());
}

TEST(SlowProcesses, ARunWithOneIsNotShown) {
    Pair pair = of_samples(with_slow(20, 0), with_slow(5, 1));
    EXPECT_EQ(time_of(pair).verdict, Verdict::inconclusive);
    EXPECT_EQ(time_of(pair).doubt, Doubt::slow_processes);
    EXPECT_NEAR(time_of(pair).change.value(), 0, 0.01) << "the mean leaves it out";
    EXPECT_TRUE(says(time_of(pair).sentence, "1 of 5 processes is slower than each"))
        << time_of(pair).sentence;
    EXPECT_EQ(exit_of(pair, true), 4);
    EXPECT_EQ(exit_of(pair, false), 0);
    EXPECT_TRUE(is_flagged(pair));

    add_round(pair, with_slow(8, 0, 1));
    EXPECT_EQ(time_of(pair).doubt, Doubt::slow_processes) << "it was in this run";
    EXPECT_TRUE(says(time_of(pair).sentence, "1 of 13")) << time_of(pair).sentence;
    EXPECT_EQ(exit_of(pair, true), 4);
    EXPECT_FALSE(is_flagged(pair)) << "fresh ones do not show it again";
}

TEST(SlowProcesses, FreshOnesDecideByPrecedence) {
    Pair pair = of_samples(with_slow(400, 0), with_slow(5, 1));
    add_round(pair, with_slow(8, 1, 1));
    EXPECT_EQ(time_of(pair).doubt, Doubt::slow_processes);
    EXPECT_TRUE(is_flagged(pair)) << "five of forty would decide";
    add_round(pair, with_slow(32, 5, 2));
    const MetricVerdict found = time_of(pair);
    EXPECT_EQ(found.verdict, Verdict::regressed) << "6 of 40 after 400 without one";
    EXPECT_NEAR(found.change.value(), 0, 0.01) << "the mean leaves them out";
    EXPECT_TRUE(says(found.sentence, "7 of 45 processes are slower")) << found.sentence;
    EXPECT_EQ(exit_of(pair, false), 1);
}

TEST(SlowProcesses, ABaselineTooSmallToDecideCostsNoFurtherRound) {
    Pair pair = of_samples(with_slow(20, 0), with_slow(5, 1));
    add_round(pair, with_slow(8, 1, 1));
    EXPECT_EQ(time_of(pair).doubt, Doubt::slow_processes);
    EXPECT_FALSE(is_flagged(pair));
}

TEST(SlowProcesses, TheFirstLookDoesNotConfirmThem) {
    const Pair pair = of_samples(with_slow(200, 0), with_slow(30, 6));
    EXPECT_EQ(time_of(pair).verdict, Verdict::regressed);
    EXPECT_TRUE(is_flagged(pair));
}

TEST(SlowProcesses, ABaselineThatHasOneKnowsTheMode) {
    const Pair pair = of_samples(with_slow(20, 1), with_slow(5, 1));
    EXPECT_EQ(time_of(pair).verdict, Verdict::pass);
    EXPECT_EQ(exit_of(pair, true), 0);
}

TEST(SlowProcesses, WithinTheToleranceOfTheSlowestIsNoMode) {
    Pair pair = of_samples(with_slow(20, 0), with_slow(5, 0));
    pair.now().metrics["gpu_time"].batches[0].samples[0] = 103'400;
    EXPECT_EQ(time_of(pair).verdict, Verdict::pass);
    pair.now().metrics["gpu_time"].batches[0].samples[0] = 103'600;
    EXPECT_EQ(time_of(pair).doubt, Doubt::slow_processes);
}

TEST(SlowProcesses, AreTheLowOnesOfARateAndEitherWithoutADirection) {
    for (const auto& [direction, factor, verdict] :
         {std::tuple(model::Direction::higher, 2.0, Verdict::pass),
          std::tuple(model::Direction::higher, 0.5, Verdict::inconclusive),
          std::tuple(model::Direction::none, 2.0, Verdict::inconclusive),
          std::tuple(model::Direction::none, 0.5, Verdict::inconclusive),
          std::tuple(model::Direction::lower, 0.5, Verdict::pass)}) {
        Pair pair = of_samples(with_slow(20, 0), with_slow(5, 0));
        pair.run.metric_definitions.at("gpu_time").direction = direction;
        pair.now().metrics["gpu_time"].batches[0].samples[0] *= factor;
        EXPECT_EQ(time_of(pair).verdict, verdict) << to_text(direction) << " " << factor;
    }
}

TEST(SlowProcesses, OfFourInTwentyTheTrimmedMeanSeesNothing) {
    const Pair pair = of_samples(with_slow(20, 0), with_slow(20, 4));
    EXPECT_NEAR(time_of(pair).change.value(), 0, 0.01);
    EXPECT_EQ(exit_of(pair, true), 4);
}

TEST(SlowProcesses, OfUnchangedCodeAreNoNews) {
    Pair pair = of_samples(with_slow(20, 0), with_slow(5, 1));
    run_the_same_code(pair);
    EXPECT_EQ(time_of(pair).verdict, Verdict::pass);
    EXPECT_FALSE(is_flagged(pair)) << "its code shows it";
}

TEST(SlowProcesses, OneThatWasDisturbedAndExcludedIsNone) {
    Pair pair = of_samples(with_slow(20, 0), with_slow(6, 1));
    pair.now().metrics["gpu_time"].batches[0].excluded = "power brake";
    EXPECT_EQ(time_of(pair).verdict, Verdict::pass);
}

}  // namespace gate_tail_test
}  // namespace perfgate::gate::pairs

// SPDX-License-Identifier: Apache-2.0
// What a step decides of simulated processes, and whole searches of simulated histories.
#include "bisect/decision.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "unit/simulated.hpp"

namespace perfgate::bisect {
namespace bisect_decision_test {

using simulated::Random;
using Values = std::vector<double>;

constexpr double usual_level = 0.001;

model::MetricDefinition metric(model::MetricClass metric_class = model::MetricClass::timing,
                               model::Direction direction = model::Direction::lower) {
    model::MetricDefinition definition;
    definition.name = "m";
    definition.unit = "ns";
    definition.metric_class = metric_class;
    definition.direction = direction;
    return definition;
}

model::MetricSeries series_of(const Values& values) {
    model::MetricSeries series{"ns", values.front(), "wall", {}};
    for (const double value : values) {
        series.batches.push_back(
            {static_cast<std::int64_t>(series.batches.size()), "b", 1, {value}});
    }
    return series;
}

Decision decided(const Target& target, const Values& good, const Values& commit,
                 const model::MetricDefinition& definition = metric()) {
    return decide(definition, target, series_of(good), series_of(commit), usual_level).decision;
}

const Target to_1050{"s", "c", "m", "ns", 1000, 1050, 0};

/// Processes of a commit, a share of which is `flaky` times as slow, beside those of GOOD. A drift
/// of 10 % in all affects both of a pair.
struct Machine {
    Random random;
    double spread = 0.02;

    explicit Machine(std::uint64_t seed) : random(seed) {}

    void measure(double good_ns, double commit_ns, double flaky, std::size_t pairs, Values& good,
                 Values& commit) {
        for (std::size_t i = 0; i < pairs; ++i) {
            const double drift = 1 + 0.001 * static_cast<double>(good.size() % 100);
            good.push_back(good_ns * drift * (1 + spread * random.normal()));
            const double factor = flaky > 0 && random.uniform() < 0.5 ? flaky : 1;
            commit.push_back(commit_ns * drift * factor * (1 + spread * random.normal()));
        }
    }

    Decision step(double commit_ns, double flaky = 0) {
        Values good, commit;
        std::size_t pairs = first_pairs(usual_level);
        for (std::size_t look = 0; look < looks; ++look) {
            measure(1000, commit_ns, flaky, pairs, good, commit);
            const Decision decision = decided(to_1050, good, commit);
            if (decision != Decision::undecided) return decision;
            pairs = 2 * good.size() / (look + 1);
        }
        return Decision::undecided;
    }
};

TEST(BisectDecision, EqualValuesOnEitherSideOfTheBoundaryDecide) {
    const Values good(13, 1000);
    EXPECT_EQ(decided(to_1050, good, Values(13, 1050)), Decision::slower);
    EXPECT_EQ(decided(to_1050, good, Values(13, 1000)), Decision::not_slower);
    EXPECT_EQ(decided(to_1050, good, Values(13, 1030)), Decision::slower) << "nearer to BAD";
    EXPECT_EQ(decided(to_1050, good, Values(13, 1020)), Decision::not_slower);
}

TEST(BisectDecision, ACommitFarBeyondBadIsUndecidedAtOnce) {
    const Values good(13, 1000), far(13, 2000);
    const Decided found = decide(metric(), to_1050, series_of(good), series_of(far), usual_level);
    EXPECT_EQ(found.decision, Decision::undecided);
    EXPECT_FALSE(found.why.empty());
    EXPECT_TRUE(found.is_final) << "more pairs would say the same";
    const Decided few = decide(metric(), to_1050, series_of(Values(2, 1000)),
                               series_of(Values(2, 2000)), usual_level);
    EXPECT_FALSE(few.is_final);
    EXPECT_EQ(decided(to_1050, good, Values(13, 1140)), Decision::slower) << "less than 3 x 5 %";
    const auto rate = metric(model::MetricClass::timing, model::Direction::higher);
    const Target fell{"s", "c", "m", "ns", 1000, 900, 0};
    EXPECT_EQ(decided(fell, good, Values(13, 500), rate), Decision::undecided);
    EXPECT_EQ(decided(fell, good, far, rate), Decision::not_slower);
}

TEST(BisectDecision, AFewProcessesDecideNothing) {
    EXPECT_EQ(first_pairs(usual_level), 13U);
    for (const std::size_t pairs : {1U, 2U, 6U}) {
        EXPECT_EQ(decided(to_1050, Values(pairs, 1000), Values(pairs, 2000)), Decision::undecided);
        EXPECT_EQ(decided(to_1050, Values(pairs, 1000), Values(pairs, 1000)), Decision::undecided);
    }
    EXPECT_LT(first_pairs(0.01), 13U);
}

TEST(BisectDecision, WhatLiesOnTheBoundaryIsUndecided) {
    std::size_t wrong = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Machine machine(seed);
        wrong += machine.step(1000 * std::sqrt(1.05)) == Decision::undecided ? 0 : 1;
    }
    EXPECT_LE(wrong, 2U);
}

TEST(BisectDecision, ACommitThatIsSlowInHalfOfItsProcessesIsNotDecided) {
    std::size_t undecided = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        undecided += Machine(seed).step(1000, 2) == Decision::undecided ? 1 : 0;
    }
    EXPECT_GE(undecided, 99U);
}

TEST(BisectDecision, ACommitThatIsSlowInHalfOfItsProcessesAsBadIsCanBeDecided) {
    Machine machine(1);
    Values good, commit;
    machine.measure(1000, 1000, 2, 91, good, commit);
    Target target{"s", "c", "m", "ns", 1000, 1450, spread_of(commit)};
    EXPECT_FALSE(scattered(target, series_of(good), series_of(commit)));
    target.bad_spread = 0;
    EXPECT_TRUE(scattered(target, series_of(good), series_of(commit)));
}

TEST(BisectDecision, ATenthOfTheProcessesDoesNotMatter) {
    Machine machine(2);
    Values good, commit;
    machine.measure(1000, 1000, 0, 39, good, commit);
    for (const std::size_t i : {5U, 17U, 29U}) commit[i] *= 10;
    EXPECT_EQ(decided(to_1050, good, commit), Decision::not_slower);
}

TEST(BisectDecision, AMetricThatFallsIsWorseWhereMoreIsBetter) {
    const auto rate = metric(model::MetricClass::timing, model::Direction::higher);
    const Target fell{"s", "c", "m", "ns", 1000, 900, 0};
    EXPECT_EQ(decided(fell, Values(13, 1000), Values(13, 900), rate), Decision::slower);
    EXPECT_EQ(decided(fell, Values(13, 1000), Values(13, 1000), rate), Decision::not_slower);
}

TEST(BisectDecision, OneValueOfAnExactMetricDecidesAndOneOfACounterDoesNot) {
    const auto exact = metric(model::MetricClass::exact);
    const Target registers{"s", "c", "m", "registers", 64, 96, 0};
    EXPECT_EQ(decided(registers, {64}, {96}, exact), Decision::slower);
    EXPECT_EQ(decided(registers, {64}, {64}, exact), Decision::not_slower);
    const auto counter = metric(model::MetricClass::counter);
    EXPECT_EQ(decided(registers, {64}, {96}, counter), Decision::undecided);
    EXPECT_EQ(decided(registers, {64, 65, 64}, {96, 96, 97}, counter), Decision::slower);
    EXPECT_EQ(decided(registers, {64, 65, 64}, {64, 64, 65}, counter), Decision::not_slower);
}

TEST(BisectDecision, ABaselineOfZeroHasItsBoundaryHalfWay) {
    const auto exact = metric(model::MetricClass::exact);
    const Target spills{"s", "c", "m", "bytes", 0, 64, 0};
    EXPECT_EQ(decided(spills, {0}, {64}, exact), Decision::slower);
    EXPECT_EQ(decided(spills, {0}, {8}, exact), Decision::not_slower);
    EXPECT_EQ(decided(spills, {0}, {0}, exact), Decision::not_slower);
}

/// 24 commits, of which one is broken and one flaky. The change of 5 % is smaller than what two
/// processes of one commit differ by.
Candidates searched(std::uint64_t seed, std::size_t culprit, std::size_t broken,
                    std::size_t flaky) {
    Machine machine(seed);
    std::vector<std::optional<Decision>> decisions(24);
    while (const auto next = next_commit(decisions)) {
        const double time = *next >= culprit ? 1050 : 1000;
        decisions[*next] =
            *next == broken ? Decision::broken : machine.step(time, *next == flaky ? 2 : 0);
    }
    return candidates(decisions);
}

TEST(BisectDecision, SearchesOfNoisyHistoriesFindTheCulprit) {
    std::size_t exact = 0;
    constexpr std::size_t histories = 300;
    for (std::uint64_t seed = 1; seed <= histories; ++seed) {
        Random random(seed);
        const std::size_t culprit = random.below(24);
        const std::size_t broken = random.below(24);
        const std::size_t flaky = random.below(24);
        const Candidates found = searched(seed, culprit, broken, flaky);
        EXPECT_LE(found.first, culprit) << seed;
        EXPECT_GE(found.last, culprit) << seed;
        const auto beside = [&](std::size_t skipped) {
            return skipped == culprit || skipped + 1 == culprit;
        };
        if (!beside(broken) && !beside(flaky)) {
            EXPECT_LE(found.count(), 2U) << seed;
            exact += found.count() == 1 ? 1 : 0;
        } else {
            ++exact;
        }
    }
    EXPECT_GE(exact, histories - 2);
}

}  // namespace bisect_decision_test
}  // namespace perfgate::bisect

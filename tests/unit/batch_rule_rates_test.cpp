// SPDX-License-Identifier: Apache-2.0
// The error rates of the rule and the changes that it claims to detect, by simulation on the shapes
// that measured times have.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "unit/batch_rule_series.hpp"
#include "unit/simulated.hpp"

namespace perfgate::gate {
namespace batch_rule_rates_test {

using namespace batch_rule_series;

using simulated::Random;

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

}  // namespace batch_rule_rates_test
}  // namespace perfgate::gate

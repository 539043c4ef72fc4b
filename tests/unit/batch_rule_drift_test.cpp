// SPDX-License-Identifier: Apache-2.0
// What sessions of a baseline that differ allow, and hide.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "unit/batch_rule_series.hpp"

namespace perfgate::gate {
namespace batch_rule_drift_test {

using namespace batch_rule_series;

TEST(BatchRule, WhatDriftHidesIsWhatOneMoreRunWouldBeOffBy) {
    const model::MetricDefinition metric = definition("x", "ns", MetricClass::timing);
    // Five runs, 5 ns from one to the next: 7.9 ns is their deviation.
    std::vector<double> samples;
    for (int process = 0; process < 20; ++process) {
        samples.push_back(1000 + 5 * (process / 4 - 2) + 0.1 * (process % 4));
    }
    MetricSeries before = processes(samples);
    for (std::size_t i = 0; i < before.batches.size(); ++i) {
        before.batches[i].run = static_cast<std::int64_t>(i / 4);
    }
    const MetricSeries now = processes({1000, 1000.1, 1000.2, 1000.3, 1000.1});
    const Policy policy;
    const std::vector<Comparison> alone{{&metric, &before, &now, {0, std::nullopt, 0}, 0}};
    const double detectable = BatchRule(policy).judge(alone)[0].minimum_detectable_change.value();
    // Student's t with 4 degrees of freedom, at 0.45 of the case's level of 0.1 %, is 8.85. With
    // five runs their variance may be larger by 1 + sqrt(2 / 4): 8.85 * sqrt(1 + 1/5) * 10.3 ns.
    EXPECT_GT(detectable, 0.097);
    EXPECT_LT(detectable, 0.13);

    // Other cases of the suite that did not differ between these runs say that this one is unusual,
    // and those of another suite say nothing.
    MetricSeries steady = before;
    for (std::size_t i = 0; i < steady.batches.size(); ++i) {
        steady.batches[i].samples = {1000 + static_cast<double>(i * 7 % 10)};
    }
    const auto among = [&](std::size_t suite) {
        std::vector<Comparison> comparisons(20, {&metric, &steady, &now, {0, {}, 0}, 0, suite});
        comparisons.push_back(alone[0]);
        return BatchRule(policy).judge(comparisons);
    };
    EXPECT_LT(among(0).front().minimum_detectable_change.value(), 0.05);
    EXPECT_GT(among(0).back().minimum_detectable_change.value(), 0.03);
    EXPECT_GT(among(1).back().minimum_detectable_change.value(), detectable);
}

TEST(BatchRule, FewSessionsThatDifferHideNoMultipleOfATimeOrARate) {
    for (const bool rate : {false, true}) {
        const model::MetricDefinition metric =
            definition("x", rate ? "1/s" : "ns", MetricClass::timing,
                       rate ? Direction::higher : Direction::lower);
        const auto values = [&](double factor, std::size_t count) {
            return spread_around(1e5 * (rate ? 1 / factor : factor), count, 0.05);
        };
        const auto verdict_after = [&](const Values& sessions, double slowdown) {
            MetricSeries before;
            for (std::size_t run = 0; run < sessions.size(); ++run) {
                add_round(before, values(sessions[run], 4), 0);
                for (std::size_t i = 4 * run; i < before.batches.size(); ++i) {
                    before.batches[i].run = static_cast<std::int64_t>(run);
                }
            }
            MetricSeries now = processes(values(slowdown, 5));
            add_round(now, values(slowdown, round_size(1)), 1);
            const std::vector<Comparison> alone{
                {&metric, &before, &now, {0.05, std::nullopt, 0}, 0}};
            return BatchRule(Policy{}).judge(alone)[0].verdict;
        };
        // As in a quiet night, on a busy machine, and where one session was disturbed.
        for (const Values& sessions :
             {Values{1, 1.05}, Values{1, 1.05, 0.95}, Values{1, 1.15, 0.9}}) {
            EXPECT_EQ(verdict_after(sessions, 3), Verdict::regressed) << rate;
            EXPECT_EQ(verdict_after(sessions, 3000), Verdict::regressed) << rate;
            EXPECT_NE(verdict_after(sessions, 1.4), Verdict::regressed) << "a session may be slow";
        }
        EXPECT_EQ(verdict_after({1, 8, 1}, 3000), Verdict::regressed) << rate;
        EXPECT_NE(verdict_after({1, 8, 1}, 8), Verdict::regressed) << rate;
    }
}

TEST(BatchRule, WhatDriftsInOneMetricSaysNothingAboutAnother) {
    const model::MetricDefinition gpu = definition("gpu_time", "ns", MetricClass::timing);
    const model::MetricDefinition span = definition("gpu_span", "ns", MetricClass::timing);
    const auto recorded = [](double drift) {
        std::vector<double> samples;
        for (int process = 0; process < 21; ++process) {
            samples.push_back(1000 + drift * (process / 7 - 1) + 0.1 * (process % 7));
        }
        MetricSeries series = processes(samples);
        for (std::size_t i = 0; i < series.batches.size(); ++i) {
            series.batches[i].run = static_cast<std::int64_t>(i / 7);
        }
        return series;
    };
    const MetricSeries steady = recorded(0);
    const MetricSeries drifting = recorded(50);
    const MetricSeries now = processes({1000, 1000.1, 1000.2, 1000.3, 1000.1});
    const auto detected_with = [&](const model::MetricDefinition& other) {
        std::vector<Comparison> comparisons(8, {&gpu, &steady, &now, {0.01, {}, 0}, 0, 0});
        comparisons.resize(16, {&other, &drifting, &now, {0.25, {}, 0}, 0, 0});
        return BatchRule(Policy{}).judge(comparisons).front().minimum_detectable_change.value();
    };
    EXPECT_LT(detected_with(span), 0.05);
    EXPECT_GT(detected_with(gpu), 0.5) << "or the test shows nothing";
}

TEST(BatchRule, AnIntervalIsWiderByWhatSessionsDifferByAtItsOwnLevel) {
    const model::MetricDefinition metric = definition("x", "ns", MetricClass::timing);
    const MetricSeries before = processes(spread_around(1e5, 20));
    const MetricSeries now = processes(spread_around(1e5, 5));
    const std::vector<Comparison> alone{{&metric, &before, &now, {0.005, std::nullopt, 0}, 0}};
    const stats::Drift drift{0.002, 4, 3};
    const auto steady = BatchRule(Policy{}).judge(alone)[0].interval;
    const auto drifting = BatchRule(Policy{}, 0, {{"x", drift}}).judge(alone)[0].interval;
    ASSERT_TRUE(steady && drifting);
    const double wider = std::expm1(drift.bound((1 - steady->level) / 2));
    EXPECT_GT(wider, 0);
    EXPECT_NEAR(drifting->high - steady->high, wider, 1e-9);
    EXPECT_NEAR(steady->low - drifting->low, wider, 1e-9);
}

TEST(BatchRule, AnIntervalOfFewSessionsIsNoWiderThanTheDriftThatTheVerdictAllows) {
    const MetricSeries before = processes(spread_around(1e5, 20));
    const MetricSeries now = processes(spread_around(1e5, 5));
    for (const bool rate : {false, true}) {
        const model::MetricDefinition metric =
            definition("x", rate ? "1/s" : "ns", MetricClass::timing,
                       rate ? Direction::higher : Direction::lower);
        const std::vector<Comparison> alone{{&metric, &before, &now, {0.005, std::nullopt, 0}, 0}};
        const auto high_with = [&](const stats::Drift& drift) {
            return BatchRule(Policy{}, 0, {{"x", drift}}).judge(alone)[0].interval.value().high;
        };
        const double steady = high_with({});
        // Student's quantile of two sessions allows more than what slows a machine: a half, or
        // four deviations.
        EXPECT_NEAR(high_with({0.05, 1, 2}) - steady, rate ? 1 - 1 / 1.5 : 0.5, 1e-9);
        EXPECT_NEAR(high_with({0.2, 1, 2}) - steady, rate ? -std::expm1(-0.8) : std::expm1(0.8),
                    1e-9);
    }
}

}  // namespace batch_rule_drift_test
}  // namespace perfgate::gate

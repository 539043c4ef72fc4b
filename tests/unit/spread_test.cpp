// SPDX-License-Identifier: Apache-2.0
#include "stats/spread.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "stats/distributions.hpp"
#include "stats/quantiles.hpp"
#include "unit/simulated.hpp"

namespace perfgate::stats {
namespace spread_test {

using Groups = std::vector<std::vector<double>>;
using simulated::Random;

TEST(TrimmedMean, DropsAsManyOnBothSides) {
    const std::vector<double> samples{100, 1, 2, 3, 4, 5, 6, 7, 8, -50};
    EXPECT_DOUBLE_EQ(trimmed_mean(samples, 0.1), 4.5);
    EXPECT_DOUBLE_EQ(trimmed_mean(samples, 0), 8.6);
    EXPECT_DOUBLE_EQ(trimmed_mean(samples, 0.49), 4.5) << "the two in the middle";
    EXPECT_DOUBLE_EQ(trimmed_mean(std::vector<double>{7}, 0.4), 7);
}

TEST(TrimmedMean, AFractionOfAWholeNumberIsWhole) {
    std::vector<double> samples(30, 1.0);
    for (int i = 0; i < 3; ++i) samples[static_cast<std::size_t>(i)] = 1000;
    EXPECT_DOUBLE_EQ(trimmed_mean(samples, 0.1), 1) << "3 of 30, though 0.1 is no double";
}

TEST(TrimmedMean, OfEqualSamplesIsThatSample) {
    EXPECT_EQ(trimmed_mean(std::vector<double>(7, 0.1), 0.1), 0.1);
}

TEST(TrimmedMean, KeepsTheShareOfTwoModesWhereTheMedianJumps) {
    std::vector<double> fewer(100, 10.0);
    std::vector<double> more(100, 10.0);
    for (std::size_t i = 0; i < 49; ++i) fewer[i] = 11;
    for (std::size_t i = 0; i < 51; ++i) more[i] = 11;
    EXPECT_DOUBLE_EQ(median(more) - median(fewer), 1);
    EXPECT_LT(trimmed_mean(more, 0.1) - trimmed_mean(fewer, 0.1), 0.03);
}

TEST(PooledSpread, IsAroundEachGroupsOwnMean) {
    const PooledSpread spread = pooled_spread(Groups{{1, 3}, {100, 104, 102}, {7}});
    EXPECT_EQ(spread.df, 3);
    EXPECT_DOUBLE_EQ(spread.deviation, std::sqrt((2.0 + 8.0) / 3));
    EXPECT_EQ(pooled_spread(Groups{{1}, {2}}), (PooledSpread{0, 0}));
    EXPECT_EQ(pooled_spread(Groups{{0.1, 0.1, 0.1}}), (PooledSpread{0, 2}));
}

/// Spreads of three values each whose true deviations are these.
std::vector<PooledSpread> of_three(const std::vector<double>& deviations, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::normal_distribution<double> normal;
    std::vector<PooledSpread> spreads;
    for (const double deviation : deviations) {
        std::vector<double> values(3);
        for (double& value : values) value = deviation * normal(engine);
        spreads.push_back(pooled_spread(Groups{values}));
    }
    return spreads;
}

TEST(CommonSpread, IsTheUsualOneAndWeighsMuchWhereTheItemsAreAlike) {
    const PooledSpread few = common_spread(of_three(std::vector<double>(20, 0.01), 1));
    const PooledSpread many = common_spread(of_three(std::vector<double>(2000, 0.01), 1));
    EXPECT_NEAR(many.deviation, 0.01, 0.001);
    EXPECT_GT(many.df, 10);
    EXPECT_LT(few.df, many.df) << "20 may be alike by chance";
}

TEST(CommonSpread, WeighsLittleWhereTheItemsAreUnlikeAndIsNotThatOfTheWorst) {
    std::vector<double> deviations(400, 0.001);
    for (std::size_t i = 0; i < deviations.size(); i += 10) deviations[i] = 0.1;
    const PooledSpread common = common_spread(of_three(deviations, 1));
    EXPECT_LT(common.df, 2);
    EXPECT_LT(common.deviation, 0.003);
}

TEST(CommonSpread, FewerThanTwoItemsSayNothing) {
    EXPECT_EQ(common_spread({}), PooledSpread{});
    EXPECT_EQ(common_spread(std::vector<PooledSpread>{{0.01, 2}}).df, 0);
    const PooledSpread of_two = common_spread(std::vector<PooledSpread>{{0.01, 2}, {0.01, 40}});
    EXPECT_GT(of_two.df, 0);
    EXPECT_LT(of_two.df, 4);
}

TEST(PooledSpread, ThePriorCountsAsSoManyValues) {
    const PooledSpread result = moderated({2, 4}, {1, 12});
    EXPECT_EQ(result.df, 16);
    EXPECT_DOUBLE_EQ(result.deviation, std::sqrt((4 * 4.0 + 12 * 1.0) / 16));
    EXPECT_EQ(moderated({0, 0}, {1, 12}), (PooledSpread{1, 12}));
    EXPECT_EQ(moderated({0, 0}, {0, 0}), (PooledSpread{0, 0}));
}

TEST(DetectableShift, IsFoundAsOftenAsItSays) {
    constexpr std::size_t n = 20;
    constexpr std::size_t m = 8;
    const double level = 0.001;
    const double shift = detectable_shift(n, m, n + m - 2, level, 0.9);
    const double limit = student_upper_quantile(level, n + m - 2);
    Random random(6);
    constexpr int trials = 4000;
    int found = 0;
    for (int trial = 0; trial < trials; ++trial) {
        const auto base = simulated::draw(random, simulated::normal, n);
        const auto run = simulated::draw(random, simulated::normal, m, shift);
        const double spread = pooled_spread(Groups{base, run}).deviation;
        const double t = (trimmed_mean(run, 0) - trimmed_mean(base, 0)) /
                         (spread * std::sqrt(1.0 / n + 1.0 / m));
        found += t > limit ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(found) / trials, 0.9, 0.03);
}

TEST(Spread, RefusesNothingAndNoNumber) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(trimmed_mean({}, 0.1), std::invalid_argument);
    EXPECT_THROW(trimmed_mean(std::vector<double>{1}, 0.5), std::invalid_argument);
    EXPECT_THROW(trimmed_mean(std::vector<double>{1, nan}, 0.1), std::invalid_argument);
    EXPECT_THROW(pooled_spread(Groups{{1, nan}}), std::invalid_argument);
    EXPECT_THROW(detectable_shift(0, 3, 4, 0.1, 0.9), std::invalid_argument);
}

}  // namespace spread_test
}  // namespace perfgate::stats

// SPDX-License-Identifier: Apache-2.0
#include "stats/quantiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace perfgate::stats {
namespace {

using Samples = std::vector<double>;

TEST(Quantile, InterpolatesLikeRAndNumPy) {
    // R: quantile(c(15, 20, 35, 40, 50), c(0, .05, .3, .4, .5, 1), type = 7)
    const Samples samples = {40, 15, 50, 20, 35};
    EXPECT_DOUBLE_EQ(quantile(samples, 0), 15);
    EXPECT_DOUBLE_EQ(quantile(samples, 0.05), 16);
    EXPECT_DOUBLE_EQ(quantile(samples, 0.3), 23);
    EXPECT_DOUBLE_EQ(quantile(samples, 0.4), 29);
    EXPECT_DOUBLE_EQ(quantile(samples, 0.5), 35);
    EXPECT_DOUBLE_EQ(quantile(samples, 1), 50);
}

TEST(Quantile, OfOneSampleIsThatSample) {
    for (const double probability : {0.0, 0.25, 1.0}) {
        EXPECT_EQ(quantile(Samples{7}, probability), 7);
    }
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoMiddleSamples) {
    EXPECT_EQ(median(Samples{3, 1, 2}), 2);
    EXPECT_EQ(median(Samples{4, 1, 3, 2}), 2.5);
    EXPECT_EQ(median(Samples{5}), 5);
    EXPECT_EQ(median(Samples{2, 2, 2, 9}), 2);
    EXPECT_EQ(median(Samples{-1, 1}), 0);
}

TEST(Median, OfHugeSamplesDoesNotOverflow) {
    constexpr double huge = std::numeric_limits<double>::max();
    EXPECT_EQ(median(Samples{huge, huge}), huge);
    EXPECT_EQ(median(Samples{-huge, huge}), 0);
}

TEST(Median, DoesNotDependOnTheOrder) {
    std::mt19937 random(1);
    Samples samples;
    for (int i = 0; i < 101; ++i) samples.push_back(static_cast<double>(random() % 1000));
    const double expected = median(samples);
    for (int round = 0; round < 20; ++round) {
        std::shuffle(samples.begin(), samples.end(), random);
        ASSERT_EQ(median(samples), expected);
    }
}

TEST(MedianInterval, HasTheTextbookRanks) {
    // Ranks of the 95 % interval, from tables of the sign test: (n, lower rank).
    const std::vector<std::pair<int, int>> table = {{6, 1},   {8, 1},   {9, 2},   {12, 3},
                                                    {15, 4},  {17, 5},  {20, 6},  {25, 8},
                                                    {30, 10}, {40, 14}, {50, 18}, {100, 40}};
    for (const auto& [n, rank] : table) {
        Samples samples;
        for (int i = n; i >= 1; --i) samples.push_back(i);
        EXPECT_EQ(median_interval(samples), (Interval{double(rank), double(n + 1 - rank)})) << n;
    }
}

TEST(MedianInterval, IsAbsentWhereTooFewSamplesAreThere) {
    EXPECT_EQ(median_interval(Samples{1, 2, 3, 4, 5}), std::nullopt);
    EXPECT_EQ(median_interval(Samples{1}), std::nullopt);
    EXPECT_EQ(median_interval(Samples{1, 2, 3, 4, 5}, 0.9), (Interval{1, 5}));
    EXPECT_EQ(median_interval(Samples{1, 2, 3, 4, 5, 6}, 0.99), std::nullopt);
    EXPECT_EQ(median_interval(Samples{1, 2}, 0.5), (Interval{1, 2}));
}

TEST(MedianInterval, OfManySamplesAgreesWithTheNormalApproximation) {
    for (const int n : {1001, 5000, 200000}) {
        Samples samples(static_cast<std::size_t>(n));
        for (int i = 0; i < n; ++i) samples[static_cast<std::size_t>(i)] = i + 1;
        const auto interval = median_interval(samples);
        ASSERT_TRUE(interval);
        const double expected = (n - 1.959964 * std::sqrt(n)) / 2;
        EXPECT_NEAR(interval->low, expected, 1.5) << n;
        EXPECT_EQ(interval->high, n + 1 - interval->low);
    }
}

/// How often the interval contains the true median, over simulated batches.
double coverage(int n, double true_median, const std::function<double(std::mt19937_64&)>& draw) {
    constexpr int rounds = 4000;
    std::mt19937_64 random(20261121);
    int covered = 0;
    for (int round = 0; round < rounds; ++round) {
        Samples samples(static_cast<std::size_t>(n));
        for (double& sample : samples) sample = draw(random);
        const auto interval = median_interval(samples);
        if (interval && interval->low <= true_median && true_median <= interval->high) ++covered;
    }
    return static_cast<double>(covered) / rounds;
}

TEST(MedianInterval, CoversTheTrueMedianOfSkewedDistributionsToo) {
    // Three standard errors of a share of 0.95 in 4000 rounds are 0.0103.
    constexpr double least = 0.95 - 0.0103;
    const auto normal = [](std::mt19937_64& random) {
        return std::normal_distribution<double>(10, 2)(random);
    };
    const auto exponential = [](std::mt19937_64& random) {
        return std::exponential_distribution<double>(1)(random);
    };
    const auto two_clocks = [](std::mt19937_64& random) {
        // Mostly one speed, at times a slower one, as a throttled board shows.
        const double slow = random() % 4 == 0 ? 30 : 0;
        return slow + std::uniform_real_distribution<double>(0, 1)(random);
    };
    for (const int n : {6, 9, 20, 51, 200}) {
        EXPECT_GE(coverage(n, 10, normal), least) << n;
        EXPECT_GE(coverage(n, std::log(2.0), exponential), least) << n;
        EXPECT_GE(coverage(n, 2.0 / 3, two_clocks), least) << n;
        // Discreteness makes it wider than asked, but not without bound.
        EXPECT_LE(coverage(n, 10, normal), 0.99) << n;
    }
}

TEST(MedianRelativeHalfWidth, IsAFractionOfTheMedian) {
    Samples samples;
    for (int i = 0; i < 20; ++i) samples.push_back(100 + i);  // ranks 6 and 15: 105 and 114
    EXPECT_DOUBLE_EQ(*median_relative_half_width(samples), 4.5 / 109.5);
    for (double& sample : samples) sample = -sample;
    EXPECT_DOUBLE_EQ(*median_relative_half_width(samples), 4.5 / 109.5);
    EXPECT_EQ(median_relative_half_width(Samples(10, 5.0)), 0.0);
}

TEST(MedianRelativeHalfWidth, IsAbsentWhereItMeansNothing) {
    EXPECT_EQ(median_relative_half_width(Samples{1, 2, 3}), std::nullopt);
    EXPECT_EQ(median_relative_half_width(Samples(10, 0.0)), std::nullopt);
}

TEST(Thinned, OfManySamplesAreAsManyEvenlySpaced) {
    Samples samples(1000);
    std::iota(samples.begin(), samples.end(), 0.0);
    const Samples thin = thinned(samples, 100);
    EXPECT_EQ(thin.size(), 100U);
    EXPECT_EQ(*std::max_element(thin.begin(), thin.end()), 990);
    EXPECT_EQ(thinned(thin, 100), thin);
}

TEST(Quantiles, RefuseWhatIsNoSample) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (const Samples& samples : {Samples{}, Samples{1, nan}, Samples{1, 2, infinity}}) {
        EXPECT_THROW(median(samples), std::invalid_argument);
        EXPECT_THROW(quantile(samples, 0.5), std::invalid_argument);
        EXPECT_THROW(median_interval(samples), std::invalid_argument);
        EXPECT_THROW(median_relative_half_width(samples), std::invalid_argument);
    }
    EXPECT_THROW(quantile(Samples{1}, -0.1), std::invalid_argument);
    EXPECT_THROW(quantile(Samples{1}, 1.1), std::invalid_argument);
    EXPECT_THROW(quantile(Samples{1}, nan), std::invalid_argument);
    EXPECT_THROW(median_interval(Samples{1}, 1), std::invalid_argument);
    EXPECT_THROW(median_interval(Samples{1}, 0), std::invalid_argument);
}

}  // namespace
}  // namespace perfgate::stats

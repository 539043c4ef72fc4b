// SPDX-License-Identifier: Apache-2.0
#include "stats/rank_tests.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "unit/simulated.hpp"

namespace perfgate::stats {
namespace {

using simulated::Random;
using Values = std::vector<double>;

/// Wins of `group` over `others`, a tie half: the rank sum but for a constant.
double wins(const std::vector<double>& others, const std::vector<double>& group) {
    double sum = 0;
    for (const double value : group) {
        for (const double other : others) {
            sum += value > other ? 1 : (value == other ? 0.5 : 0);
        }
    }
    return sum;
}

/// The definition: every division of the values into groups of these sizes.
double by_enumeration(const std::vector<double>& others, const std::vector<double>& group) {
    std::vector<double> all = others;
    all.insert(all.end(), group.begin(), group.end());
    const double seen = wins(others, group);
    double divisions = 0;
    double extreme = 0;
    for (std::uint32_t chosen = 0; chosen < (1U << all.size()); ++chosen) {
        if (std::popcount(chosen) != static_cast<int>(group.size())) continue;
        std::vector<double> in;
        std::vector<double> out;
        for (std::size_t i = 0; i < all.size(); ++i) {
            ((chosen >> i & 1U) != 0 ? in : out).push_back(all[i]);
        }
        ++divisions;
        if (wins(out, in) >= seen) ++extreme;
    }
    return extreme / divisions;
}

TEST(Precedence, IsTheShareOfDivisionsInWhichTheLargestAreAllOfTheGroup) {
    for (const std::size_t n : {1, 3, 5}) {
        for (const std::size_t m : {1, 2, 4}) {
            for (std::size_t most = 0; most <= m; ++most) {
                double divisions = 0;
                double extreme = 0;
                for (std::uint32_t chosen = 0; chosen < (1U << (n + m)); ++chosen) {
                    if (std::popcount(chosen) != static_cast<int>(m)) continue;
                    ++divisions;
                    const std::uint32_t largest = ((1U << most) - 1) << (n + m - most);
                    if ((chosen & largest) == largest) ++extreme;
                }
                EXPECT_NEAR(precedence_greater(n, m, most), extreme / divisions, 1e-12)
                    << n << " " << m << " " << most;
            }
        }
    }
    EXPECT_EQ(precedence_greater(20, 5, 6), 0);
    EXPECT_DOUBLE_EQ(precedence_greater(20, 5, 5), rank_sum_least(20, 5));
    EXPECT_THROW(precedence_greater(0, 5, 1), std::invalid_argument);
    EXPECT_THROW(precedence_greater(5, 0, 0), std::invalid_argument);
}

TEST(RankSum, CompleteSeparationIsOneDivisionOfAll) {
    const std::vector<double> others{1, 2, 3, 4};
    const std::vector<double> group{5, 6, 7};
    EXPECT_DOUBLE_EQ(rank_sum_greater(others, group), 1.0 / 35);
    EXPECT_DOUBLE_EQ(rank_sum_least(4, 3), 1.0 / 35);
    EXPECT_DOUBLE_EQ(rank_sum_greater(group, others), 1);
    EXPECT_NEAR(rank_sum_least(20, 8), 1.0 / 3108105, 1e-18);
}

TEST(RankSum, KnownValue) {
    // Mann and Whitney's U of 3 and 5 values is 2 or less in 4 of 56 divisions.
    const std::vector<double> others{1, 2, 3, 5, 6};
    const std::vector<double> group{4, 7, 8};
    EXPECT_DOUBLE_EQ(rank_sum_greater(others, group), 4.0 / 56);
}

TEST(RankSum, EqualsTheEnumerationOfAllDivisionsTiesIncluded) {
    Random random(1);
    for (int trial = 0; trial < 60; ++trial) {
        const std::size_t n = 1 + random.below(6);
        const std::size_t m = 1 + random.below(5);
        const double grain = trial % 3 == 0 ? 1 : 1e-9;  // every third: many ties
        const auto value = [&] { return std::floor(3 * random.normal() / grain) * grain; };
        std::vector<double> others;
        std::vector<double> group;
        for (std::size_t i = 0; i < n; ++i) others.push_back(value());
        for (std::size_t i = 0; i < m; ++i) group.push_back(value());
        EXPECT_NEAR(rank_sum_greater(others, group), by_enumeration(others, group), 1e-12)
            << "trial " << trial;
    }
}

TEST(RankSum, EqualValuesSayNothing) {
    const std::vector<double> same(12, 8512);
    EXPECT_DOUBLE_EQ(rank_sum_greater(same, std::vector<double>(5, 8512)), 1);
    EXPECT_EQ(rank_sum_greater(std::vector<double>(90, 3), std::vector<double>(30, 3)), 1);
}

TEST(RankSum, WithoutSpreadAnyDifferenceIsSeparation) {
    EXPECT_DOUBLE_EQ(rank_sum_greater(std::vector<double>(20, 8512), std::vector<double>(8, 8513)),
                     rank_sum_least(20, 8));
}

TEST(RankSum, TheApproximationForManyValuesJoinsTheExactOne) {
    Random random(2);
    for (const double shift : {0.0, 0.4, 0.8}) {
        // 50 + 50 is the last exact size; one value more in the middle changes little.
        std::vector<double> others = simulated::draw(random, simulated::normal, 50);
        const std::vector<double> group = simulated::draw(random, simulated::normal, 50, shift);
        const double exact = rank_sum_greater(others, group);
        others.push_back(shift / 2);
        const double approximate = rank_sum_greater(others, group);
        EXPECT_NEAR(std::log(approximate), std::log(exact), 0.25) << "shift " << shift;
    }
}

TEST(RankSum, FalseAlarmsStayAtTheLevelWhateverTheShape) {
    const std::pair<const char*, simulated::Shape> shapes[] = {
        {"normal", simulated::normal},
        {"skewed", simulated::skewed},
        {"bimodal", simulated::bimodal},
        {"heavy-tailed", simulated::heavy_tailed}};
    for (const auto& [name, shape] : shapes) {
        Random random(3);
        constexpr int trials = 4000;
        int at_5_percent = 0;
        int at_half_percent = 0;
        for (int trial = 0; trial < trials; ++trial) {
            const auto others = simulated::draw(random, shape, 12);
            const auto group = simulated::draw(random, shape, 6);
            const double p = rank_sum_greater(others, group);
            at_5_percent += p <= 0.05 ? 1 : 0;
            at_half_percent += p <= 0.005 ? 1 : 0;
        }
        // Four standard errors over the level; the test is discrete, so below it is lawful.
        EXPECT_LE(at_5_percent, 200 + 4 * 14) << name;
        EXPECT_GE(at_5_percent, 200 - 6 * 14) << name << ": not nearly so conservative";
        EXPECT_LE(at_half_percent, 20 + 4 * 5) << name;
    }
}

TEST(RankSum, RefusesNothingAndNoNumber) {
    const std::vector<double> values{1, 2};
    const std::vector<double> bad{1, std::numeric_limits<double>::quiet_NaN()};
    EXPECT_THROW(rank_sum_greater({}, values), std::invalid_argument);
    EXPECT_THROW(rank_sum_greater(values, {}), std::invalid_argument);
    EXPECT_THROW(rank_sum_greater(values, bad), std::invalid_argument);
    EXPECT_THROW(rank_sum_least(0, 3), std::invalid_argument);
}

// ---- the critical value

TEST(RankSumCritical, IsTheLeastCountOfPairsThatTheTestRejects) {
    for (const auto& [n, m] : {std::pair<std::size_t, std::size_t>{20, 8}, {9, 8}, {7, 5}}) {
        for (const double level : {0.05, 0.001}) {
            const auto critical = rank_sum_critical(n, m, level);
            ASSERT_EQ(critical.has_value(), rank_sum_least(n, m) <= level);
            if (!critical) continue;
            // The group's first value is above `pairs` of the others', the rest above all.
            const auto probability = [&, n = n, m = m](std::size_t pairs) {
                Values others(n);
                for (std::size_t i = 0; i < n; ++i) others[i] = static_cast<double>(i);
                Values group;
                std::size_t left = pairs;
                for (std::size_t i = 0; i < m; ++i) {
                    const std::size_t below = std::min(left, n);
                    left -= below;
                    group.push_back(static_cast<double>(below) - 0.5 +
                                    static_cast<double>(i) / 100);
                }
                return rank_sum_greater(others, group);
            };
            EXPECT_LE(probability(*critical), level);
            EXPECT_GT(probability(*critical - 1), level);
        }
    }
    EXPECT_FALSE(rank_sum_critical(3, 3, 0.01)) << "1 of 20 at best";
    EXPECT_THROW(rank_sum_critical(0, 3, 0.01), std::invalid_argument);
}

// ---- the interval of the shift

/// By trying every shift between two differences: those that neither side's test rejects.
Interval by_inversion(const Values& others, const Values& group, double confidence) {
    Values differences;
    for (const double value : group) {
        for (const double other : others) differences.push_back(value - other);
    }
    std::sort(differences.begin(), differences.end());
    const auto rejected = [&](double shift) {
        Values moved = group;
        for (double& value : moved) value -= shift;
        return std::min(rank_sum_greater(others, moved), rank_sum_greater(moved, others)) <=
               (1 - confidence) / 2;
    };
    Interval kept{differences.back(), differences.front()};
    for (std::size_t i = 0; i + 1 < differences.size(); ++i) {
        if (rejected(std::midpoint(differences[i], differences[i + 1]))) continue;
        kept.low = std::min(kept.low, differences[i]);
        kept.high = std::max(kept.high, differences[i + 1]);
    }
    return kept;
}

TEST(RankSumInterval, IsTheTestInverted) {
    std::mt19937 random(5);
    std::normal_distribution<double> normal(0, 1);
    for (const auto& [n, m] : {std::pair{4, 4}, {5, 3}, {20, 5}, {3, 9}, {12, 8}}) {
        Values others(static_cast<std::size_t>(n));
        Values group(static_cast<std::size_t>(m));
        for (double& value : others) value = normal(random);
        for (double& value : group) value = 1 + normal(random);
        for (const double confidence : {0.9, 0.95}) {
            const auto found = rank_sum_interval(others, group, confidence);
            ASSERT_TRUE(found) << n << ' ' << m;
            const Interval expected = by_inversion(others, group, confidence);
            EXPECT_DOUBLE_EQ(found->low, expected.low) << n << ' ' << m;
            EXPECT_DOUBLE_EQ(found->high, expected.high) << n << ' ' << m;
        }
    }
}

TEST(RankSumInterval, IsAbsentWhereTheTestReachesNothing) {
    EXPECT_FALSE(rank_sum_interval(Values{1, 2, 3}, Values{4, 5, 6}, 0.95)) << "1 of 20 at best";
    EXPECT_TRUE(rank_sum_interval(Values{1, 2, 3}, Values{4, 5, 6}, 0.89));
    EXPECT_FALSE(rank_sum_interval(Values(20, 1), Values{4}, 0.95));
    EXPECT_THROW(rank_sum_interval(Values{}, Values{1}, 0.95), std::invalid_argument);
}

TEST(RankSumInterval, EqualValuesAreKnownExactly) {
    const auto same = rank_sum_interval(Values(20, 8512), Values(5, 8544), 0.95);
    ASSERT_TRUE(same);
    EXPECT_EQ(*same, (Interval{32, 32}));
}

TEST(RankSumInterval, CoversWithItsConfidence) {
    std::mt19937 random(6);
    std::exponential_distribution<double> skewed(1);
    for (const auto& [n, m] : {std::pair{20, 5}, {60, 70}}) {
        int covered = 0;
        for (int play = 0; play < 400; ++play) {
            Values others(static_cast<std::size_t>(n));
            Values group(static_cast<std::size_t>(m));
            for (double& value : others) value = skewed(random);
            for (double& value : group) value = 0.5 + skewed(random);
            const auto found = rank_sum_interval(others, group, 0.95);
            covered += found && found->low <= 0.5 && 0.5 <= found->high ? 1 : 0;
        }
        EXPECT_GE(covered, 380 - 3 * 5) << n;
        EXPECT_LE(covered, 398) << n << ": wider than it need be";
    }
}

TEST(RankSumInterval, OfVeryManyValuesNeedsNoMoreRoom) {
    Values many(30'000);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i % 100);
    const auto found = rank_sum_interval(many, many, 0.95);
    ASSERT_TRUE(found);
    EXPECT_LE(found->low, 0);
    EXPECT_GE(found->high, 0);
}

}  // namespace
}  // namespace perfgate::stats

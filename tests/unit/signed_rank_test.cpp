// SPDX-License-Identifier: Apache-2.0
#include "stats/rank_tests.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

namespace perfgate::stats {
namespace signed_rank_test {

using Values = std::vector<double>;

/// By trying every choice of signs.
double by_enumeration(const Values& differences) {
    const std::size_t n = differences.size();
    std::vector<double> rank(n);
    for (std::size_t i = 0; i < n; ++i) {
        double below = 0;
        double equal = 0;
        for (const double other : differences) {
            if (std::fabs(other) < std::fabs(differences[i])) ++below;
            if (std::fabs(other) == std::fabs(differences[i])) ++equal;
        }
        rank[i] = below + (equal + 1) / 2;
    }
    double seen = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (differences[i] > 0) seen += rank[i];
    }
    int extreme = 0;
    for (std::size_t signs = 0; signs < (std::size_t{1} << n); ++signs) {
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if ((signs >> i & 1) != 0) sum += rank[i];
        }
        if (sum >= seen) ++extreme;
    }
    return extreme / std::pow(2.0, static_cast<double>(n));
}

TEST(SignedRank, HasTheTablesValues) {
    // Wilcoxon's table: with 8 pairs a sum of 31 (5 the other way) is significant at 5 % one-sided,
    // P = 10 / 256; with 5 pairs all positive is 1 / 32.
    EXPECT_DOUBLE_EQ(signed_rank_greater(Values{-5, 1, 2, 3, 4, 6, 7, 8}), 10.0 / 256);
    EXPECT_DOUBLE_EQ(signed_rank_greater(Values{1, 2, 3, 4, 5}), 1.0 / 32);
    EXPECT_DOUBLE_EQ(signed_rank_greater(Values{-1, -2, -3}), 1);
}

// Darwin's maize, crossed less self-fertilised, in eighths of an inch: V = 96, and 0.04126 for two
// sides.
TEST(SignedRank, DarwinsMaize) {
    const Values maize{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48};
    EXPECT_DOUBLE_EQ(signed_rank_greater(maize), by_enumeration(maize));
    EXPECT_DOUBLE_EQ(2 * signed_rank_greater(maize), 0.041259765625);
}

TEST(SignedRank, AgreesWithEnumerationTiesIncluded) {
    std::mt19937 random(3);
    for (int trial = 0; trial < 200; ++trial) {
        Values differences;
        const std::size_t n = 1 + random() % 10;
        for (std::size_t i = 0; i < n; ++i) {
            const int size = static_cast<int>(1 + random() % 4);
            differences.push_back(random() % 2 == 0 ? size : -size);
        }
        EXPECT_NEAR(signed_rank_greater(differences), by_enumeration(differences), 1e-12);
    }
}

TEST(SignedRank, ManyPairsGoOverIntoTheNormalApproximation) {
    std::mt19937 random(5);
    std::normal_distribution<double> normal(0.1, 1);
    Values differences;
    for (int i = 0; i < 200; ++i) differences.push_back(normal(random));
    const double exact = signed_rank_greater(differences);
    differences.push_back(1e-9);
    EXPECT_NEAR(signed_rank_greater(differences), exact, 0.02 * exact + 1e-4);
}

TEST(SignedRank, ZerosSayNothing) {
    EXPECT_DOUBLE_EQ(signed_rank_greater(Values{0, 1, 0, 2, 3}), 1.0 / 8);
    EXPECT_DOUBLE_EQ(signed_rank_greater(Values{0, 0}), 1);
}

TEST(SignedRank, LeastIsAllOnOneSide) {
    EXPECT_DOUBLE_EQ(signed_rank_least(8), 1.0 / 256);
    EXPECT_DOUBLE_EQ(signed_rank_least(8), signed_rank_greater(Values{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(SignedRank, RefusesWhatItCannotRank) {
    EXPECT_THROW(signed_rank_greater({}), std::invalid_argument);
    EXPECT_THROW(signed_rank_greater(Values{1, std::nan("")}), std::invalid_argument);
    EXPECT_THROW(signed_rank_greater(Values{std::numeric_limits<double>::infinity()}),
                 std::invalid_argument);
}

// Ends where the test begins to reject.
TEST(SignedRankInterval, DarwinsMaize) {
    const Values maize{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48};
    const auto found = signed_rank_interval(maize, 0.95);
    ASSERT_TRUE(found);
    const auto holds = [&](double shift, bool above) {
        Values moved = maize;
        for (double& value : moved) value = above ? value - shift : shift - value;
        return signed_rank_greater(moved) > 0.025;
    };
    EXPECT_TRUE(holds(found->low + 0.01, true));
    EXPECT_FALSE(holds(found->low - 0.01, true));
    EXPECT_TRUE(holds(found->high - 0.01, false));
    EXPECT_FALSE(holds(found->high + 0.01, false));
}

TEST(SignedRankInterval, IsAbsentWhereTheTestReachesNothing) {
    EXPECT_FALSE(signed_rank_interval(Values{1, 2, 3, 4, 5}, 0.95)) << "1 of 32 at best";
    EXPECT_TRUE(signed_rank_interval(Values{1, 2, 3, 4, 5, 6}, 0.95));
    const auto many = signed_rank_interval(Values(5000, 2.5), 0.95);
    ASSERT_TRUE(many);
    EXPECT_EQ(*many, (Interval{2.5, 2.5}));
}

}  // namespace signed_rank_test
}  // namespace perfgate::stats

// SPDX-License-Identifier: Apache-2.0
#include "sass/difference.hpp"

#include <gtest/gtest.h>

#include <random>

namespace perfgate::sass {
namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// The length of a longest common subsequence, by the textbook.
std::size_t longest_common(const std::vector<int>& before, const std::vector<int>& after) {
    std::vector<std::vector<std::size_t>> best(before.size() + 1,
                                               std::vector<std::size_t>(after.size() + 1));
    for (std::size_t i = 0; i < before.size(); ++i) {
        for (std::size_t j = 0; j < after.size(); ++j) {
            best[i + 1][j + 1] =
                before[i] == after[j] ? best[i][j] + 1 : std::max(best[i][j + 1], best[i + 1][j]);
        }
    }
    return best.back().back();
}

void expect_alignment(const std::vector<int>& before, const std::vector<int>& after,
                      const Pairs& pairs) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        ASSERT_LT(pairs[i].first, before.size());
        ASSERT_LT(pairs[i].second, after.size());
        EXPECT_EQ(before[pairs[i].first], after[pairs[i].second]);
        if (i == 0) continue;
        EXPECT_LT(pairs[i - 1].first, pairs[i].first);
        EXPECT_LT(pairs[i - 1].second, pairs[i].second);
    }
}

TEST(Alignment, IsALongestCommonSubsequence) {
    std::mt19937 random(7);
    for (int round = 0; round < 500; ++round) {
        const auto sequence = [&] {
            std::vector<int> all(random() % 30);
            for (int& each : all) each = static_cast<int>(random() % 5);
            return all;
        };
        const std::vector<int> before = sequence(), after = sequence();
        const Pairs pairs = align(before, after);
        expect_alignment(before, after, pairs);
        EXPECT_EQ(pairs.size(), longest_common(before, after));
    }
}

TEST(Alignment, BeyondTheEditsPairsWhatIsUniqueAndWhatIsBetween) {
    std::vector<int> before, after;
    for (int i = 0; i < 200; ++i) {
        before.insert(before.end(), {1000 + i, 0, 1, -2 * i - 1});
        after.insert(after.end(), {-2 * i - 2, 1000 + i, 0, 1});
    }
    const Pairs pairs = align(before, after, 20);
    expect_alignment(before, after, pairs);
    EXPECT_EQ(pairs.size(), 600U);
}

TEST(Alignment, BeyondTheEditsWithoutAnythingUniquePairsOnlyTheEnds) {
    std::vector<int> before(100, 1), after(100, 2);
    before.front() = after.front() = before.back() = after.back() = 3;
    EXPECT_EQ(align(before, after, 10), (Pairs{{0, 0}, {99, 99}}));
}

}  // namespace
}  // namespace perfgate::sass

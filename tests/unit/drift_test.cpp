// SPDX-License-Identifier: Apache-2.0
#include "stats/drift.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "stats/distributions.hpp"

namespace perfgate::stats {
namespace {

struct World {
    std::size_t items = 40, groups = 5, values = 5;
    double own = 0;     ///< deviation of a group's effect on one item
    double shared = 0;  ///< of its effect on all
    double noise = 1;
};

std::vector<Groups> drawn(const World& world, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::normal_distribution<double> normal;
    std::vector<Groups> items(world.items);
    for (std::size_t g = 0; g < world.groups; ++g) {
        const double shared = world.shared * normal(engine);
        for (Groups& item : items) {
            const double effect = shared + world.own * normal(engine);
            for (std::size_t i = 0; i < world.values; ++i) {
                item[std::to_string(g)].push_back(100 + effect + world.noise * normal(engine));
            }
        }
    }
    return items;
}

/// Mean over items of several worlds.
Drift mean_drift(const World& world) {
    constexpr std::uint64_t worlds = 30;
    Drift mean;
    for (std::uint64_t seed = 0; seed < worlds; ++seed) {
        const auto drifts = drifts_of(drawn(world, seed));
        for (const auto& drift : drifts) {
            mean.deviation += drift->deviation / static_cast<double>(worlds * drifts.size());
            mean.df += drift->df / static_cast<double>(worlds * drifts.size());
        }
    }
    return mean;
}

TEST(Drift, OfGroupsIsLearnedFromAllItems) {
    EXPECT_NEAR(mean_drift({.own = 2}).deviation, 2.15, 0.2) << "and a standard error";
    EXPECT_NEAR(mean_drift({.own = 2, .noise = 0}).deviation, 2.15, 0.2);
    EXPECT_LT(mean_drift({.own = 0}).deviation, 0.3) << "a third of the noise of a group's mean";
}

TEST(Drift, ThatAllItemsShareIsKnownAsWellAsThereAreGroups) {
    EXPECT_LT(mean_drift({.shared = 2, .noise = 0.1}).df, 4.1);
    EXPECT_GT(mean_drift({.own = 2, .noise = 0.1}).df, 30);
}

TEST(Drift, OfAnUnusualItemIsItsOwn) {
    std::vector<Groups> items = drawn({.groups = 10, .own = 0.1, .noise = 0.1}, 1);
    const double usual = drifts_of(items)[0]->deviation;
    double sign = 1;
    for (auto& [group, values] : items[0]) {
        for (double& value : values) value += sign;
        sign = -sign;
    }
    EXPECT_GT(drifts_of(items)[0]->deviation, 3 * usual);
    EXPECT_LT(drifts_of(items)[1]->deviation, 3 * usual);
}

TEST(Drift, OneOutlierIsNone) {
    std::vector<Groups> items = drawn({.items = 5, .own = 0, .noise = 0.1}, 3);
    const double before = drifts_of(items)[0]->deviation;
    items[0]["0"][2] += 30;
    EXPECT_LT(drifts_of(items)[0]->deviation, before + 0.3);
}

TEST(Drift, IsNotKnownWithoutTwoGroups) {
    for (const auto& drift : drifts_of(drawn({.groups = 1}, 1))) EXPECT_FALSE(drift);
    EXPECT_TRUE(drifts_of({}).empty());
    EXPECT_FALSE(drifts_of({Groups{}, Groups{}})[1]);
}

TEST(Drift, OfAnItemInOneGroupIsThatOfTheOthers) {
    std::vector<Groups> items = drawn({.own = 2}, 1);
    items[0] = {{"0", {100, 101}}};
    items[1].clear();
    const auto drifts = drifts_of(items);
    EXPECT_GT(drifts[0]->deviation, 1);
    EXPECT_EQ(drifts[0]->groups, 1U);
    EXPECT_FALSE(drifts[1]) << "it has no values";
}

TEST(Drift, ItsBoundIsAQuantileOfStudentsDistribution) {
    const Drift drift{.deviation = 2, .df = 4, .groups = 3};
    EXPECT_NEAR(drift.bound(0.01), student_upper_quantile(0.01, 4) * std::sqrt(4.0 / 3) * 2, 1e-12);
    EXPECT_EQ((Drift{.deviation = 0, .df = 0, .groups = 3}).bound(0.01), 0);
}

TEST(Drift, ItsBoundIsRarelyExceededByAFurtherGroup) {
    std::size_t exceeded = 0;
    std::size_t tried = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        for (const double shared : {0.0, 1.0}) {
            std::vector<Groups> items =
                drawn({.items = 10, .groups = 6, .own = 1, .shared = shared}, 7 * seed);
            for (Groups& item : items) {
                const std::vector<double> last = item.extract("5").mapped();
                item["last"] = last;
            }
            std::vector<std::vector<double>> further;
            for (Groups& item : items) further.push_back(item.extract("last").mapped());
            const auto drifts = drifts_of(items);
            for (std::size_t i = 0; i < items.size(); ++i) {
                double before = 0;
                for (const auto& [group, values] : items[i]) {
                    for (const double value : values) before += value / 25;
                }
                double now = 0;
                for (const double value : further[i]) now += value / 5;
                ++tried;
                exceeded += now - before > drifts[i]->bound(0.01) ? 1 : 0;
            }
        }
    }
    EXPECT_LE(static_cast<double>(exceeded) / static_cast<double>(tried), 0.015)
        << "1 %, and the noise of the values";
}

/// Items in sessions that rise by this much each, over a noise of one.
std::vector<std::vector<double>> in_sessions(double rise, std::size_t sessions,
                                             std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::normal_distribution<double> normal;
    std::vector<std::vector<double>> items(40);
    for (std::size_t s = 0; s < sessions; ++s) {
        const double shared = 0.3 * normal(engine);
        for (auto& values : items) {
            values.push_back(100 + rise * static_cast<double>(s) + shared + normal(engine));
        }
    }
    return items;
}

TEST(Trend, OfAllItemsIsFoundAndChanceIsNone) {
    std::size_t found = 0;
    std::size_t by_chance = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const auto trend = trend_of(in_sessions(1, 10, seed));
        ASSERT_TRUE(trend);
        found += trend->probability < 0.01 && std::fabs(trend->change - 9) < 2 ? 1 : 0;
        by_chance += trend_of(in_sessions(0, 5, seed))->probability < 0.01 ? 1 : 0;
    }
    EXPECT_EQ(found, 200U);
    EXPECT_LE(by_chance, 7U) << "one in a hundred, of two hundred";
}

TEST(Trend, FallsLikeItRises) {
    const auto trend = trend_of({{5, 4, 3, 2, 1}});
    ASSERT_TRUE(trend);
    EXPECT_NEAR(trend->change, -4, 1e-9);
    EXPECT_LT(trend->probability, 1e-6);
    EXPECT_EQ(trend_of({{5, 5, 5, 5, 5}})->probability, 1);
}

TEST(Trend, NeedsFiveValuesAndIsOfTheItemsThatHaveAll) {
    EXPECT_FALSE(trend_of({{1, 2, 3, 4}}));
    EXPECT_FALSE(trend_of({}));
    EXPECT_NEAR(trend_of({{1, 2, 3, 4, 5}, {9, 1}})->change, 4, 1e-9);
}

TEST(Winsorised, BringsOutliersNearTheRest) {
    const std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 1000};
    const std::vector<double> result = winsorised(values, 3, 0);
    EXPECT_EQ(std::vector<double>(result.begin(), result.end() - 1),
              std::vector<double>(values.begin(), values.end() - 1));
    EXPECT_LT(result.back(), 20);
    std::vector<double> equal(10, 5.0);
    equal.back() = 9;
    EXPECT_EQ(winsorised(equal, 3, 0), equal) << "nothing is known of the spread";
    EXPECT_DOUBLE_EQ(winsorised(equal, 3, 0.1).back(), 5.3);
}

}  // namespace
}  // namespace perfgate::stats

// SPDX-License-Identifier: Apache-2.0
#include "model/interval.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace perfgate::model {
namespace {

std::uint64_t length_of(std::vector<Interval> intervals) {
    return IntervalSet(std::move(intervals)).length();
}

TEST(IntervalSetLength, IsZeroForNothing) {
    EXPECT_EQ(length_of({}), 0U);
    EXPECT_EQ(length_of({{5, 5}}), 0U);
    EXPECT_EQ(length_of({{9, 5}}), 0U);
}

TEST(IntervalSetLength, AddsWhatIsApart) {
    EXPECT_EQ(length_of({{0, 10}, {20, 25}}), 15U);
}

TEST(IntervalSetLength, CountsOverlapsOnce) {
    EXPECT_EQ(length_of({{0, 10}, {5, 15}}), 15U);
    EXPECT_EQ(length_of({{0, 100}, {10, 20}, {30, 40}}), 100U);
    EXPECT_EQ(length_of({{0, 10}, {10, 20}}), 20U);
    EXPECT_EQ(length_of({{7, 9}, {7, 9}}), 2U);
}

TEST(IntervalSetLength, DoesNotMindTheOrder) {
    EXPECT_EQ(length_of({{20, 25}, {0, 10}, {5, 12}}), 17U);
}

TEST(IntervalSetLength, TakesDeviceTimeStamps) {
    const std::uint64_t origin = 1'795'258'139'498'679'600;
    EXPECT_EQ(length_of({{origin, origin + 960}, {origin + 500, origin + 1500}}), 1500U);
}

TEST(IntervalSet, HasGapsWithinAWindow) {
    const IntervalSet set({{10, 20}, {30, 40}});
    EXPECT_EQ(set.gaps({0, 35}), (std::vector<Interval>{{0, 10}, {20, 30}}));
    EXPECT_EQ(set.gaps({12, 18}), std::vector<Interval>{});
    EXPECT_EQ(set.length({15, 35}), 10U);
}

TEST(IntervalSet, OverlapsWithAnother) {
    EXPECT_EQ(IntervalSet({{0, 10}, {20, 30}}).overlap(IntervalSet({{5, 25}})), 10U);
}

TEST(IntervalSet, CountsWhatLiesBeforeATime) {
    const IntervalSet set({{10, 20}, {30, 40}, {50, 60}});
    const std::vector<std::pair<std::uint64_t, std::uint64_t>> examples = {
        {0, 0},   {10, 0},  {11, 1},  {20, 10}, {25, 10},
        {30, 10}, {31, 11}, {45, 20}, {60, 30}, {99, 30}};
    for (const auto& [time, length] : examples) {
        EXPECT_EQ(set.length({0, time}), length) << time;
    }
    EXPECT_EQ(set.length({15, 55}), 20U);
    EXPECT_EQ(set.length({20, 30}), 0U);
    EXPECT_EQ(set.length({15, 15}), 0U);
    EXPECT_EQ(set.length({55, 15}), 0U);
    EXPECT_EQ(set.length(), 30U);
    EXPECT_EQ(set.overlap(IntervalSet({{0, 12}, {18, 32}, {70, 80}})), 6U);
}

TEST(IntervalSet, HasNoGapOfNoLength) {
    const IntervalSet set({{10, 20}, {30, 40}});
    using Gaps = std::vector<Interval>;
    EXPECT_EQ(set.gaps({10, 20}), Gaps{});
    EXPECT_EQ(set.gaps({20, 30}), (Gaps{{20, 30}}));
    EXPECT_EQ(set.gaps({20, 31}), (Gaps{{20, 30}}));
    EXPECT_EQ(set.gaps({15, 30}), (Gaps{{20, 30}}));
    EXPECT_EQ(set.gaps({0, 10}), (Gaps{{0, 10}}));
    EXPECT_EQ(set.gaps({40, 50}), (Gaps{{40, 50}}));
    EXPECT_EQ(set.gaps({39, 50}), (Gaps{{40, 50}}));
    EXPECT_EQ(set.gaps({5, 45}), (Gaps{{5, 10}, {20, 30}, {40, 45}}));
    EXPECT_EQ(IntervalSet().gaps({1, 2}), (Gaps{{1, 2}}));
    EXPECT_EQ(IntervalSet().gaps({2, 2}), Gaps{});
}

}  // namespace
}  // namespace perfgate::model

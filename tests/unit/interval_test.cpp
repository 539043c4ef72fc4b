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

}  // namespace
}  // namespace perfgate::model

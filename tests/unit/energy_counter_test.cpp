// SPDX-License-Identifier: Apache-2.0
#include "model/energy_counter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace perfgate::model {
namespace {

/// A device that draws `watts`, whose counter changes every `interval_s` and is read every
/// `between_s`, for `seconds`.
EnergyCounter polled(double watts, double interval_s, double between_s, double seconds,
                     std::uint64_t before_mj = 0) {
    EnergyCounter counter;
    for (double now = 0; now < seconds; now += between_s) {
        const double updated = std::floor(now / interval_s) * interval_s;
        counter.add({now, now + between_s / 10,
                     before_mj + static_cast<std::uint64_t>(std::llround(watts * updated * 1000))});
    }
    return counter;
}

TEST(EnergyCounter, GivesThePowerOfASteadyLoad) {
    for (const double interval : {0.02, 0.1}) {
        const auto span = polled(350, interval, 0.0005, 2).span();
        ASSERT_TRUE(span);
        EXPECT_NEAR(span->watts(), 350, 350 * span->resolution);
        EXPECT_NEAR(span->interval_s(), interval, 0.01 * interval);
        EXPECT_NEAR(span->joules, 350 * span->seconds, 350 * 0.001);
        EXPECT_LT(span->resolution, 0.002);
    }
}

TEST(EnergyCounter, BeginsAndEndsWithUpdates) {
    EnergyCounter counter;
    counter.add({0.0, 0.1, 5000});
    EXPECT_FALSE(counter.begun());
    counter.add({1.0, 1.1, 6000});  // between 0 and 1.1 s
    EXPECT_TRUE(counter.begun());
    EXPECT_FALSE(counter.span());
    counter.add({2.0, 2.1, 6000});
    counter.add({3.0, 3.1, 8000});  // between 2 and 3.1 s
    counter.add({4.0, 4.1, 8000});
    const auto span = counter.span();
    ASSERT_TRUE(span);
    EXPECT_EQ(span->updates, 1U);
    EXPECT_DOUBLE_EQ(span->joules, 2);
    EXPECT_DOUBLE_EQ(span->seconds, 2);
    // Half of each gap of 1.1 s, over 2 s, and a millijoule of 2 J.
    EXPECT_DOUBLE_EQ(span->resolution, 1.1 / 2 + 0.0005);
}

TEST(EnergyCounter, WithoutTwoUpdatesHasNoSpan) {
    EXPECT_FALSE(EnergyCounter().span());
    EXPECT_FALSE(polled(0, 0.02, 0.0005, 2).span());
    EXPECT_FALSE(polled(350, 10, 0.01, 2).span());
    EXPECT_FALSE(polled(350, 1.5, 0.01, 2).span());  // one update
}

TEST(EnergyCounter, ThatFallsIsOfNoUse) {
    EnergyCounter counter = polled(350, 0.02, 0.0005, 2, 1'000'000);
    ASSERT_TRUE(counter.span());
    counter.add({2.1, 2.2, 40});
    counter.add({2.3, 2.4, 2'000'000});
    EXPECT_FALSE(counter.span());
    EXPECT_EQ(counter.problem(), "the energy counter fell from 1693000 to 40 mJ");

    // So does one that wraps around.
    EnergyCounter wraps;
    wraps.add({0, 0.1, std::numeric_limits<std::uint64_t>::max()});
    wraps.add({1, 1.1, 0});
    EXPECT_NE(wraps.problem(), "");
}

TEST(EnergyCounter, AtTheEndOfItsRangeStillCounts) {
    const auto high = std::numeric_limits<std::uint64_t>::max() - 10'000'000;
    const auto span = polled(350, 0.02, 0.0005, 2, high).span();
    ASSERT_TRUE(span);
    EXPECT_NEAR(span->watts(), 350, 1);
}

TEST(EnergyGoal, AsksForTimeUpdatesAndResolution) {
    EnergySpan span;
    span.joules = 350;
    span.seconds = 1;
    span.updates = 10;
    span.resolution = 0.005;
    EXPECT_TRUE(reaches(span, {}));
    for (const auto& change :
         {+[](EnergySpan& s) { s.seconds = 0.999; }, +[](EnergySpan& s) { s.updates = 9; },
          +[](EnergySpan& s) { s.resolution = 0.0051; }}) {
        EnergySpan less = span;
        change(less);
        EXPECT_FALSE(reaches(less, {}));
    }
    EXPECT_EQ(in_words(span), "10 updates of 100.0 ms, resolution 0.5 %");
}

}  // namespace
}  // namespace perfgate::model

// SPDX-License-Identifier: Apache-2.0
#include "model/unit.hpp"

#include <gtest/gtest.h>

namespace perfgate::model {
namespace {

Dimension of(const char* unit) {
    return meaning_of(unit).dimension;
}

TEST(Dimension, DividesAsUnitsDo) {
    EXPECT_EQ(of("bytes") / of("ns"), of("bytes/s"));
    EXPECT_EQ(of("flop/s") / of("flop/s"), Dimension{});
    EXPECT_EQ(of("flop") / of("bytes"), (Dimension{0, -1, 1}));
    EXPECT_EQ(of("J") / of("ns"), of("W"));
    EXPECT_EQ(of("flop") / of("J"), of("flop/J"));
    EXPECT_EQ((Dimension{1, 20, 300, 7}) / (Dimension{4000, 50000, 600000, 9}),
              (Dimension{-3999, -49980, -599700, -2}));
}

TEST(Dimension, ThatNoMetricHasIsSpelledOut) {
    EXPECT_EQ(unit_of(of("ns")), "ns");
    EXPECT_EQ(unit_of(of("ns") / of("bytes")), "s*bytes^-1");
    EXPECT_EQ(unit_of({0, -1, 2}), "bytes^-1*flop^2");
    EXPECT_EQ(unit_of({}), "");
}

}  // namespace
}  // namespace perfgate::model

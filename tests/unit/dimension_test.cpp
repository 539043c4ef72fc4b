// SPDX-License-Identifier: Apache-2.0
#include "model/dimension.hpp"

#include <gtest/gtest.h>

namespace perfgate::model {
namespace {

Dimension of(const char* unit) {
    return meaning_of(unit).dimension;
}

TEST(Dimension, MultipliesAndDividesAsUnitsDo) {
    EXPECT_EQ(of("bytes") / of("ns"), of("bytes/s"));
    EXPECT_EQ(of("bytes/s") * of("ns"), of("bytes"));
    EXPECT_EQ(of("flop/s") / of("flop/s"), Dimension{});
    EXPECT_EQ(of("bytes") / of("bytes"), Dimension{});
    EXPECT_EQ(of("flop/s") * of("ns") / of("bytes"), (Dimension{0, -1, 1}));
    EXPECT_EQ(of("W") * of("ns"), of("J"));
    EXPECT_EQ(of("flop") / of("J"), of("flop/J"));
    EXPECT_EQ(of("bytes/J") * of("J"), of("bytes"));
}

TEST(Dimension, ThatNoMetricHasIsSpelledOut) {
    EXPECT_EQ(unit_of(of("ns")), "ns");
    EXPECT_EQ(unit_of(of("ns") * of("ns") * of("bytes")), "s^2*bytes");
    EXPECT_EQ(unit_of({0, -1, 2}), "bytes^-1*flop^2");
    EXPECT_EQ(unit_of(of("J") * of("J")), "J^2");
    EXPECT_EQ(unit_of({}), "");
}

TEST(Dimension, EachPartAddsAndSubtractsForItself) {
    const Dimension left{1, 20, 300, 7};
    const Dimension right{4000, 50000, 600000, 9};
    EXPECT_EQ(left * right, (Dimension{4001, 50020, 600300, 16}));
    EXPECT_EQ(left / right, (Dimension{-3999, -49980, -599700, -2}));
}

}  // namespace
}  // namespace perfgate::model

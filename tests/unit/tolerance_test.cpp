// SPDX-License-Identifier: Apache-2.0
#include "model/metric.hpp"

#include <gtest/gtest.h>

namespace perfgate::model {
namespace {

TEST(ToleranceText, ReadsLikeTheSuite) {
    EXPECT_EQ(to_text(Tolerance{0.03, {}, 0}, "ns"), "3 %");
    EXPECT_EQ(to_text(Tolerance{0, {}, 0}, "registers"), "0 %");
    EXPECT_EQ(to_text(Tolerance{0.02, 0.1, 500}, "ns"), "worse 2 %, better 10 %, at least 500 ns");
    EXPECT_EQ(to_text(Tolerance{0.03, {}, 64}, "bytes"), "3 %, at least 64 bytes");
    Tolerance with_tail{0.03, {}, 0};
    with_tail.tail = 0.2;
    EXPECT_EQ(to_text(with_tail, "ns"), "3 %, its slowest tenth 20 %");
    with_tail.worse = 0;
    with_tail.abs = 500;
    EXPECT_EQ(to_text(with_tail, "ns"), "500 ns, its slowest tenth 20 %");
}

TEST(ToleranceText, HidesTheRoundingOfPercentages) {
    EXPECT_EQ(to_text(Tolerance{0.07, {}, 0}, "ns"), "7 %");
    EXPECT_EQ(to_text(Tolerance{0.0005, {}, 0}, "ns"), "0.05 %");
}

TEST(ToleranceText, DoesNotConfusePointsWithFractions) {
    EXPECT_EQ(to_text(Tolerance{0.05, {}, 2}, "%"), "5 %, at least 2 percentage points");
    EXPECT_EQ(to_text(Tolerance{0, {}, 2}, "%"), "2 percentage points");
    EXPECT_EQ(to_text(Tolerance{0.05, {}, 2}, "count"), "5 %, at least 2");
}

}  // namespace
}  // namespace perfgate::model

// SPDX-License-Identifier: Apache-2.0
#include "model/measured_as.hpp"

#include <gtest/gtest.h>

namespace perfgate::model {
namespace {

TEST(MeasuredAs, NamesTheKeysThatDifferWithBothValues) {
    const MeasuredAs before{{"command", "./app 4"}, {"env.MODE", "slow"}, {"measure", "nvtx step"}};
    MeasuredAs now = before;
    EXPECT_EQ(difference(before, now), "");
    now["command"] = "./app 5";
    EXPECT_EQ(difference(before, now), "command ./app 4 → ./app 5");
    now.erase("env.MODE");
    now["capture"] = "profiler_api";
    EXPECT_EQ(difference(before, now),
              "capture not stated → profiler_api, command ./app 4 → ./app 5, env.MODE slow → not "
              "stated");
    now["cwd"] = now["exit"] = "1";
    EXPECT_EQ(difference(before, now),
              "capture not stated → profiler_api, command ./app 4 → ./app 5, cwd not stated → 1, "
              "env.MODE slow → not stated and 1 more");
}

TEST(MeasuredAs, WhatEitherSideDoesNotKnowIsNoDifference) {
    const MeasuredAs known{{"command", "./app"}};
    EXPECT_EQ(difference({}, known), "");
    EXPECT_EQ(difference(known, {}), "");
}

TEST(MeasuredAs, AFurtherMetricIsNoOtherCase) {
    const MeasuredAs before{{"command", "./app"}, {"values.rate", "/rate"}};
    MeasuredAs now{{"command", "./app"}, {"values.misses", "/misses"}, {"work", "flops 2"}};
    EXPECT_EQ(difference(before, now), "");
    now["values.rate"] = "/other";
    EXPECT_EQ(difference(before, now), "values.rate /rate → /other");
}

TEST(MeasuredAs, LongValuesAreShortAndStillDiffer) {
    const std::string paths(500, 'a');
    const std::string other = paths.substr(1) + 'b';
    EXPECT_LT(shortened_value(paths).size(), 200U);
    EXPECT_NE(shortened_value(paths), shortened_value(other));
    EXPECT_EQ(shortened_value("./app"), "./app");
    EXPECT_EQ(difference({{"command", std::string(100, 'a') + "1"}},
                         {{"command", std::string(100, 'a') + "2"}}),
              "command …aaaaaaaaaaaaaaa1 → …aaaaaaaaaaaaaaa2");
    EXPECT_EQ(difference({{"command", "a\n1"}}, {{"command", "a\n2"}}), "command a?1 → a?2");
}

}  // namespace
}  // namespace perfgate::model

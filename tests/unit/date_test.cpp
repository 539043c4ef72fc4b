// SPDX-License-Identifier: Apache-2.0
#include "model/date.hpp"

#include <gtest/gtest.h>

namespace perfgate::model {
namespace {

TEST(Date, KnowsDaysThatExist) {
    EXPECT_TRUE(is_date("2026-12-31"));
    EXPECT_TRUE(is_date("2028-02-29"));
    for (const char* text : {"", "2026-02-29", "2026-13-01", "2026-00-10", "2026-1-1",
                             "2026-12-31 ", "26-12-31", "2026/12/31", "2026-12-3x", "tomorrow"}) {
        EXPECT_FALSE(is_date(text)) << text;
    }
}

TEST(Date, TakesTheDayOfATime) {
    EXPECT_EQ(date_of("2026-11-21T23:59:59Z"), "2026-11-21");
    EXPECT_EQ(date_of("2026-11-21"), "") << "no time";
    EXPECT_EQ(date_of("2026-11-99T10:00:00Z"), "");
    EXPECT_EQ(date_of(""), "");
}

TEST(Date, CountsTheDaysBetweenTwo) {
    EXPECT_EQ(days_between("2026-11-22", "2026-11-22"), 0);
    EXPECT_EQ(days_between("2026-12-31", "2027-01-01"), 1);
    EXPECT_EQ(days_between("2028-02-28", "2028-03-01"), 2);
    EXPECT_EQ(days_between("2026-11-23", "2026-11-22"), -1);
    EXPECT_EQ(days_between("2026-11-22", "9999-12-31"), 2'912'117);
}

}  // namespace
}  // namespace perfgate::model

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

TEST(Date, WritesATimeOfIso8601AsUtc) {
    EXPECT_EQ(utc_of("2026-11-21T10:00:00Z"), "2026-11-21T10:00:00Z");
    EXPECT_EQ(utc_of("2026-11-21 10:00:00"), "2026-11-21T10:00:00Z");
    EXPECT_EQ(utc_of("2026-11-21T10:00:00.123456"), "2026-11-21T10:00:00Z");
    EXPECT_EQ(utc_of("2026-12-31T23:30:00-01:30"), "2027-01-01T01:00:00Z");
    EXPECT_EQ(utc_of("2026-01-01T00:00:01.5+0900"), "2025-12-31T15:00:01Z");
    for (const char* text :
         {"", "2026-11-21", "2026-11-21T10:00", "2026-13-21T10:00:00Z", "2026-11-21T24:00:00Z",
          "2026-11-21T10:00:00.", "2026-11-21T10:00:00+9", "2026-11-21T10:00:00+09:0x",
          "2026-11-21T10:00:00ZZ", "0000-01-01T00:00:00+23:59", "2026-11-21T1x:00:00Z",
          "2026-11-21x10:00:00Z", "today"}) {
        EXPECT_EQ(utc_of(text), std::nullopt) << text;
    }
}

TEST(Date, CountsTheDaysBetweenTwo) {
    EXPECT_EQ(days_between("2026-11-22", "2026-11-22"), 0);
    EXPECT_EQ(days_between("2026-12-31", "2027-01-01"), 1);
    EXPECT_EQ(days_between("2028-02-28", "2028-03-01"), 2);
    EXPECT_EQ(days_between("2026-11-23", "2026-11-22"), -1);
    EXPECT_EQ(days_between("2026-11-22", "9999-12-31"), 2'912'117);
}

TEST(Date, IsOfDigitsAlone) {
    for (const char* text :
         {"202/-12-31", "202:-12-31", "2026-12-3/", "2026-12-3:", "2026-12-31T"}) {
        EXPECT_FALSE(is_date(text)) << text;
    }
    EXPECT_TRUE(is_date("0000-09-09"));
    EXPECT_TRUE(is_date("1999-10-10"));
    EXPECT_EQ(date_of("2026-11-21 10:00:00"), "");
    EXPECT_EQ(date_of("2026-11-21T"), "2026-11-21");
    EXPECT_EQ(days_between("2025-11-22", "2026-10-21"), 333);
}

}  // namespace
}  // namespace perfgate::model

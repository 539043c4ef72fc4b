// SPDX-License-Identifier: Apache-2.0
#include "suite/amount.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "suite_catalogue.hpp"

namespace perfgate::suite {
namespace {

struct Read {
    std::optional<Amount> amount;
    std::string problems;
};

YamlNode scalar(std::string_view text, bool plain = true) {
    YamlNode node;
    node.kind = YamlNode::Kind::scalar;
    node.text = text;
    node.plain = plain;
    return node;
}

std::optional<Amount> amount_of(std::string_view text, bool plain = true) {
    Problems problems("f");
    auto amount = read_amount(scalar(text, plain), "x", problems);
    EXPECT_EQ(amount.has_value(), problems.count() == 0) << text;
    return amount;
}

std::optional<double> fraction_of(std::string_view text) {
    Problems problems("f");
    auto fraction = read_fraction(scalar(text), "x", problems);
    EXPECT_EQ(fraction.has_value(), problems.count() == 0) << text;
    return fraction;
}

TEST(SuiteAmount, ConvertsToTheMetricsUnit) {
    const struct {
        const char* text;
        const char* unit;
        double value;
    } table[] = {{"0.5us", "ns", 500},
                 {"2 ms", "ns", 2e6},
                 {"1s", "ns", 1e9},
                 {"7ns", "ns", 7},
                 {"16B", "bytes", 16},
                 {"2KiB", "bytes", 2048},
                 {"1.5 MiB", "bytes", 1572864},
                 {"1GiB", "bytes", 1073741824},
                 {"2KB", "bytes", 2000},
                 {"3MB", "bytes", 3e6},
                 {"1GB", "bytes", 1e9},
                 {"1.5GHz", "Hz", 1.5e9},
                 {"2 GB/s", "bytes/s", 2e9},
                 {"3%", "%", 3},
                 {"12", "registers", 12},
                 {"0x10", "count", 16},
                 {"1e3ns", "ns", 1000},
                 {".5us", "ns", 500}};
    for (const auto& row : table) {
        const auto amount = amount_of(row.text);
        ASSERT_TRUE(amount) << row.text;
        EXPECT_EQ(in_unit(*amount, row.unit), row.value) << row.text;
    }
}

TEST(SuiteAmount, TakesAUnitInQuotesToo) {
    EXPECT_EQ(in_unit(amount_of("3us", false).value(), "ns"), 3000);
}

TEST(SuiteAmount, DoesNotConvertWhatMeasuresSomethingElse) {
    EXPECT_EQ(in_unit(amount_of("1us").value(), "bytes"), std::nullopt);
    EXPECT_EQ(in_unit(amount_of("1B").value(), "ns"), std::nullopt);
    EXPECT_EQ(in_unit(amount_of("1%").value(), "count"), std::nullopt);
    EXPECT_EQ(in_unit(amount_of("1ns").value(), ""), std::nullopt);
}

TEST(SuiteAmount, DoesNotConvertPastWhatADoubleHolds) {
    EXPECT_EQ(in_unit(amount_of("1e308s").value(), "ns"), std::nullopt);
}

TEST(SuiteAmount, RefusesWhatIsNoAmount) {
    for (const char* text :
         {"-1",        "-3%",   "-0.5us",  ".nan",  ".inf",  "-.inf", "nan%", "inf us",
          "infus",     "1e999", "1e999%",  "3 %%",  "3  us", "us",    "%",    "",
          "3 parsecs", "3US",   "0x1p3us", "1,5us", "3us ",  "true",  "3e%"}) {
        EXPECT_FALSE(amount_of(text)) << text;
    }
}

TEST(SuiteAmount, ReadsAFractionAsPercentageOrPlainNumber) {
    EXPECT_EQ(fraction_of("3%"), 0.03);
    EXPECT_EQ(fraction_of("3 %"), 0.03);
    EXPECT_EQ(fraction_of("250%"), 2.5);
    EXPECT_EQ(fraction_of("0.03"), 0.03);
    EXPECT_EQ(fraction_of("0"), 0.0);
    EXPECT_EQ(fraction_of("0.999"), 0.999);
}

TEST(SuiteAmount, ReadsAPercentageUpToTheMost) {
    EXPECT_EQ(fraction_of("10000%"), 100.0);
    EXPECT_FALSE(fraction_of("10000.1%"));
}

TEST(SuiteAmount, AUnitEndsWhereItsWordDoes) {
    for (const char* text : {"us0", "us9", "usa", "usz", "usA", "usZ", "us_"}) {
        std::string_view rest = text;
        EXPECT_FALSE(take_unit(rest)) << text;
        EXPECT_EQ(rest, text);
    }
    std::string_view rest = "us)";
    EXPECT_EQ(take_unit(rest)->suffix, "us");
    EXPECT_EQ(rest, ")");
    rest = "GB/s";
    EXPECT_EQ(take_unit(rest)->suffix, "GB/s");
}

TEST(SuiteAmount, RefusesAPlainNumberOfOneOrMoreAsAFraction) {
    for (const char* text : {"1", "1.0", "1e0", "1."}) {
        EXPECT_FALSE(fraction_of(text)) << text;
    }
    EXPECT_FALSE(fraction_of("2"));
    EXPECT_FALSE(fraction_of("1.01"));
    EXPECT_FALSE(fraction_of("2us"));
}

}  // namespace
}  // namespace perfgate::suite

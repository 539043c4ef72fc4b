// SPDX-License-Identifier: Apache-2.0
#include "model/quantity.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace perfgate::model {
namespace {

TEST(Quantity, ScalesToTheUnitThatPeopleRead) {
    EXPECT_EQ(quantity_text(12340, "ns"), "12.34 µs");
    EXPECT_EQ(quantity_text(13600, "ns"), "13.60 µs");
    EXPECT_EQ(quantity_text(950.25, "ns"), "950.2 ns");
    EXPECT_EQ(quantity_text(2.5e9, "ns"), "2.500 s");
    EXPECT_EQ(quantity_text(1536, "bytes"), "1.500 KiB");
    EXPECT_EQ(quantity_text(3.0 * 1024 * 1024 * 1024, "bytes"), "3.000 GiB");
    EXPECT_EQ(quantity_text(3.27e12, "bytes/s"), "3.270 TB/s");
    EXPECT_EQ(quantity_text(1.755e9, "Hz"), "1.755 GHz");
    EXPECT_EQ(quantity_text(44e12, "flop/s"), "44.00 Tflop/s");
    EXPECT_EQ(quantity_text(45.2, "%"), "45.20 %");
}

TEST(Quantity, RoundingNeverShowsAThousandOfTheSmallerUnit) {
    EXPECT_EQ(quantity_text(999.94, "ns"), "999.9 ns");
    EXPECT_EQ(quantity_text(999.96, "ns"), "1.000 µs");
    EXPECT_EQ(quantity_text(9.99996, "ns"), "10.00 ns");
    EXPECT_EQ(quantity_text(1023 * 1024.0, "bytes"), "1023 KiB");
}

TEST(Quantity, CountsKeepEveryDigit) {
    EXPECT_EQ(quantity_text(64, "registers"), "64");
    EXPECT_EQ(quantity_text(4294967297.0, "count"), "4,294,967,297");
    EXPECT_EQ(quantity_text(-10000, "count"), "-10,000");
    EXPECT_EQ(quantity_text(9999, "count"), "9999");
    EXPECT_EQ(quantity_text(768, "bytes"), "768 B");
    EXPECT_EQ(quantity_text(2.5, "count"), "2.500");
}

TEST(Quantity, ZeroNegativeTinyAndHugeValues) {
    EXPECT_EQ(quantity_text(0, "ns"), "0 ns");
    EXPECT_EQ(quantity_text(-0.0, "count"), "0");
    EXPECT_EQ(quantity_text(-12340, "ns"), "-12.34 µs");
    EXPECT_EQ(quantity_text(0.25, "ns"), "0.25 ns");
    EXPECT_EQ(quantity_text(1e-300, "ns"), "1e-300 ns");
    EXPECT_EQ(quantity_text(1e300, "ns"), "1e+291 s");
    EXPECT_EQ(quantity_text(std::numeric_limits<double>::infinity(), "ns"), "inf ns");
}

TEST(Quantity, AForeignUnitIsAppendedAndMadePrintable) {
    EXPECT_EQ(quantity_text(12, "sector"), "12 sector");
    EXPECT_EQ(quantity_text(1.5, "a\x1b[31mb"), "1.500 a?[31mb");
    EXPECT_EQ(quantity_text(1.5, ""), "1.500");
}

TEST(QuantityPair, DifferentValuesNeverLookTheSame) {
    const QuantityTexts close = quantity_texts(12340.1, 12340.2, "ns");
    EXPECT_EQ(close.before, "12.3401 µs");
    EXPECT_EQ(close.after, "12.3402 µs");
    const QuantityTexts closer = quantity_texts(60793.99227430556, 60793.99327430556, "ns");
    EXPECT_EQ(closer.before, "60.793992 µs");
    EXPECT_EQ(closer.after, "60.793993 µs");
    const QuantityTexts ratio = quantity_texts(0.9999996452453931, 1.0000010963109303, "ratio");
    EXPECT_EQ(ratio.before, "0.9999996");
    EXPECT_EQ(ratio.after, "1.000001");
    const QuantityTexts mebibytes = quantity_texts(138118656, 138094592, "bytes");
    EXPECT_EQ(mebibytes.before, "131.72 MiB");
    EXPECT_EQ(mebibytes.after, "131.70 MiB");
    const QuantityTexts bytes = quantity_texts(1048576, 1048577, "bytes");
    EXPECT_EQ(bytes.before, "1,048,576 B");
    EXPECT_EQ(bytes.after, "1,048,577 B");
    const QuantityTexts equal = quantity_texts(12340, 12340, "ns");
    EXPECT_EQ(equal.before, "12.34 µs");
    EXPECT_EQ(equal.after, "12.34 µs");
}

TEST(Change, IsASignedPercentage) {
    EXPECT_EQ(change_text(0.1021), "+10.2 %");
    EXPECT_EQ(change_text(-0.004), "-0.4 %");
    EXPECT_EQ(change_text(0), "0.0 %");
    EXPECT_EQ(change_text(0.00003), "+0.003 %") << "a small change keeps a digit";
    EXPECT_EQ(change_text(-0.00003), "-0.003 %");
    EXPECT_EQ(change_text(99), "+9900.0 %");
    EXPECT_EQ(change_text(1e9), "+1e+11 %");
}

TEST(Change, IsAbsentWhereThereIsNoFraction) {
    EXPECT_EQ(change_fraction(0, 5), std::nullopt);
    EXPECT_EQ(change_fraction(0, 0), std::nullopt);
    EXPECT_EQ(change_fraction(5e-324, 1e300), std::nullopt);
    EXPECT_DOUBLE_EQ(change_fraction(100, 110).value(), 0.1);
    EXPECT_DOUBLE_EQ(change_fraction(-100, -90).value(), 0.1) << "a rise, whatever the sign";
}

TEST(Quantity, EveryUnitHasItsSteps) {
    struct Example {
        double value;
        const char* unit;
        const char* text;
    };
    const std::vector<Example> examples = {
        {5.5, "ns", "5.500 ns"},
        {5e3, "ns", "5.000 µs"},
        {5e6, "ns", "5.000 ms"},
        {5e9, "ns", "5.000 s"},
        {0.5, "bytes", "0.5 B"},
        {1024, "bytes", "1.000 KiB"},
        {1024.0 * 1024, "bytes", "1.000 MiB"},
        {1024.0 * 1024 * 1024, "bytes", "1.000 GiB"},
        {1024.0 * 1024 * 1024 * 1024, "bytes", "1.000 TiB"},
        {5, "bytes/s", "5.000 B/s"},
        {5e3, "bytes/s", "5.000 kB/s"},
        {5e6, "bytes/s", "5.000 MB/s"},
        {5e9, "bytes/s", "5.000 GB/s"},
        {5e12, "bytes/s", "5.000 TB/s"},
        {5, "Hz", "5.000 Hz"},
        {5e3, "Hz", "5.000 kHz"},
        {5e6, "Hz", "5.000 MHz"},
        {5e9, "Hz", "5.000 GHz"},
        {5, "flop", "5.000 flop"},
        {5e3, "flop", "5.000 kflop"},
        {5e6, "flop", "5.000 Mflop"},
        {5e9, "flop", "5.000 Gflop"},
        {5e12, "flop", "5.000 Tflop"},
        {5, "flop/s", "5.000 flop/s"},
        {5e3, "flop/s", "5.000 kflop/s"},
        {5e6, "flop/s", "5.000 Mflop/s"},
        {5e9, "flop/s", "5.000 Gflop/s"},
        {1.5, "ratio", "1.500"},
        {7, "ratio", "7"},
        {7, "%", "7.000 %"},
        {std::numeric_limits<double>::infinity(), "bytes", "inf B"},
    };
    for (const Example& example : examples) {
        EXPECT_EQ(quantity_text(example.value, example.unit), example.text);
    }
}

TEST(Quantity, HasFourDigitsWhereverThePointIs) {
    struct Example {
        double value;
        const char* text;
    };
    const std::vector<Example> examples = {
        {0.99994, "0.9999"}, {0.99996, "1.000"}, {9.9994, "9.999"},  {9.9996, "10.00"},
        {99.994, "99.99"},   {99.996, "100.0"},  {999.94, "999.9"},  {999.96, "1000"},
        {12345.6, "12346"},  {0.5, "0.5"},       {-9.9996, "-10.00"}};
    for (const Example& example : examples) {
        EXPECT_EQ(quantity_text(example.value, ""), example.text);
    }
}

TEST(Change, KeepsADigitFromTheFirstThatRoundsToATenth) {
    EXPECT_EQ(change_text(0.0005), "+0.1 %");
    EXPECT_EQ(change_text(0.00049), "+0.05 %");
    EXPECT_EQ(change_text(9999), "+999900.0 %");
    EXPECT_EQ(change_text(10000), "+1e+06 %");
}

TEST(DetectedText, NeverClaimsLessThanTheMinimumDetectableChange) {
    EXPECT_EQ(detected_text(0.04), "≥ 4 %");
    EXPECT_EQ(detected_text(0.0412), "≥ 4.2 %");
    EXPECT_EQ(detected_text(0.1001), "≥ 11 %");
    EXPECT_EQ(detected_text(11), "no change below 1000 %");
}

TEST(QuantityText, EnergiesScaleFromNanojoules) {
    EXPECT_EQ(quantity_text(2.5e-6, "J"), "2.500 µJ");
    EXPECT_EQ(quantity_text(0.45, "J"), "450.0 mJ");
    EXPECT_EQ(quantity_text(1.5, "J"), "1.500 J");
    EXPECT_EQ(quantity_text(2e3, "J"), "2.000 kJ");
    EXPECT_EQ(quantity_text(0, "J"), "0 nJ");
    EXPECT_EQ(quantity_text(412.34, "W"), "412.3 W");
    EXPECT_EQ(quantity_text(1.2e12, "flop/J"), "1.200 Tflop/J");
    EXPECT_EQ(quantity_text(6e9, "bytes/J"), "6.000 GB/J");
}

}  // namespace
}  // namespace perfgate::model

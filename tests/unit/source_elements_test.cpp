// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kinds/source/values/elements.hpp"

namespace perfgate::backend {
namespace {

using model::ElementType;
using model::SourceArgument;
using Fill = SourceArgument::Fill;
using Role = SourceArgument::Role;

template <class T>
Bytes bytes_of_values(const std::vector<T>& values) {
    const auto* begin = reinterpret_cast<const Bytes::value_type*>(values.data());
    return Bytes(begin, begin + values.size() * sizeof(T));
}

template <class T>
std::vector<T> values_of(const Bytes& bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

Elements floats(const std::vector<float>& values) {
    return {ElementType::f32, bytes_of_values(values)};
}
Elements integers(const std::vector<std::int32_t>& values) {
    return {ElementType::i32, bytes_of_values(values)};
}

model::SourceCheck within(double rtol, double atol) {
    return {model::SourceCheck::Kind::kernel, "ref", rtol, atol};
}

std::uint16_t half_bits(float value) {
    const Half half(value);
    std::uint16_t bits = 0;
    std::memcpy(&bits, &half, 2);
    return bits;
}

TEST(SmallFloats, HalvesRoundToNearestEven) {
    EXPECT_EQ(half_bits(1), 0x3c00);
    EXPECT_EQ(half_bits(-2), 0xc000);
    EXPECT_EQ(half_bits(0), 0);
    EXPECT_EQ(half_bits(-0.0F), 0x8000);
    EXPECT_EQ(half_bits(65504), 0x7bff);
    EXPECT_EQ(half_bits(65519.99F), 0x7bff);
    EXPECT_EQ(half_bits(65520), 0x7c00);
    EXPECT_EQ(half_bits(1 + 1.0F / 2048), 0x3c00);  // a tie, to even
    EXPECT_EQ(half_bits(1 + 3.0F / 2048), 0x3c02);  // a tie, to even
    EXPECT_EQ(half_bits(1 + 1.001F / 2048), 0x3c01);
    EXPECT_EQ(half_bits(2047.9F / 1024), 0x4000);  // carries into the exponent
    EXPECT_EQ(half_bits(std::ldexp(1.0F, -24)), 1);
    EXPECT_EQ(half_bits(std::ldexp(1.0F, -25)), 0);
    EXPECT_EQ(half_bits(std::ldexp(1023.9F, -24)), 0x400);
    EXPECT_EQ(half_bits(std::numeric_limits<float>::infinity()), 0x7c00);
    EXPECT_EQ(half_bits(std::numeric_limits<float>::quiet_NaN()) & 0x7c00, 0x7c00);
}

TEST(SmallFloats, EveryHalfSurvives) {
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
        const auto pattern = static_cast<std::uint16_t>(bits);
        Half half;
        std::memcpy(static_cast<void*>(&half), &pattern, 2);
        const auto value = static_cast<float>(half);
        if (std::isnan(value)) {
            EXPECT_EQ(bits & 0x7c00, 0x7c00U);
            continue;
        }
        EXPECT_EQ(half_bits(value), pattern);
    }
}

TEST(SmallFloats, BfloatsRoundToNearestEven) {
    EXPECT_EQ(static_cast<float>(Bfloat16(1.0F)), 1.0F);
    EXPECT_EQ(static_cast<float>(Bfloat16(1.00390625F)), 1.0F);  // a tie
    EXPECT_EQ(static_cast<float>(Bfloat16(1.01171875F)), 1.015625F);
    EXPECT_TRUE(std::isnan(static_cast<float>(Bfloat16(std::nanf("")))));
    EXPECT_TRUE(std::isinf(static_cast<float>(Bfloat16(3.4e38F))));
}

TEST(SourceContent, UniformIsTheSeedsAndEachOperandsOwn) {
    const SourceArgument argument{Role::in, ElementType::f32, 1000, Fill::uniform, 0, 0};
    const auto first = values_of<float>(content_of(argument, 7, 1));
    EXPECT_EQ(first, values_of<float>(content_of(argument, 7, 1)));
    EXPECT_NE(first, values_of<float>(content_of(argument, 8, 1)));
    EXPECT_NE(first, values_of<float>(content_of(argument, 7, 2)));
    for (const float value : first) {
        EXPECT_GE(value, -1);
        EXPECT_LT(value, 1);
    }
    EXPECT_NE(first.front(), first.back());
    const SourceArgument bytes{Role::in, ElementType::u8, 1000, Fill::uniform, 0, 0};
    for (const std::uint8_t value : values_of<std::uint8_t>(content_of(bytes, 7, 1))) {
        EXPECT_LT(value, 100);
    }
}

TEST(SourceContent, IotaCountsWhatTheTypeHolds) {
    const SourceArgument small{Role::in, ElementType::i8, 130, Fill::iota, 0, 0};
    const auto counted = values_of<std::int8_t>(content_of(small, 0, 1));
    EXPECT_EQ(counted[127], 127);
    EXPECT_EQ(counted[128], 0);
    const SourceArgument half{Role::in, ElementType::f16, 2050, Fill::iota, 0, 0};
    const auto halves = values_of<Half>(content_of(half, 0, 1));
    EXPECT_EQ(static_cast<float>(halves[2047]), 2047);
    EXPECT_EQ(static_cast<float>(halves[2049]), 1);
}

TEST(SourceContent, ConstantsAndValues) {
    const SourceArgument constant{Role::in, ElementType::i64, 2, Fill::constant, -5, 0};
    EXPECT_EQ(values_of<std::int64_t>(content_of(constant, 3, 1)),
              (std::vector<std::int64_t>{-5, -5}));
    const SourceArgument unsigned_value{Role::value,   ElementType::u32, 1,
                                        Fill::uniform, 4'000'000'000,    0};
    EXPECT_EQ(values_of<std::uint32_t>(value_of(unsigned_value)),
              std::vector<std::uint32_t>{4'000'000'000});
    const SourceArgument real{Role::value, ElementType::f64, 1, Fill::uniform, 0, 0.1};
    EXPECT_EQ(values_of<double>(value_of(real)), std::vector<double>{0.1});
    EXPECT_EQ(value_of({Role::value, ElementType::f32, 1, Fill::uniform, 0, 0.1}).size(), 4U);
}

TEST(SourceCompare, FloatsWithinTheTolerances) {
    EXPECT_TRUE(compare(floats({1, 2}), floats({1, 2}), within(0, 0), 1).passed);
    EXPECT_TRUE(compare(floats({1.00001F}), floats({1}), within(1e-4, 0), 1).passed);
    const model::Verification wrong =
        compare(floats({1, 2, 3}), floats({1, 2.5, 4}), within(1e-4, 0), 1);
    EXPECT_FALSE(wrong.passed);
    EXPECT_NE(wrong.detail.find("element 1 is 2, expected 2.5"), std::string::npos);
    EXPECT_NE(wrong.detail.find("2 wrong"), std::string::npos);
    EXPECT_TRUE(compare(floats({1e-9F}), floats({0}), within(0, 1e-6), 1).passed);
    EXPECT_FALSE(compare(floats({1e-9F}), floats({0}), within(0.5, 0), 1).passed);
}

TEST(SourceCompare, PoisonIsNeverRight) {
    const float poison = std::nanf("");
    EXPECT_FALSE(compare(floats({poison}), floats({1}), within(0.5, 1e30), 1).passed);
    EXPECT_FALSE(compare(floats({poison}), floats({poison}), within(0.5, 1e30), 1).passed);
    // What neither kernel writes: 0xFF bytes here, 0xFE bytes there.
    for (const ElementType type : {ElementType::f16, ElementType::bf16, ElementType::f32,
                                   ElementType::f64, ElementType::i8, ElementType::u64}) {
        const auto size = static_cast<std::size_t>(model::bytes_of(type));
        const Elements left{type, Bytes(4 * size, std::byte{0xff})};
        const Elements right{type, Bytes(4 * size, std::byte{0xfe})};
        EXPECT_FALSE(compare(left, right, within(0.5, 0), 1).passed) << to_text(type);
    }
}

TEST(SourceCompare, IntegersAreEqualOrWrong) {
    EXPECT_TRUE(compare(integers({1, -2}), integers({1, -2}), within(0, 0), 1).passed);
    const model::Verification wrong =
        compare(integers({1, -2}), integers({1, -3}), within(0.5, 100), 1);
    EXPECT_FALSE(wrong.passed);
    EXPECT_NE(wrong.detail.find("element 1 is -2, expected -3"), std::string::npos);
    // Beyond what a double holds exactly.
    const std::vector<std::int64_t> big{9007199254740993};
    const std::vector<std::int64_t> other{9007199254740992};
    const Elements left{ElementType::i64, bytes_of_values(big)};
    const Elements right{ElementType::i64, bytes_of_values(other)};
    EXPECT_FALSE(compare(left, right, within(0, 0), 1).passed);
    // Another type of what is expected.
    EXPECT_FALSE(compare(integers({3}), floats({3}), within(0, 0), 1).passed);
    EXPECT_FALSE(compare(integers({3}), floats({3.5}), within(0, 0), 1).passed);
}

TEST(SourceCompare, OtherSizesAreWrong) {
    const model::Verification wrong = compare(floats({1}), floats({1, 2}), within(0.5, 1), 1);
    EXPECT_FALSE(wrong.passed);
    EXPECT_EQ(wrong.seed, 0U) << "no input decided it";
}

TEST(SourceCompare, NothingIsNotRight) {
    EXPECT_FALSE(compare(floats({}), floats({}), within(0.5, 1), 1).passed);
    EXPECT_FALSE(compare(integers({}), integers({}), within(0.5, 1), 1).passed);
}

TEST(SourceCompare, IntegersBeyondTheFirstChunkAreCompared) {
    std::vector<std::int32_t> values((1 << 20) + 3, 5);
    const Elements expected = integers(values);
    EXPECT_TRUE(compare(integers(values), expected, within(0, 0), 1).passed);
    values.back() = 6;
    const model::Verification wrong = compare(integers(values), expected, within(0, 0), 1);
    EXPECT_FALSE(wrong.passed);
    EXPECT_NE(wrong.detail.find("element 1048578 is 6, expected 5; 1 of 1048579"),
              std::string::npos);
}

}  // namespace
}  // namespace perfgate::backend

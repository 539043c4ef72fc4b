// SPDX-License-Identifier: Apache-2.0
#include "common/inputs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <set>

#include "common/kept.hpp"

namespace {

TEST(CommonKept, ForgetsOthersWhereThereIsNoRoomAndKeepsNothingThatIsTooLarge) {
    common::Kept<int, int> kept(10);
    EXPECT_EQ(kept.find(1), nullptr);
    kept.keep(1, std::make_shared<int>(11), 6);
    kept.keep(2, std::make_shared<int>(22), 4);
    kept.keep(2, std::make_shared<int>(23), 4);  // made twice: the first stays
    ASSERT_NE(kept.find(1), nullptr);
    ASSERT_NE(kept.find(2), nullptr);
    EXPECT_EQ(*kept.find(2), 22);
    kept.keep(3, std::make_shared<int>(33), 11);
    EXPECT_EQ(kept.find(3), nullptr);
    const auto held = kept.find(1);
    kept.keep(4, std::make_shared<int>(44), 1);
    EXPECT_EQ(kept.find(1), nullptr);
    ASSERT_NE(kept.find(4), nullptr);
    EXPECT_EQ(*held, 11);
}

TEST(CommonF16, EveryFiniteValueSurvivesWideningAndRounding) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        if ((bits & 0x7c00u) == 0x7c00u) continue;  // infinities and NaN
        const auto half = static_cast<std::uint16_t>(bits);
        ASSERT_EQ(common::f16_from_float(common::float_from_f16(half)), half) << bits;
    }
}

TEST(CommonF16, RoundsToNearestAndTiesToEven) {
    EXPECT_EQ(common::f16_from_float(1.0f), 0x3c00);
    EXPECT_EQ(common::f16_from_float(-2.0f), 0xc000);
    EXPECT_EQ(common::f16_from_float(1.0f + 0x1p-11f), 0x3c00);      // tie, down to even
    EXPECT_EQ(common::f16_from_float(1.0f + 3 * 0x1p-11f), 0x3c02);  // tie, up to even
    EXPECT_EQ(common::f16_from_float(1.0f + 0x1p-11f + 0x1p-20f), 0x3c01);
    EXPECT_EQ(common::f16_from_float(65504.0f), 0x7bff);
    EXPECT_EQ(common::f16_from_float(65520.0f), 0x7c00);  // beyond the largest
    EXPECT_EQ(common::f16_from_float(0x1p-24f), 0x0001);  // least subnormal
    EXPECT_EQ(common::f16_from_float(0x1p-25f), 0x0000);  // tie, down to zero
    EXPECT_EQ(common::f16_from_float(3 * 0x1p-26f), 0x0001);
}

TEST(CommonBf16, RoundsToNearestAndTiesToEven) {
    EXPECT_EQ(common::bf16_from_float(1.0f), 0x3f80);
    EXPECT_EQ(common::bf16_from_float(1.0f + 0x1p-8f), 0x3f80);
    EXPECT_EQ(common::bf16_from_float(1.0f + 3 * 0x1p-8f), 0x3f82);
    EXPECT_EQ(common::float_from_bf16(0xbf80), -1.0f);
}

TEST(CommonTf32, KeepsTenMantissaBits) {
    EXPECT_EQ(common::round_to_tf32(1.0f + 0x1p-10f), 1.0f + 0x1p-10f);
    EXPECT_EQ(common::round_to_tf32(1.0f + 0x1p-11f), 1.0f);
    EXPECT_EQ(common::round_to_tf32(-1.0f - 3 * 0x1p-11f), -1.0f - 0x1p-9f);
}

TEST(CommonE4m3, EveryValueSurvivesWideningAndRounding) {
    for (std::uint32_t bits = 0; bits < 0x100; ++bits) {
        if ((bits & 0x7fu) == 0x7fu) continue;  // NaN
        const auto byte = static_cast<std::uint8_t>(bits);
        ASSERT_EQ(common::e4m3_from_float(common::float_from_e4m3(byte)), byte) << bits;
    }
    EXPECT_TRUE(std::isnan(common::float_from_e4m3(0x7f)));
}

TEST(CommonE4m3, RoundsToNearestAndTiesToEven) {
    EXPECT_EQ(common::e4m3_from_float(1.0f), 0x38);
    EXPECT_EQ(common::e4m3_from_float(-2.0f), 0xc0);
    EXPECT_EQ(common::e4m3_from_float(1.0f + 0x1p-4f), 0x38);      // tie, down to even
    EXPECT_EQ(common::e4m3_from_float(1.0f + 3 * 0x1p-4f), 0x3a);  // tie, up to even
    EXPECT_EQ(common::e4m3_from_float(1.0f + 0x1p-4f + 0x1p-20f), 0x39);
    EXPECT_EQ(common::e4m3_from_float(447.0f), 0x7e);
    EXPECT_EQ(common::e4m3_from_float(1e9f), 0x7e);      // beyond the largest
    EXPECT_EQ(common::e4m3_from_float(0x1p-9f), 0x01);   // least subnormal
    EXPECT_EQ(common::e4m3_from_float(0x1p-10f), 0x00);  // tie, down to zero
    EXPECT_EQ(common::e4m3_from_float(3 * 0x1p-11f), 0x01);
    EXPECT_EQ(common::e4m3_from_float(0x1p-6f - 0x1p-30f), 0x08);  // up to the least normal
}

TEST(CommonInputs, AreUniformInTheirRange) {
    const std::uint64_t key = common::stream_key(7, 1);
    constexpr int kCount = 1 << 20;
    double sum = 0.0;
    double squares = 0.0;
    for (int i = 0; i < kCount; ++i) {
        const double value = common::uniform(key, static_cast<std::uint64_t>(i));
        ASSERT_GE(value, -1.0);
        ASSERT_LT(value, 1.0);
        sum += value;
        squares += value * value;
    }
    EXPECT_NEAR(sum / kCount, 0.0, 0.003);  // five standard deviations
    EXPECT_NEAR(squares / kCount, 1.0 / 3.0, 0.002);
}

TEST(CommonInputs, DifferBetweenSeedsAndOperands) {
    std::set<float> values;
    for (std::uint64_t seed : {0, 1, 2}) {
        for (std::uint64_t operand : {1, 2}) {
            for (std::uint64_t i = 0; i < 8; ++i) {
                values.insert(common::uniform(common::stream_key(seed, operand), i));
            }
        }
    }
    EXPECT_EQ(values.size(), 48u);
}

TEST(CommonInputs, APartIsTheSameAsThatPartOfTheWhole) {
    float whole[64];
    float part[8];
    common::fill_host_widened(whole, common::Dtype::kBf16, 2, 3, 0, 64);
    common::fill_host_widened(part, common::Dtype::kBf16, 2, 3, 40, 8);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(part[i], whole[40 + i]);
}

TEST(CommonUnfilled, LargeVectorsTakeTheMemoryOfEarlierOnes) {
    constexpr std::size_t large = common::UsedMemory::kLeast;
    const float* first = nullptr;
    {
        common::UnfilledVector<float> values(large);
        first = values.data();
        values.back() = 1;
    }
    common::UnfilledVector<std::uint8_t> bytes(3 * large);
    EXPECT_EQ(static_cast<const void*>(bytes.data()), first);
    common::UnfilledVector<float> other(large);  // what is in use is nobody else's
    EXPECT_NE(other.data(), first);
    bytes.back() = 2;
    other.back() = 3;
    common::UnfilledVector<float> longer(other);
    longer.resize(2 * large);
    EXPECT_EQ(longer[large - 1], 3);
}

TEST(CommonUnfilled, UsedMemoryIsKeptUpToALimitAndGivenOnlyToWhatNeedsMostOfIt) {
    common::UsedMemory memory;
    std::size_t bytes = 100;
    EXPECT_EQ(memory.take(bytes), nullptr);
    void* const small = ::operator new(100);
    memory.give(small, 100);
    bytes = 49;
    EXPECT_EQ(memory.take(bytes), nullptr) << "more than half would be too much";
    bytes = 101;
    EXPECT_EQ(memory.take(bytes), nullptr);
    bytes = 90;
    EXPECT_EQ(memory.take(bytes), small);
    EXPECT_EQ(bytes, 100u);
    memory.give(small, 100);
    memory.give(::operator new(1), common::UsedMemory::kMost);  // the largest goes first
    bytes = common::UsedMemory::kMost;
    EXPECT_EQ(memory.take(bytes), nullptr);
    bytes = 100;
    EXPECT_EQ(memory.take(bytes), small);
    ::operator delete(small);
}

}  // namespace

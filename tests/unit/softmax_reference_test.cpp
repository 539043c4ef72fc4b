// SPDX-License-Identifier: Apache-2.0
#include "softmax/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "common/inputs.hpp"

namespace {

using common::Dtype;
using softmax::Problem;

constexpr std::uint64_t kSeed = 5;

std::vector<float> softmax_of(const std::vector<float>& x) {
    std::vector<float> y(x.size());
    softmax::softmax_reference({1, static_cast<int>(x.size()), Dtype::kF32}, x.data(), y.data());
    return y;
}

std::vector<float> some_row(int width) {
    std::vector<float> x(static_cast<std::size_t>(width));
    softmax::fill_logits({1, width, Dtype::kF32}, kSeed, x.data());
    return x;
}

double sum_of(const std::vector<float>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(Softmax, RowsSumToOne) {
    for (const int width : {1, 2, 31, 128, 1023, 4096}) {
        EXPECT_NEAR(sum_of(softmax_of(some_row(width))), 1.0, 1e-6) << width;
    }
}

TEST(Softmax, DoesNotChangeWhenTheRowIsShifted) {
    std::vector<float> x = some_row(257);
    // Sums of multiples of 2^-10 that f32 holds, so that shifting rounds nothing.
    for (float& value : x) value = std::round(value * 0x1p10f) * 0x1p-10f;
    const std::vector<float> y = softmax_of(x);
    for (const float shift : {-2048.0f, 0.5f, 1024.0f}) {
        std::vector<float> shifted = x;
        for (float& value : shifted) value += shift;
        EXPECT_EQ(softmax_of(shifted), y) << shift;
    }
}

TEST(Softmax, EqualLogitsShareEqually) {
    for (const float value : softmax_of(std::vector<float>(8, 300.0f))) EXPECT_EQ(value, 0.125f);
}

TEST(Softmax, RatiosAreExponentialsOfDifferences) {
    const std::vector<float> x = {0.0f, 1.0f, -2.0f};
    const std::vector<float> y = softmax_of(x);
    EXPECT_NEAR(y[1] / y[0], std::exp(1.0), 1e-6);
    EXPECT_NEAR(y[2] / y[0], std::exp(-2.0), 1e-7);
}

TEST(Softmax, RowsAreIndependent) {
    const Problem both{2, 100, Dtype::kF32};
    std::vector<float> x(both.count());
    softmax::fill_logits(both, kSeed, x.data());
    std::vector<float> y(both.count());
    softmax::softmax_reference(both, x.data(), y.data());
    const std::vector<float> second = softmax_of({x.begin() + 100, x.end()});
    EXPECT_EQ(std::vector<float>(y.begin() + 100, y.end()), second);
}

TEST(SoftmaxLogits, NeedTheirMaximumTakenOff) {
    const softmax::Logits logits(kSeed);
    float largest = 0.0f;
    for (std::uint64_t row = 0; row < 64; ++row) largest = std::max(largest, logits.at(row, 0, 16));
    EXPECT_TRUE(std::isinf(std::exp(largest)));
}

// A problem that is checked element by element, and one that is sampled.
class SoftmaxCheck : public testing::TestWithParam<Problem> {
  protected:
    SoftmaxCheck() : p(GetParam()), out(p.count()) {
        std::vector<float> in(p.count());
        softmax::fill_logits(p, kSeed, in.data());
        softmax::softmax_reference(p, in.data(), out.data());
    }
    softmax::CheckReport check() const { return softmax::check_softmax(p, kSeed, out.data()); }
    float& at(int row, int col) {
        return out[static_cast<std::size_t>(row) * static_cast<std::size_t>(p.width) +
                   static_cast<std::size_t>(col)];
    }

    Problem p;
    std::vector<float> out;
};

TEST_P(SoftmaxCheck, AcceptsTheReference) {
    const auto report = check();
    EXPECT_TRUE(report.passed) << report.detail;
    EXPECT_LT(report.worst_share, 0.1);  // of rounding the result to f32
}

TEST_P(SoftmaxCheck, FindsAnElementThatWasNotWrittenInAnyRow) {
    for (const int row : {0, p.rows / 2, p.rows / 2 + 1, p.rows - 1}) {
        const float kept = at(row, p.width - 1);
        at(row, p.width - 1) = std::numeric_limits<float>::quiet_NaN();
        EXPECT_FALSE(check().passed) << row;
        at(row, p.width - 1) = kept;
    }
}

TEST_P(SoftmaxCheck, FindsARowWithoutItsDivision) {
    const int row = p.rows / 2;
    for (int j = 0; j < p.width; ++j) at(row, j) *= 1.0001f;
    const auto report = check();
    EXPECT_FALSE(report.passed);
    EXPECT_NE(report.detail.find("out[" + std::to_string(row) + ", "), std::string::npos)
        << report.detail;
}

TEST_P(SoftmaxCheck, FindsARowOfTheWrongPlace) {
    for (int j = 0; j < p.width; ++j) at(1, j) = at(2, j);
    EXPECT_FALSE(check().passed);
}

TEST_P(SoftmaxCheck, KnowsTheSeed) {
    EXPECT_FALSE(softmax::check_softmax(p, kSeed + 1, out.data()).passed);
}

INSTANTIATE_TEST_SUITE_P(AllAndSampled, SoftmaxCheck,
                         testing::Values(Problem{37, 1000, Dtype::kF32},
                                         Problem{5000, 1000, Dtype::kF32}),
                         [](const auto& given) {
                             return "rows" + std::to_string(given.param.rows);
                         });

TEST(SoftmaxCheckF16, AcceptsWhatIsRoundedToItsType) {
    const Problem p{9, 3001, Dtype::kF16};
    std::vector<std::uint16_t> in(p.count());
    std::vector<std::uint16_t> out(p.count());
    softmax::fill_logits(p, kSeed, in.data());
    softmax::softmax_reference(p, in.data(), out.data());
    EXPECT_TRUE(softmax::check_softmax(p, kSeed, out.data()).passed);
    out[3001 * 4 + 17] += 2;  // units in the last place
    const auto report = softmax::check_softmax(p, kSeed, out.data());
    EXPECT_FALSE(report.passed);
    EXPECT_NE(report.detail.find("out[4, 17] is"), std::string::npos) << report.detail;
}

TEST(SoftmaxCheckCopied, TellsTheInputFromItsSoftmax) {
    const Problem p{3, 50, Dtype::kF32};
    std::vector<float> in(p.count());
    std::vector<float> out(p.count());
    softmax::fill_logits(p, kSeed, in.data());
    softmax::softmax_reference(p, in.data(), out.data());
    EXPECT_TRUE(softmax::check_copied(p, kSeed, in.data()).passed);
    EXPECT_FALSE(softmax::check_copied(p, kSeed, out.data()).passed);
}

}  // namespace

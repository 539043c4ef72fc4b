// SPDX-License-Identifier: Apache-2.0
// What holds of any attention, whatever computed it.
#include "attention/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "common/inputs.hpp"

namespace attention {
namespace {

constexpr int kSize = 64;

struct Operands {
    common::UnfilledVector<float> query, keys, values;
};

Operands operands(int key_count, std::uint64_t seed = 1) {
    const auto make = [&](Operand which, int rows) {
        return common::widened_inputs(common::Dtype::kBf16, which, seed,
                                      static_cast<std::size_t>(rows) * kSize, 1);
    };
    return {make(kQuery, 1), make(kKey, key_count), make(kValue, key_count)};
}

Attended attend(const Operands& o, double scale = 0.75) {
    Attended result;
    attend(o.query.data(), o.keys.data(), o.values.data(), static_cast<int>(o.keys.size() / kSize),
           kSize, scale, result);
    return result;
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double within) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], within) << "at " << i;
}

TEST(AttentionReference, WeightsArePositiveAndSumToOne) {
    const Attended result = attend(operands(1000));
    for (const double weight : result.weights) EXPECT_GT(weight, 0.0);
    EXPECT_NEAR(std::accumulate(result.weights.begin(), result.weights.end(), 0.0), 1.0, 1e-12);
}

TEST(AttentionReference, OneKeyGivesItsValue) {
    const Operands o = operands(1);
    expect_near(attend(o).output, {o.values.begin(), o.values.end()}, 0.0);
}

TEST(AttentionReference, EqualScoresGiveTheMean) {
    Operands o = operands(37);
    std::fill(o.query.begin(), o.query.end(), 0.0f);
    std::vector<double> mean(kSize, 0.0);
    for (std::size_t i = 0; i < o.values.size(); ++i) {
        mean[i % kSize] += static_cast<double>(o.values[i]) / 37.0;
    }
    expect_near(attend(o).output, mean, 1e-12);
}

TEST(AttentionReference, EqualValuesPassThroughWhateverTheScores) {
    Operands o = operands(100);
    std::fill(o.values.begin(), o.values.end(), 0.375f);
    expect_near(attend(o).output, std::vector<double>(kSize, 0.375), 1e-14);
}

TEST(AttentionReference, OrderOfKeysDoesNotMatter) {
    const Operands o = operands(101);
    Operands reversed = o;
    for (std::ptrdiff_t row = 0; row < 101; ++row) {
        const auto at = [row](common::UnfilledVector<float>& rows) {
            return rows.begin() + row * kSize;
        };
        const auto from = [row](const common::UnfilledVector<float>& rows) {
            return rows.begin() + (100 - row) * kSize;
        };
        std::copy_n(from(o.keys), kSize, at(reversed.keys));
        std::copy_n(from(o.values), kSize, at(reversed.values));
    }
    expect_near(attend(reversed).output, attend(o).output, 1e-12);
}

TEST(AttentionReference, AddingOneVectorToAllKeysChangesNothing) {
    // It adds the same amount to every score. A quarter keeps the sums exact in f32.
    const Operands o = operands(64);
    Operands shifted = o;
    for (float& element : shifted.keys) element += 0.25f;
    expect_near(attend(shifted).output, attend(o).output, 1e-5);
}

TEST(AttentionReference, LargeScoresDoNotOverflow) {
    const Attended result = attend(operands(50), 1e4);
    const auto top = std::max_element(result.scores.begin(), result.scores.end());
    EXPECT_GT(*top, 1e3);
    EXPECT_NEAR(result.weights[static_cast<std::size_t>(top - result.scores.begin())], 1.0, 1e-6);
}

class AllHeads : public testing::Test {
  protected:
    static std::vector<std::uint16_t> operand(const Problem& p, Operand which) {
        std::vector<std::uint16_t> bits(p.elements());
        common::fill_host(bits.data(), common::Dtype::kBf16, which, 5, 0, bits.size());
        return bits;
    }
    static std::vector<std::uint16_t> run(const Problem& p, const std::vector<std::uint16_t>& k,
                                          const std::vector<std::uint16_t>& v) {
        std::vector<std::uint16_t> o(p.elements());
        attend_all(p, operand(p, kQuery).data(), k.data(), v.data(), o.data());
        return o;
    }
};

TEST_F(AllHeads, CausalQueriesDoNotSeeTheFuture) {
    const Problem p{1, 2, 33, kSize, true};
    auto k = operand(p, kKey);
    auto v = operand(p, kValue);
    const auto before = run(p, k, v);
    const std::size_t last = p.head_elements() - kSize;  // of the first head
    for (std::size_t i = last; i < p.head_elements(); ++i) k[i] = v[i] = 0x3f80;  // 1
    const auto after = run(p, k, v);
    for (std::size_t i = 0; i < p.elements(); ++i) {
        if (i >= last && i < p.head_elements()) continue;
        EXPECT_EQ(after[i], before[i]) << "at " << i;
    }
    EXPECT_FALSE(std::equal(before.begin() + static_cast<std::ptrdiff_t>(last),
                            before.begin() + static_cast<std::ptrdiff_t>(p.head_elements()),
                            after.begin() + static_cast<std::ptrdiff_t>(last)));
}

TEST_F(AllHeads, FirstCausalQueryGetsTheFirstValue) {
    const Problem p{2, 1, 9, kSize, true};
    const auto v = operand(p, kValue);
    const auto o = run(p, operand(p, kKey), v);
    for (const std::size_t head : {std::size_t{0}, p.head_elements()}) {
        for (std::size_t d = 0; d < kSize; ++d) EXPECT_EQ(o[head + d], v[head + d]);
    }
}

TEST_F(AllHeads, CausalAndFullAgreeOnTheLastQuery) {
    Problem p{1, 1, 40, kSize, true};
    const auto causal = run(p, operand(p, kKey), operand(p, kValue));
    p.causal = false;
    const auto full = run(p, operand(p, kKey), operand(p, kValue));
    for (std::size_t i = p.elements() - kSize; i < p.elements(); ++i) EXPECT_EQ(causal[i], full[i]);
}

TEST(AttentionProblem, CountsThePairsThatTakePart) {
    EXPECT_DOUBLE_EQ((Problem{2, 3, 10, 64, false}.pairs()), 600.0);
    EXPECT_DOUBLE_EQ((Problem{2, 3, 10, 64, true}.pairs()), 330.0);
    EXPECT_DOUBLE_EQ((Problem{2, 3, 10, 64, true}.flops()), 330.0 * 64 * 4);
}

}  // namespace
}  // namespace attention

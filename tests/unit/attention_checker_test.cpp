// SPDX-License-Identifier: Apache-2.0
// The check must let rounding pass and nothing else.
#include "attention/checker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "attention/reference.hpp"
#include "common/inputs.hpp"

namespace attention {
namespace {

using Bits = std::vector<std::uint16_t>;
constexpr std::uint64_t kSeed = 11;

Bits operand(const Problem& p, Operand which) {
    Bits bits(p.elements());
    common::fill_host(bits.data(), common::Dtype::kBf16, which, kSeed, 0, bits.size());
    return bits;
}

Bits attention_of(const Problem& p, const Bits& k, const Bits& v) {
    Bits o(p.elements());
    attend_all(p, operand(p, kQuery).data(), k.data(), v.data(), o.data());
    return o;
}

Bits attention_of(const Problem& p) {
    return attention_of(p, operand(p, kKey), operand(p, kValue));
}

CheckReport check(const Problem& p, const Bits& o, double score_rounding = kScoresInF32) {
    return check_output(p, kSeed, o.data(), score_rounding);
}

constexpr Problem kSmall{2, 2, 150, 64, false};
constexpr Problem kCausal{1, 3, 131, 128, true};
// More multiply-adds than are done exhaustively.
constexpr Problem kSampled{1, 1, 2304, 128, false};

// All of an output, rounded at the same places as a kernel's.
Bits rounded_attention(const Problem& p, std::uint64_t seed, double score_rounding) {
    const auto widen = [&](Operand which) {
        return common::widened_inputs(common::Dtype::kBf16, which, seed, p.elements(), 1);
    };
    const auto to_bf16 = [](double x) {
        return static_cast<double>(
            common::float_from_bf16(common::bf16_from_float(static_cast<float>(x))));
    };
    const auto q = widen(kQuery);
    const auto k = widen(kKey);
    const auto v = widen(kValue);
    const auto size = static_cast<std::size_t>(p.head_size);
    Bits o;
    Attended exact;
    std::vector<double> out(size);
    for (int query = 0; query < p.sequence; ++query) {
        attend(q.data() + static_cast<std::size_t>(query) * size, k.data(), v.data(),
               p.keys_of(query), p.head_size, static_cast<double>(p.scale()), exact);
        out.assign(size, 0.0);
        double sum = 0.0;
        for (std::size_t i = 0; i < exact.scores.size(); ++i) {
            const double score =
                score_rounding > 0x1p-12 ? to_bf16(exact.scores[i]) : exact.scores[i];
            const double weight = std::exp(score);
            const double rounded = to_bf16(weight);
            sum += weight;
            for (std::size_t d = 0; d < size; ++d) {
                out[d] += rounded * static_cast<double>(v[i * size + d]);
            }
        }
        for (const double x : out) {
            o.push_back(common::bf16_from_float(static_cast<float>(x / sum)));
        }
    }
    return o;
}

TEST(AttentionChecker, AcceptsTheReference) {
    for (const Problem& p : {kSmall, kCausal, Problem{1, 1, 1, 64, false}}) {
        const CheckReport report = check(p, attention_of(p));
        EXPECT_TRUE(report.passed) << report.detail;
    }
}

TEST(AttentionChecker, AcceptsWeightsAndScoresInBf16ButOnlyWhereTheyAreOwnedTo) {
    const Problem p{1, 1, 300, 128, false};
    const Bits weights_rounded = rounded_attention(p, kSeed, kScoresInF32);
    const Bits scores_rounded = rounded_attention(p, kSeed, kScoresInBf16);
    EXPECT_TRUE(check(p, weights_rounded).passed) << check(p, weights_rounded).detail;
    EXPECT_TRUE(check(p, scores_rounded, kScoresInBf16).passed)
        << check(p, scores_rounded, kScoresInBf16).detail;
    EXPECT_FALSE(check(p, scores_rounded).passed);
}

TEST(AttentionChecker, AcceptsRoundingWhereFewKeysCarryTheOutput) {
    // Rows do not weigh alike: here rounding alone makes the whole 1 % larger, though 16 rows that
    // did weigh alike would stay within 0.8 %.
    constexpr std::uint64_t kFewKeys = 559;
    const Bits o = rounded_attention(kSampled, kFewKeys, kScoresInBf16);
    const CheckReport report = check_output(kSampled, kFewKeys, o.data(), kScoresInBf16);
    EXPECT_TRUE(report.passed) << report.detail;
}

TEST(AttentionChecker, SaysTheSameOfAnOutputWhoeverWasCheckedBefore) {
    constexpr std::uint64_t kOther = 77;
    constexpr Problem kOne{1, 1, 300, 128, false};
    for (const double rounding : {kScoresInF32, kScoresInBf16}) {
        // The seeds' operands differ, so the first check of each makes the reference.
        const std::uint64_t seed = kOther + (rounding > kScoresInF32 ? 1 : 0);
        Bits wrong = rounded_attention(kOne, seed, rounding);
        const Bits right = wrong;
        wrong[wrong.size() - 7] = 0x3f00;
        const CheckReport alone = check_output(kOne, seed, wrong.data(), rounding);
        const CheckReport after = check_output(kOne, seed, right.data(), rounding);
        const CheckReport again = check_output(kOne, seed, wrong.data(), rounding);
        EXPECT_FALSE(alone.passed);
        EXPECT_TRUE(after.passed) << after.detail;
        EXPECT_FALSE(again.passed);
        EXPECT_EQ(again.detail, alone.detail);
    }
    // What is kept is of weights and scores apart: rounded scores are right for one only.
    const Bits scores_rounded = rounded_attention(kOne, kOther + 1, kScoresInBf16);
    EXPECT_TRUE(check_output(kOne, kOther + 1, scores_rounded.data(), kScoresInBf16).passed);
    EXPECT_FALSE(check_output(kOne, kOther + 1, scores_rounded.data(), kScoresInF32).passed);
}

TEST(AttentionChecker, FindsAnElementThatWasNeverWritten) {
    Bits o = attention_of(kSmall);
    o[2 * kSmall.head_elements() + std::size_t{17 * 64 + 5}] = 0xffff;
    const CheckReport report = check(kSmall, o);
    EXPECT_FALSE(report.passed);
    EXPECT_NE(report.detail.find("batch 1, head 0, query 17, element 5 is "), std::string::npos)
        << report.detail;
}

TEST(AttentionChecker, FindsAnElementThatIsSlightlyWrong) {
    Bits o = attention_of(kSmall);
    o[1234] = static_cast<std::uint16_t>(o[1234] + 16);  // an eighth of its size, or less
    EXPECT_FALSE(check(kSmall, o).passed);
}

TEST(AttentionChecker, FindsAValueOfTheNextKey) {
    // As a kernel would use it that is one row off.
    Bits v = operand(kSmall, kValue);
    std::rotate(v.begin(), v.begin() + 64, v.begin() + 9600);
    EXPECT_FALSE(check(kSmall, attention_of(kSmall, operand(kSmall, kKey), v)).passed);
}

TEST(AttentionChecker, FindsKeysBeyondTheEnd) {
    // Padded keys of zeros have score 0 and value 0: they only make the sum of weights larger.
    Problem longer = kSmall;
    longer.batch = longer.heads = 1;
    Problem p = longer;
    longer.sequence = 152;
    const auto padded = [&](Operand which) {
        Bits bits = operand(p, which);
        bits.resize(longer.elements());
        return bits;
    };
    Bits o(longer.elements());
    attend_all(longer, padded(kQuery).data(), padded(kKey).data(), padded(kValue).data(), o.data());
    EXPECT_TRUE(check(p, attention_of(p)).passed);
    EXPECT_NE(check(p, o).detail.find("too many keys"), std::string::npos) << check(p, o).detail;
    EXPECT_FALSE(check(p, o).passed);
}

TEST(AttentionChecker, FindsAMissingMask) {
    Problem full = kCausal;
    full.causal = false;
    EXPECT_FALSE(check(kCausal, attention_of(full)).passed);
    EXPECT_FALSE(check(full, attention_of(kCausal)).passed);
}

TEST(AttentionChecker, SamplesLargeProblemsButLooksAtEveryElement) {
    Bits o = attention_of(kSampled);
    const CheckReport report = check(kSampled, o);
    EXPECT_TRUE(report.passed) << report.detail;
    EXPECT_EQ(report.detail.rfind("16 of 2304 rows", 0), 0u) << report.detail;
    for (const std::size_t at : {std::size_t{0}, std::size_t{77777}, o.size() - 1}) {
        Bits damaged = o;
        damaged[at] = 0xffff;
        EXPECT_FALSE(check(kSampled, damaged).passed) << "at " << at;
    }
    // The first and the last row are always looked at.
    for (const std::size_t at : {std::size_t{3}, o.size() - 4}) {
        Bits damaged = o;
        damaged[at] = static_cast<std::uint16_t>(damaged[at] ^ 0x8000);
        damaged[at + 1] = static_cast<std::uint16_t>(damaged[at + 1] ^ 0x8000);
        EXPECT_FALSE(check(kSampled, damaged).passed) << "at " << at;
    }
}

}  // namespace
}  // namespace attention

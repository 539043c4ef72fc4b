// SPDX-License-Identifier: Apache-2.0
#include "gate/sentence.hpp"

#include <gtest/gtest.h>

namespace perfgate::gate {
namespace {

std::string sentence(double minimum_detectable_change) {
    model::MetricDefinition definition;
    definition.unit = "ns";
    definition.direction = model::Direction::lower;
    Comparison comparison;
    comparison.definition = &definition;
    comparison.tolerance.worse = 0.03;
    Judgement judgement;
    judgement.verdict = model::Verdict::regressed;
    judgement.baseline = 12340;
    judgement.measured = 13600;
    judgement.minimum_detectable_change = minimum_detectable_change;
    return judged_sentence("gpu_time", comparison, judgement);
}

TEST(JudgedSentence, SaysWhatCouldHaveBeenSeenInTwoDigitsRoundedUp) {
    const std::string start = "gpu_time regressed: 12.34 µs → 13.60 µs (+10.2 %), tolerance 3 %";
    EXPECT_EQ(sentence(0.051), start + ", detects ≥ 5.1 %");
    EXPECT_EQ(sentence(0.0501), start + ", detects ≥ 5.1 %");
    EXPECT_EQ(sentence(0.00421), start + ", detects ≥ 0.43 %");
    EXPECT_EQ(sentence(1.02), start + ", detects ≥ 110 %");
    EXPECT_EQ(sentence(212), start + ", detects no change below 1000 %");
}

}  // namespace
}  // namespace perfgate::gate

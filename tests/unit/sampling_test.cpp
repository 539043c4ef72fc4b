// SPDX-License-Identifier: Apache-2.0
#include "measure/sampling.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace perfgate::measure {
namespace {

const SamplingGoal goal{
    .precision = 0.01, .time_budget_s = 1.0, .min_samples = 10, .max_samples = 100};

TEST(Sampling, TakesAFewFirstAndThenTheMinimum) {
    EXPECT_EQ(next_samples({}, 0, goal), 3);
    EXPECT_EQ(next_samples(std::vector<double>(3, 5.0), 0.01, goal), 7);
    EXPECT_EQ(next_samples(std::vector<double>(4, 5.0), 0, goal), 6);
}

TEST(Sampling, TheBudgetHoldsForSlowKernelsToo) {
    // 0.3 s each: one more fits in what is left, and after it none.
    EXPECT_EQ(next_samples(std::vector<double>(2, 5.0), 0.6, goal), 1);
    EXPECT_EQ(next_samples(std::vector<double>(3, 5.0), 0.69, goal), 1);
    EXPECT_EQ(next_samples(std::vector<double>(3, 5.0), 0.9, goal), 0);
    EXPECT_EQ(next_samples(std::vector<double>(3, 5.0), 9.0, goal), 0);
}

TEST(Sampling, StopsWhenTheMedianIsKnown) {
    EXPECT_EQ(next_samples(std::vector<double>(10, 5.0), 0.1, goal), 0);
}

TEST(Sampling, GoesOnWhileItIsNot) {
    EXPECT_EQ(next_samples(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.01, goal), 10);
}

TEST(Sampling, StopsWhenTheBudgetIsSpent) {
    EXPECT_EQ(next_samples(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 1.0, goal), 0);
}

TEST(Sampling, TakesNoMoreThanTheBudgetPaysFor) {
    // 0.09 s each, 0.1 s left.
    EXPECT_EQ(next_samples(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.9, goal), 1);
}

TEST(Sampling, StopsAtTheMaximum) {
    std::vector<double> samples;
    for (int i = 0; i < 100; ++i) samples.push_back(i % 10 + 1);
    EXPECT_EQ(next_samples(samples, 0.01, goal), 0);
    samples.resize(95);
    EXPECT_EQ(next_samples(samples, 0.01, goal), 5);
}

}  // namespace
}  // namespace perfgate::measure

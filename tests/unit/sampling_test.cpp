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

TEST(Sampling, EachBoundIsReachedAndNotPassed) {
    struct Example {
        std::size_t taken;
        double spent_s;
        int expected;
    };
    const auto apart = [](std::size_t count) {
        std::vector<double> samples;
        for (std::size_t i = 0; i < count; ++i)
            samples.push_back(1.0 + static_cast<double>(i % 10));
        return samples;
    };
    const std::vector<Example> examples = {
        {1, 0.5, 2},                                 // two more, whatever they cost
        {2, 50, 1},    {3, 0.3, 7},                  // 0.1 s each: seven are paid for
        {3, 0.5, 3},                                 // 0.5 s left at 0.167 s each
        {3, 1.0, 0},                                 // the budget is spent
        {9, 0.09, 1},  {10, 0.5, 10},                // 0.05 s each: ten are paid for
        {10, 0.8, 2},  {10, 0.999, 1},               // always one
        {10, 1.0, 0},  {60, 0.06, 40},               // as many again would be over the most
        {99, 0.01, 1}, {100, 0.01, 0}, {10, 0, 10},  // costs nothing
    };
    for (const Example& example : examples) {
        EXPECT_EQ(next_samples(apart(example.taken), example.spent_s, goal), example.expected)
            << example.taken << " in " << example.spent_s << " s";
    }
    EXPECT_EQ(next_samples(std::vector<double>(4, 5.0), 0.75, goal), 1);
}

}  // namespace
}  // namespace perfgate::measure

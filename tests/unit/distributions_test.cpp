// SPDX-License-Identifier: Apache-2.0
#include "stats/distributions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace perfgate::stats {
namespace {

void expect_relative(double value, double expected, double relative = 1e-10) {
    EXPECT_NEAR(value, expected, std::fabs(expected) * relative);
}

TEST(Normal, KnownValues) {
    EXPECT_EQ(normal_upper_tail(0), 0.5);
    expect_relative(normal_upper_tail(1.959963984540054), 0.025);
    expect_relative(normal_upper_tail(6), 9.865876450376946e-10);
    expect_relative(normal_upper_tail(-1), 0.8413447460685429);
    expect_relative(normal_upper_quantile(0.025), 1.959963984540054);
    expect_relative(normal_upper_quantile(1e-5), 4.264890793922825);
    expect_relative(normal_upper_quantile(0.975), -1.959963984540054);
    EXPECT_EQ(normal_upper_quantile(0.5), 0);
}

TEST(Student, ClosedFormsOfOneAndTwoDegreesOfFreedom) {
    for (const double t : {0.0, 0.1, 1.0, 2.5, 30.0, 1e4}) {
        expect_relative(student_upper_tail(t, 1), std::atan2(1, t) / std::numbers::pi);
        const double root = std::sqrt(2 + t * t);
        expect_relative(student_upper_tail(t, 2), 1 / (root * (root + t)));
    }
    expect_relative(student_upper_tail(-1, 1), 0.75);
}

TEST(Student, TabulatedQuantiles) {
    expect_relative(student_upper_quantile(0.025, 10), 2.228138851964939);
    expect_relative(student_upper_quantile(0.005, 4), 4.604094871415897);
    expect_relative(student_upper_quantile(0.975, 10), -2.228138851964939);
    EXPECT_EQ(student_upper_quantile(0.5, 3), 0);
}

TEST(Student, BecomesTheNormalDistribution) {
    EXPECT_NEAR(student_upper_quantile(0.025, 1e7), 1.959963984540054, 1e-6);
    EXPECT_GT(student_upper_quantile(1e-5, 30), normal_upper_quantile(1e-5));
}

TEST(Student, QuantilesUndoTails) {
    for (const double df : {0.5, 1.0, 3.5, 26.0, 400.0}) {
        for (const double probability : {1e-9, 5e-6, 0.001, 0.3, 0.499999, 0.8}) {
            expect_relative(student_upper_tail(student_upper_quantile(probability, df), df),
                            probability, 1e-9);
        }
    }
}

TEST(Fisher, TabulatedQuantiles) {
    expect_relative(fisher_upper_quantile(0.05, 8, 4), 6.0410444761191515);
    expect_relative(fisher_upper_quantile(0.5, 10, 10), 1);
    const double t = student_upper_quantile(0.025, 7);
    expect_relative(fisher_upper_quantile(0.05, 1, 7), t * t);
    EXPECT_THROW(fisher_upper_quantile(0.5, 0, 1), std::invalid_argument);
}

TEST(Binomial, KnownValues) {
    expect_relative(binomial_lower_tail(3, 10, 0.5), 176.0 / 1024);
    expect_relative(binomial_lower_tail(0, 5, 0.2), 0.32768);
    expect_relative(binomial_lower_tail(8, 10, 0.9), 0.2639010709);
    expect_relative(binomial_lower_tail(80, 100, 0.9), 0.001978560865771231);
    expect_relative(binomial_lower_tail(850, 1000, 0.9), 4.4894428594500086e-07);
    EXPECT_EQ(binomial_lower_tail(10, 10, 0.9), 1);
    EXPECT_EQ(binomial_lower_tail(0, 0, 0.9), 1);
}

TEST(Distributions, WhatIsOutsideTheirDomainIsRefused) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_THROW(normal_upper_tail(nan), std::invalid_argument);
    EXPECT_THROW(normal_upper_quantile(0), std::invalid_argument);
    EXPECT_THROW(normal_upper_quantile(1), std::invalid_argument);
    EXPECT_THROW(student_upper_tail(1, 0), std::invalid_argument);
    EXPECT_THROW(student_upper_tail(nan, 3), std::invalid_argument);
    EXPECT_THROW(student_upper_quantile(0.1, -1), std::invalid_argument);
    EXPECT_THROW(binomial_lower_tail(1, 2, 1), std::invalid_argument);
    EXPECT_EQ(student_upper_tail(infinity, 3), 0);
}

TEST(Binomial, TheLowerBoundIsWhereAsManySuccessesAreAsRareAsTheConfidenceSays) {
    EXPECT_NEAR(binomial_lower_bound(43, 43, 0.95), std::pow(0.05, 1.0 / 43), 1e-9);
    const double bound = binomial_lower_bound(34, 43, 0.95);
    EXPECT_NEAR(1 - binomial_lower_tail(33, 43, bound), 0.05, 1e-9);
    EXPECT_LT(bound, 0.69);
    EXPECT_EQ(binomial_lower_bound(0, 5, 0.95), 0);
    EXPECT_THROW(binomial_lower_bound(0, 0, 0.95), std::invalid_argument);
    EXPECT_THROW(binomial_lower_bound(6, 5, 0.95), std::invalid_argument);
}

}  // namespace
}  // namespace perfgate::stats

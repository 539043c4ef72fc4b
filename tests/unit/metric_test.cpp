// SPDX-License-Identifier: Apache-2.0
#include "model/metric.hpp"

#include <gtest/gtest.h>

namespace perfgate::model {
namespace {

TEST(MetricSeries, SamplesKeepTheirOrderAcrossBatches) {
    MetricSeries series{
        "ns", 2, "activity/cold", {{0, "a", 1, {3, 1}}, {1, "a", 1, {}}, {2, "b", 1, {2}}}};
    EXPECT_EQ(all_samples(series), (std::vector<double>{3, 1, 2}));
    EXPECT_TRUE(all_samples(MetricSeries{}).empty());
}

TEST(MetricSeries, WhatIsExcludedIsRecordedAndNotUsed) {
    Batch throttled{1, "a", 1, {9, 9}};
    throttled.excluded = "power brake";
    const MetricSeries series{"ns", 2, "activity/cold", {{0, "a", 1, {3, 1}}, throttled}};
    EXPECT_EQ(all_samples(series), (std::vector<double>{3, 1}));
}

TEST(Metric, NamesItsEnumerations) {
    EXPECT_EQ(to_text(Direction::lower), "lower");
    EXPECT_EQ(to_text(Direction::higher), "higher");
    EXPECT_EQ(to_text(Direction::none), "none");
    EXPECT_EQ(to_text(MetricClass::exact), "exact");
    EXPECT_EQ(to_text(MetricClass::counter), "counter");
    EXPECT_EQ(to_text(MetricClass::timing), "timing");
    EXPECT_EQ(to_text(Fold::sum), "sum");
    EXPECT_EQ(to_text(Fold::max), "max");
    EXPECT_EQ(to_text(Fold::ratio), "ratio");
    EXPECT_EQ(to_text(Fold::weighted_mean), "weighted_mean");
}

}  // namespace
}  // namespace perfgate::model

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

TEST(Method, IsWrittenAndReadAsOneText) {
    const auto programs = [](std::string_view source, std::string_view way, int processes) {
        Method method{source, way};
        method.processes = processes;
        return method;
    };
    Method skew = programs("activity", "callbacks", 4);
    skew.communicating = 2;
    Method share{"event", "blocked", Cache::cold};
    share.of_ceiling = true;
    Method debug{"google-benchmark", "median"};
    debug.debug_build = true;
    const std::pair<Method, const char*> methods[] = {
        {{"activity", "", Cache::hot}, "activity/hot"},
        {{"event", "blocked", Cache::cold}, "event/cold/blocked"},
        {{"wall", ""}, "wall"},
        {{"wall", "idle-stream/untraced"}, "wall/idle-stream/untraced"},
        {{"nvml-counter", "back-to-back/reset", Cache::hot}, "nvml-counter/hot/back-to-back/reset"},
        {{"counter", "auto-range/user-replay", Cache::cold}, "counter/auto-range/user-replay/cold"},
        {programs("counter", "auto-range/application-replay", 3),
         "counter/auto-range/application-replay/3 processes"},
        {programs("activity", "callbacks", 2), "activity/callbacks/2 processes"},
        {skew, "activity/callbacks/4 processes/2 communicating"},
        {share, "event/cold/blocked/ceiling"},
        {debug, "google-benchmark/median/debug-build"},
    };
    for (const auto& [method, text] : methods) {
        EXPECT_EQ(to_text(method), text);
        EXPECT_EQ(from_text(text), method) << text;
    }
}

TEST(Method, OfATextThatPerfgateNeverWritesKeepsEveryByte) {
    for (const char* text :
         {"", "/", "counter//cold", "activity/callbacks/02 processes", "activity/1 processes",
          "a/ processes", "a/-3 processes", "a/99999999999 processes", "wall/0 communicating",
          "x/debug-build/ceiling", "a/3 processes/cold", "/cold", "a\nb/hot", "event/"}) {
        EXPECT_EQ(to_text(from_text(text)), text);
    }
    EXPECT_NE(from_text("activity/callbacks/02 processes"),
              from_text("activity/callbacks/2 processes"));
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

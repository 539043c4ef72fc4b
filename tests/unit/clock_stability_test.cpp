// SPDX-License-Identifier: Apache-2.0
#include "measure/clock_stability.hpp"

#include <gtest/gtest.h>

#include <array>

namespace perfgate::measure {
namespace clock_stability_test {

model::BoardState at_clock(double mhz, std::vector<std::string> reasons = {}) {
    model::BoardState state;
    state.sm_clock_mhz = mhz;
    state.throttle_reasons = std::move(reasons);
    return state;
}

model::Batch batch(std::int64_t process, std::optional<double> clock, double sample) {
    model::Batch taken{process, "board", 1, {sample}};
    taken.sm_clock_mhz = clock;
    return taken;
}

/// One process per clock, with a gpu_time of 10, 20, 30, … ns.
model::CaseResult with_clocks(const std::vector<double>& clocks) {
    model::CaseResult result;
    model::MetricSeries series{"ns", 0, "activity/cold", {}};
    for (std::size_t i = 0; i < clocks.size(); ++i) {
        series.batches.push_back(
            batch(static_cast<std::int64_t>(i), clocks[i], 10.0 * static_cast<double>(i + 1)));
    }
    result.metrics["gpu_time"] = std::move(series);
    return result;
}

std::vector<std::size_t> excluded(const model::CaseResult& result) {
    std::vector<std::size_t> places;
    const auto& batches = result.metrics.at("gpu_time").batches;
    for (std::size_t i = 0; i < batches.size(); ++i) {
        if (!batches[i].excluded.empty()) places.push_back(i);
    }
    return places;
}

TEST(Disturbance, ThermalAndHardwareSlowdownsSpoilABatchWhicheverSideTheyAreOn) {
    for (const char* reason : {"hardware slowdown", "software thermal slowdown",
                               "hardware thermal slowdown", "hardware power brake"}) {
        const std::array after{at_clock(1980), at_clock(1980, {"idle", reason})};
        EXPECT_EQ(disturbance(after), std::string("throttled: ") + reason);
        const std::array before{at_clock(1980, {reason}), at_clock(1980)};
        EXPECT_EQ(disturbance(before), std::string("throttled: ") + reason);
    }
}

TEST(Disturbance, WhatTheKernelDoesItselfSpoilsNothing) {
    const std::array states{
        at_clock(1500, {"power cap", "idle", "application clocks", "clocks event reason 9"})};
    EXPECT_EQ(disturbance(states), "");
    EXPECT_EQ(disturbance({}), "");
}

TEST(ClockOf, IsTheMeanAndNothingWhereAReadingIsMissing) {
    const std::array two{at_clock(1980), at_clock(1950)};
    EXPECT_EQ(clock_of(two), 1965);
    const std::array one_unknown{at_clock(1980), model::BoardState{}};
    EXPECT_EQ(clock_of(one_unknown), std::nullopt);
    EXPECT_EQ(clock_of({}), std::nullopt);
}

TEST(ClockOf, TellsNothingUnderThePowerCap) {
    const std::array capped{at_clock(1425), at_clock(1500, {"power cap"})};
    EXPECT_EQ(clock_of(capped), std::nullopt);
}

TEST(OtherClocks, AFewStepsOfTheBoostClockAreBorne) {
    model::CaseResult result = with_clocks({1980, 1965, 1950, 1980, 1965});
    exclude_other_clocks(result);
    EXPECT_TRUE(excluded(result).empty());
    EXPECT_EQ(result.metrics["gpu_time"].value, 30);
}

TEST(OtherClocks, TheBatchAtAnotherClockIsExcludedAndTheValueIsTheOthers) {
    model::CaseResult result = with_clocks({1980, 1980, 1410, 1980, 1980});
    exclude_other_clocks(result);
    EXPECT_EQ(excluded(result), std::vector<std::size_t>{2});
    const model::MetricSeries& series = result.metrics["gpu_time"];
    EXPECT_EQ(series.batches[2].excluded, "SM clock 1410 MHz where the case's others had 1980 MHz");
    EXPECT_EQ(series.value, 30);  // the median of 10, 20, 40, 50
    EXPECT_EQ(series.batches[2].samples, std::vector<double>{30});
}

TEST(OtherClocks, OfTwoCampsOfOneSizeTheFasterIsTheCase) {
    model::CaseResult result = with_clocks({1410, 1980, 1410, 1980});
    exclude_other_clocks(result);
    EXPECT_EQ(excluded(result), (std::vector<std::size_t>{0, 2}));
}

TEST(OtherClocks, ALaterProcessMayTurnTheMajority) {
    model::CaseResult result = with_clocks({1980, 1410});
    exclude_other_clocks(result);
    EXPECT_EQ(excluded(result), std::vector<std::size_t>{1});
    for (std::int64_t process = 2; process < 5; ++process) {
        result.metrics["gpu_time"].batches.push_back(batch(process, 1410, 7));
    }
    exclude_other_clocks(result);
    EXPECT_EQ(excluded(result), std::vector<std::size_t>{0});
}

TEST(OtherClocks, WhatAnotherReasonExcludedStaysSoAndHasNoSay) {
    model::CaseResult result = with_clocks({1980, 1410, 1410});
    for (const std::size_t i : {1U, 2U}) {
        result.metrics["gpu_time"].batches[i].excluded = "throttled: hardware slowdown";
    }
    exclude_other_clocks(result);
    EXPECT_EQ(excluded(result), (std::vector<std::size_t>{1, 2}));
    EXPECT_EQ(result.metrics["gpu_time"].value, 10);
}

TEST(OtherClocks, ADeviceThatTellsNoClockSpoilsNothing) {
    model::CaseResult result = with_clocks({1980, 1980});
    for (model::Batch& taken : result.metrics["gpu_time"].batches) taken.sm_clock_mhz = {};
    exclude_other_clocks(result);
    EXPECT_TRUE(excluded(result).empty());
}

TEST(TooThin, HalfOfWhatWasWantedIsEnough) {
    model::CaseResult result = with_clocks({1980, 1980, 1980, 1410, 1200});
    exclude_other_clocks(result);
    EXPECT_EQ(usable_batches(result, 0), 3U);
    EXPECT_EQ(too_thin(result, 5), "");
    result.metrics["gpu_time"].batches[0].excluded = "throttled: hardware power brake";
    EXPECT_EQ(usable_batches(result, 0), 2U);
    EXPECT_NE(too_thin(result, 5), "");
}

TEST(TooThin, TheReasonSaysHowManyCountAndWhatSpoiltMostOfTheRest) {
    model::CaseResult result = with_clocks({1980, 1980, 1980});
    auto& batches = result.metrics["gpu_time"].batches;
    batches[0].excluded = batches[1].excluded = "throttled: hardware power brake";
    EXPECT_EQ(
        too_thin(result, 3),
        "disturbed by the environment: 1 of 3 batches count (throttled: hardware power brake); "
        "measure again when the device is quiet");
}

TEST(TooThin, WhatComesFromBareRunsNeedNotBeInEveryBatch) {
    model::CaseResult result = with_clocks({1980, 1980, 1980, 1980, 1980, 1980});
    for (const char* metric : {"tracing_overhead", "wall_time"}) {
        result.metrics[metric] = {"ns", 1, "wall", {batch(0, {}, 1), batch(1, {}, 1)}};
    }
    EXPECT_EQ(usable_batches(result, 0), 6U);
    EXPECT_EQ(too_thin(result, 6), "");
    result.metrics["span"] = {"ns", 1, "activity", {batch(0, {}, 1), batch(1, {}, 1)}};
    EXPECT_NE(too_thin(result, 6), "") << "it is in every batch";
}

TEST(TooThin, ACaseWithoutTimesIsNoneOfTheClocksBusiness) {
    model::CaseResult result;
    result.metrics["registers"] = {"registers", 40, "kernel-record", {batch(0, {}, 40)}};
    EXPECT_EQ(too_thin(result, 5), "");
}

TEST(OtherClocks, TwoInAHundredAreTheSameClock) {
    model::CaseResult result = with_clocks({1000, 1000, 1020, 980});
    exclude_other_clocks(result);
    EXPECT_TRUE(excluded(result).empty());
    result = with_clocks({1000, 1000, 1021, 979});
    exclude_other_clocks(result);
    EXPECT_EQ(excluded(result), (std::vector<std::size_t>{2, 3}));
}

TEST(OtherClocks, AProcessHasOneSayWhateverItMeasured) {
    // Two processes at 1980 MHz, and one at 1410 MHz that took two kinds of time.
    model::CaseResult result = with_clocks({1980, 1980, 1410});
    model::MetricSeries span = result.metrics["gpu_time"];
    span.batches = {span.batches[2]};
    result.metrics["gpu_span"] = span;
    exclude_other_clocks(result);
    EXPECT_EQ(excluded(result), std::vector<std::size_t>{2});
    EXPECT_NE(result.metrics["gpu_span"].batches[0].excluded, "");
    EXPECT_EQ(result.metrics["gpu_span"].value, span.value) << "where nothing counts it stays";
}

TEST(OtherClocks, LaunchesWithoutRestsHaveAClockOfTheirOwn) {
    model::CaseResult result = with_clocks({1980, 1980, 1980});
    model::MetricSeries energy{"J", 0, "nvml-counter/hot/back-to-back", {}};
    for (std::int64_t process = 0; process < 3; ++process) {
        energy.batches.push_back(batch(process, process == 2 ? 1200 : 1500, 1));
    }
    result.metrics["energy"] = std::move(energy);
    exclude_other_clocks(result);
    EXPECT_TRUE(excluded(result).empty());
    const auto& batches = result.metrics.at("energy").batches;
    EXPECT_EQ(batches[0].excluded, "");
    EXPECT_EQ(batches[1].excluded, "");
    EXPECT_EQ(batches[2].excluded, "SM clock 1200 MHz where the case's others had 1500 MHz");
}

TEST(TooThin, OfSeveralTimesTheOneWithTheLeastBatchesDecides) {
    model::CaseResult result = with_clocks({1980, 1980, 1980, 1980});
    result.metrics["gpu_span"] = result.metrics["gpu_time"];
    result.metrics["registers"] = {"registers", 40, "kernel-record", {batch(0, {}, 40)}};
    EXPECT_EQ(usable_batches(result, 9), 4U);
    for (const std::size_t i : {0U, 1U, 2U}) {
        result.metrics["gpu_span"].batches[i].excluded = i == 0 ? "one" : "two";
    }
    EXPECT_EQ(usable_batches(result, 9), 1U);
    EXPECT_EQ(too_thin(result, 2), "");
    EXPECT_NE(too_thin(result, 3).find("1 of 3"), std::string::npos);
    EXPECT_NE(too_thin(result, 3).find("(two)"), std::string::npos);
    result.metrics.erase("gpu_span");
    result.metrics.erase("gpu_time");
    EXPECT_EQ(usable_batches(result, 9), 9U);
    result.metrics["gpu_time"] = {"ns", 0, "activity/cold", {}};
    EXPECT_NE(too_thin(result, 3).find("none was taken"), std::string::npos);
}

}  // namespace clock_stability_test
}  // namespace perfgate::measure

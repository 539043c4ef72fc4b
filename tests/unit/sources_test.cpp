// SPDX-License-Identifier: Apache-2.0
#include "measure/sources.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "measure/case_measurement.hpp"
#include "unit/fake_backend.hpp"

namespace perfgate::measure {
namespace sources_test {

using fakes::FakeBackend;
using fakes::FakeVariant;
using Calls = std::vector<std::string>;

FakeVariant steady() {
    FakeVariant variant;
    variant.facts.work = {6e9, 2e9, "f32"};
    Reading& energy = variant.readings["energy"];
    energy.method = "nvml-counter/hot/back-to-back";
    energy.values = {{"energy", {0.5}}, {"power", {350}}};
    energy.board.sm_clock_mhz = 1400;
    energy.note = "resolution 0.1 %";
    return variant;
}

FakeVariant busy() {
    FakeVariant variant;
    variant.readings["api"] = {"", "callbacks", {{"api_calls", {5, "cudaLaunchKernel 5"}}}, {}, ""};
    variant.readings["memory"] = {
        "", "driver/free", {{"memory_peak", {4096}}, {"leak", {64, "over 1000 launches"}}}, {}, ""};
    return variant;
}

struct Measured {
    explicit Measured(FakeVariant variant, CaseSettings settings) {
        backend.variants["plain"] = std::move(variant);
        result.spec = {fakes::workload, "plain", {}, model::Cache::cold};
        settings.time_budget_s = 0;
        CaseMeasurement(backend).measure(result, settings, [](std::string_view) {});
    }
    std::string why_not(const std::string& metric) const {
        const auto found = std::find_if(result.not_collected.begin(), result.not_collected.end(),
                                        [&](const auto& entry) { return entry.metric == metric; });
        return found == result.not_collected.end() ? "" : found->reason;
    }

    FakeBackend backend;
    model::CaseResult result;
};

CaseSettings settings_for(std::vector<std::string> metrics) {
    CaseSettings settings;
    settings.metrics = std::move(metrics);
    settings.seed = 7;
    return settings;
}

TEST(Energy, IsMeasuredInAPassOfItsOwnAndOnlyIfAskedFor) {
    const Measured asked(steady(), settings_for({"gpu_time", "energy"}));
    EXPECT_EQ(asked.backend.calls,
              (std::vector<std::string>{"keep_code", "open", "verify", "fill", "launch", "record",
                                        "host_code", "time", "energy", "close"}));
    const Measured other(steady(), settings_for({"gpu_time", "registers"}));
    const auto& calls = other.backend.calls;
    EXPECT_EQ(std::find(calls.begin(), calls.end(), "energy"), calls.end());
    EXPECT_TRUE(other.result.notes.empty());
}

TEST(Energy, GivesOneBatchOfOneValueForEachMetric) {
    CaseSettings settings = settings_for({"energy", "power", "efficiency", "bytes_per_joule"});
    settings.process = 3;
    const Measured one(steady(), settings);
    const auto value = [&](const char* name) { return one.result.metrics.at(name).value; };
    EXPECT_EQ(value("energy"), 0.5);
    EXPECT_EQ(value("power"), 350);
    EXPECT_EQ(value("efficiency"), 12e9);
    EXPECT_EQ(value("bytes_per_joule"), 4e9);
    const model::MetricSeries& series = one.result.metrics.at("energy");
    EXPECT_EQ(series.unit, "J");
    EXPECT_EQ(series.method, "nvml-counter/hot/back-to-back");
    ASSERT_EQ(series.batches.size(), 1U);
    EXPECT_EQ(series.batches[0].process, 3);
    EXPECT_EQ(series.batches[0].seed, 7U);
    EXPECT_EQ(series.batches[0].device, "b1");
    EXPECT_EQ(series.batches[0].samples, std::vector<double>{0.5});
    EXPECT_EQ(series.batches[0].sm_clock_mhz, 1400);
    EXPECT_EQ(one.result.notes, std::vector<std::string>{"energy: resolution 0.1 %"});
}

TEST(Energy, WithoutACounterSaysWhyForEachMetric) {
    FakeVariant variant = steady();
    variant.readings["energy"].problem = "no counter here";
    const Measured one(variant, settings_for({"gpu_time", "energy", "power", "efficiency"}));
    for (const char* name : {"energy", "power", "efficiency"}) {
        EXPECT_EQ(one.why_not(name), "no counter here");
        EXPECT_FALSE(one.result.metrics.contains(name));
    }
    EXPECT_TRUE(one.result.metrics.contains("gpu_time"));
    EXPECT_TRUE(one.result.notes.empty());

    // What did not advance is no energy of 0.
    variant = steady();
    variant.readings["energy"].values["energy"] = {0};
    const Measured still(variant, settings_for({"gpu_time", "energy"}));
    EXPECT_NE(still.why_not("energy"), "");
}

TEST(Energy, PerWorkNeedsStatedWork) {
    FakeVariant variant = steady();
    variant.facts.work = {0, 2e9, ""};
    const Measured one(variant, settings_for({"energy", "efficiency", "bytes_per_joule"}));
    EXPECT_NE(one.why_not("efficiency")
                  .find("states no operations: state it in the plugin, or of "
                        "a source as 'work' in the suite"),
              std::string::npos);
    EXPECT_TRUE(one.result.metrics.contains("bytes_per_joule"));
    variant.facts.work = {};
    const Measured none(variant, settings_for({"energy", "bytes_per_joule"}));
    EXPECT_NE(none.why_not("bytes_per_joule").find("states no bytes"), std::string::npos);
    EXPECT_TRUE(none.result.metrics.contains("energy"));
}

TEST(Energy, UnderThrottlingDoesNotCount) {
    FakeVariant variant = steady();
    variant.readings["energy"].board.throttle_reasons = {"hardware thermal slowdown"};
    const Measured one(variant, settings_for({"energy"}));
    EXPECT_EQ(one.result.metrics.at("energy").batches[0].excluded,
              "throttled: hardware thermal slowdown");
    // The power cap belongs to the kernel; the clock then says nothing.
    variant.readings["energy"].board.throttle_reasons = {"power cap"};
    const Measured capped(variant, settings_for({"energy"}));
    EXPECT_EQ(capped.result.metrics.at("energy").batches[0].excluded, "");
    EXPECT_FALSE(capped.result.metrics.at("energy").batches[0].sm_clock_mhz);
}

TEST(Energy, OfALaterProcessIsABatchWithoutReasons) {
    CaseSettings settings = settings_for({"gpu_time", "energy"});
    settings.times_only = true;
    settings.round = 1;
    const Measured again(steady(), settings);
    EXPECT_EQ(again.result.metrics.at("energy").batches[0].round, 1);
    EXPECT_TRUE(again.result.notes.empty());
    FakeVariant variant = steady();
    variant.readings["energy"].problem = "no counter here";
    const Measured lost(variant, settings);
    EXPECT_TRUE(lost.result.not_collected.empty());
    EXPECT_FALSE(lost.result.metrics.contains("energy"));
}

TEST(Energy, DoesNotApplyToHostVariants) {
    FakeVariant variant = steady();
    variant.target = model::Target::host;
    const Measured host(variant, settings_for({"host_time", "energy"}));
    EXPECT_EQ(host.result.not_applicable, std::vector<std::string>{"energy"});
    EXPECT_EQ(host.why_not("energy"), "");
}

TEST(ApiCalls, AreOfTheFirstProcessAndNamed) {
    const Measured one(busy(), settings_for({"gpu_time", "api_calls"}));
    const model::MetricSeries& series = one.result.metrics.at("api_calls");
    EXPECT_EQ(series.value, 5);
    EXPECT_EQ(series.unit, "count");
    EXPECT_EQ(series.method, "callbacks");
    EXPECT_EQ(series.detail, "cudaLaunchKernel 5");
    ASSERT_EQ(series.batches.size(), 1U);
    EXPECT_EQ(series.batches[0].seed, 7U);
}

TEST(ApiCalls, WithoutCallbacksAreNotCollected) {
    FakeVariant variant = busy();
    variant.readings["api"].problem = "another profiler is attached";
    const Measured one(variant, settings_for({"gpu_time", "api_calls"}));
    EXPECT_EQ(one.why_not("api_calls"), "another profiler is attached");
    EXPECT_FALSE(one.result.metrics.contains("api_calls"));
}

TEST(Memory, IsMeasuredOnceTheCaseIsClosed) {
    const Measured one(busy(), settings_for({"gpu_time", "memory_peak", "leak"}));
    const Calls& calls = one.backend.calls;
    ASSERT_GE(calls.size(), 2U);
    EXPECT_EQ(Calls(calls.end() - 2, calls.end()), (Calls{"close", "memory"}));
    EXPECT_EQ(one.result.metrics.at("memory_peak").value, 4096);
    EXPECT_EQ(one.result.metrics.at("leak").value, 64);
    EXPECT_EQ(one.result.metrics.at("leak").detail, "over 1000 launches");
    EXPECT_EQ(one.result.metrics.at("leak").method, "driver/free");
    EXPECT_TRUE(one.result.notes.empty());
    FakeVariant noted = busy();
    noted.readings["memory"].note = "NVML does not say";
    const Measured other_note(noted, settings_for({"gpu_time", "memory_peak"}));
    EXPECT_EQ(other_note.result.notes, (Calls{"device memory: NVML does not say"}));
    FakeVariant slow = busy();
    slow.readings["memory"].values["leak"].problem = "12 launches in 2 s are too few";
    const Measured other(slow, settings_for({"gpu_time", "memory_peak", "leak"}));
    EXPECT_TRUE(other.result.metrics.contains("memory_peak"));
    EXPECT_FALSE(other.result.metrics.contains("leak"));
    EXPECT_EQ(other.why_not("leak"), "12 launches in 2 s are too few");
}

TEST(Memory, ThatIsNotKnownIsNotCollected) {
    FakeVariant variant = busy();
    variant.readings["memory"].problem = "others use the device";
    const Measured one(variant, settings_for({"gpu_time", "memory_peak", "leak"}));
    for (const char* metric : {"memory_peak", "leak"}) {
        EXPECT_EQ(one.why_not(metric), "others use the device");
        EXPECT_FALSE(one.result.metrics.contains(metric));
    }
}

TEST(Readings, AValueThatTheBackendLeavesOutIsNotCollected) {
    FakeVariant variant = busy();
    variant.readings["memory"].values.erase("leak");
    variant.readings.erase("api");
    const Measured one(variant, settings_for({"gpu_time", "memory_peak", "leak", "api_calls"}));
    EXPECT_TRUE(one.result.metrics.contains("memory_peak"));
    for (const char* metric : {"leak", "api_calls"}) {
        EXPECT_FALSE(one.result.metrics.contains(metric)) << metric;
        EXPECT_NE(one.why_not(metric), "") << metric;
    }
}

TEST(Readings, CostNothingUnlessAskedFor) {
    const Measured one(busy(), settings_for({"gpu_time"}));
    for (const char* call : {"memory", "api"}) {
        EXPECT_EQ(std::count(one.backend.calls.begin(), one.backend.calls.end(), call), 0) << call;
    }
    // Only the first process counts.
    CaseSettings later = settings_for({"gpu_time", "api_calls", "memory_peak", "leak"});
    later.times_only = true;
    const Measured again(busy(), later);
    EXPECT_EQ(std::count(again.backend.calls.begin(), again.backend.calls.end(), "memory"), 0);
    EXPECT_EQ(again.result.metrics.size(), 1U);
}

TEST(Readings, DoesNotApplyToHostVariants) {
    FakeVariant variant = busy();
    variant.target = model::Target::host;
    const Measured host(variant, settings_for({"host_time", "api_calls", "leak", "submit_time"}));
    EXPECT_EQ(host.result.not_applicable, (Calls{"api_calls", "leak", "submit_time"}));
    EXPECT_TRUE(host.result.not_collected.empty());
    EXPECT_EQ(host.result.metrics.size(), 1U);
}

TEST(SubmitTime, IsTakenOnlyInProcessesWithoutCupti) {
    const Measured traced(busy(), settings_for({"gpu_time", "submit_time"}));
    EXPECT_TRUE(traced.result.metrics.contains("gpu_time"));
    EXPECT_FALSE(traced.result.metrics.contains("submit_time"));

    CaseSettings settings = settings_for({"gpu_time", "energy", "submit_time"});
    settings.times_only = settings.untraced = true;
    FakeVariant variant = busy();
    const Measured untraced(variant, settings);
    EXPECT_EQ(untraced.result.metrics.size(), 1U);
    const model::MetricSeries& series = untraced.result.metrics.at("submit_time");
    EXPECT_EQ(series.value, 1000);
    EXPECT_FALSE(series.batches.at(0).sm_clock_mhz) << "it is not the host's";
    EXPECT_TRUE(untraced.result.readings.empty());
}

TEST(Sources, WhatPreparingTookAndChoseIsOfEachProcess) {
    FakeVariant tuned = steady();
    tuned.prepared = {2e9, {{"add.BLOCK", "128"}}};
    for (const bool again : {false, true}) {
        CaseSettings settings = settings_for({"gpu_time"});
        settings.times_only = again;
        settings.process = again ? 3 : 0;
        const Measured one(tuned, settings);
        const model::MetricSeries& series = one.result.metrics.at("prepare_time");
        EXPECT_EQ(series.value, 2e9);
        EXPECT_EQ(series.detail, "add.BLOCK 128");
        ASSERT_EQ(series.batches.size(), 1U);
        EXPECT_EQ(series.batches[0].process, again ? 3 : 0);
    }
}

TEST(Sources, PreparingThatIsAskedForAndAbsentIsNotCollected) {
    const Measured one(steady(), settings_for({"gpu_time", "prepare_time"}));
    EXPECT_NE(one.why_not("prepare_time"), "");
    const Measured other(steady(), settings_for({"gpu_time"}));
    EXPECT_EQ(other.why_not("prepare_time"), "");
    EXPECT_FALSE(other.result.metrics.contains("prepare_time"));
}

}  // namespace sources_test
}  // namespace perfgate::measure

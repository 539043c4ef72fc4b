// SPDX-License-Identifier: Apache-2.0
#include "measure/footprint.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "measure/case_measurement.hpp"
#include "unit/fake_backend.hpp"

namespace perfgate::measure {
namespace {

using fakes::FakeBackend;
using fakes::FakeVariant;
using Calls = std::vector<std::string>;

struct Measured {
    Measured(FakeVariant variant, CaseSettings settings) {
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

FakeVariant busy() {
    FakeVariant variant;
    variant.api_calls.method = "callbacks";
    variant.api_calls.by_name = {{"cudaGetDevice", 2}, {"cudaLaunchKernel", 3}};
    variant.memory.method = "driver/free";
    variant.memory.peak_bytes = 4096;
    variant.memory.leaked_bytes = 64;
    variant.memory.launches = 1000;
    return variant;
}

TEST(ApiCalls, AreAddedUpAndNamed) {
    const Measured one(busy(), settings_for({"gpu_time", "api_calls"}));
    const model::MetricSeries& series = one.result.metrics.at("api_calls");
    EXPECT_EQ(series.value, 5);
    EXPECT_EQ(series.unit, "count");
    EXPECT_EQ(series.method, "callbacks");
    EXPECT_EQ(series.detail, "cudaGetDevice 2, cudaLaunchKernel 3");
    ASSERT_EQ(series.batches.size(), 1U);
    EXPECT_EQ(series.batches[0].seed, 7U);
}

TEST(ApiCalls, WithoutCallbacksAreNotCollected) {
    FakeVariant variant = busy();
    variant.api_calls.problem = "another profiler is attached";
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
    FakeVariant slower = busy();
    slower.memory.launches = 400;
    slower.memory.note = "NVML does not say";
    const Measured scaled(slower, settings_for({"gpu_time", "memory_peak", "leak"}));
    EXPECT_EQ(scaled.result.metrics.at("leak").detail, "over 400 launches, scaled to 1000");
    EXPECT_EQ(scaled.result.notes, (Calls{"device memory: NVML does not say"}));
    FakeVariant slow = busy();
    slow.memory.leak_problem = "12 launches in 2 s are too few";
    const Measured other(slow, settings_for({"gpu_time", "memory_peak", "leak"}));
    EXPECT_TRUE(other.result.metrics.contains("memory_peak"));
    EXPECT_FALSE(other.result.metrics.contains("leak"));
    EXPECT_EQ(other.why_not("leak"), "12 launches in 2 s are too few");
}

TEST(Memory, ThatIsNotKnownIsNotCollected) {
    FakeVariant variant = busy();
    variant.memory.problem = "others use the device";
    const Measured one(variant, settings_for({"gpu_time", "memory_peak", "leak"}));
    for (const char* metric : {"memory_peak", "leak"}) {
        EXPECT_EQ(one.why_not(metric), "others use the device");
        EXPECT_FALSE(one.result.metrics.contains(metric));
    }
}

TEST(Footprint, CostsNothingUnlessAskedFor) {
    const Measured one(busy(), settings_for({"gpu_time"}));
    for (const char* call : {"memory", "api_calls"}) {
        EXPECT_EQ(std::count(one.backend.calls.begin(), one.backend.calls.end(), call), 0) << call;
    }
    // Only the first process counts.
    CaseSettings later = settings_for({"gpu_time", "api_calls", "memory_peak", "leak"});
    later.times_only = true;
    const Measured again(busy(), later);
    EXPECT_EQ(std::count(again.backend.calls.begin(), again.backend.calls.end(), "memory"), 0);
    EXPECT_EQ(again.result.metrics.size(), 1U);
}

TEST(Footprint, DoesNotApplyToHostVariants) {
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

}  // namespace
}  // namespace perfgate::measure

// SPDX-License-Identifier: Apache-2.0
#include "measure/case_measurement.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/fake_backend.hpp"

namespace perfgate::measure {
namespace {

using fakes::FakeBackend;
using fakes::FakeVariant;
using model::CaseStatus;

constexpr const char* instructions = "smsp__inst_executed.sum";
constexpr const char* dram = "dram__bytes.sum";

CaseSettings settings_for(std::vector<std::string> metrics) {
    CaseSettings settings;
    settings.metrics = std::move(metrics);
    settings.seed = 7;
    settings.verify_seed = 9;
    settings.time_budget_s = 0;
    return settings;
}

/// A FakeBackend with one variant, and its case as far as it was measured.
struct Measured {
    explicit Measured(FakeVariant variant) { backend.variants["plain"] = std::move(variant); }

    void measure(const CaseSettings& settings) {
        result.spec = {fakes::workload, "plain", {}, model::Cache::cold};
        CaseMeasurement measurement(backend);
        measurement.measure(result, settings, [](std::string_view) {});
    }
    void count(const CaseSettings& settings) {
        measure(settings);
        CaseMeasurement measurement(backend);
        measurement.collect_counters({{&result, settings}}, [](std::string_view) {});
    }
    std::string why_not(const std::string& metric) const {
        const auto found = std::find_if(result.not_collected.begin(), result.not_collected.end(),
                                        [&](const auto& entry) { return entry.metric == metric; });
        return found == result.not_collected.end() ? "" : found->reason;
    }

    FakeBackend backend;
    model::CaseResult result;
};

FakeVariant two_kernels() {
    FakeVariant variant;
    variant.launch.kernels = {fakes::kernel("first"), fakes::kernel("second")};
    variant.counters.kernels = {"first", "second"};
    variant.counters.values = {{{instructions, 10}}, {{instructions, 32}}};
    variant.counters.method = "counter/auto-range/user-replay/cold";
    return variant;
}

TEST(CaseMeasurement, VerifiesThenRecordsThenTimes) {
    FakeVariant variant = two_kernels();
    variant.launch.memory_operations = {{model::MemoryOperationKind::memset, 4096,
                                         model::MemoryKind::unknown, model::MemoryKind::device}};
    Measured one(variant);
    one.measure(settings_for({"gpu_time"}));
    EXPECT_EQ(one.result.status, CaseStatus::measured);
    EXPECT_EQ(one.backend.calls,
              (std::vector<std::string>{"keep_code", "open", "verify", "fill", "launch", "record",
                                        "host_code", "time", "close"}));
    EXPECT_EQ(one.result.verification->seed, 9U);
    EXPECT_EQ(one.result.kernels, variant.launch.kernels);
    EXPECT_EQ(one.result.memory_operations, variant.launch.memory_operations);
    EXPECT_EQ(one.result.host_code, "0057");
    EXPECT_EQ(one.result.libraries, model::Libraries{});
    EXPECT_EQ(one.result.metrics.at("gpu_time").value, 1000);
    EXPECT_EQ(one.result.metrics.at("gpu_time").batches.at(0).seed, 7U);
}

TEST(CaseMeasurement, ForTheCodeAloneNothingIsVerifiedOrTimed) {
    Measured one(two_kernels());
    CaseSettings settings = settings_for({"gpu_time"});
    settings.code_only = true;
    one.measure(settings);
    EXPECT_EQ(one.backend.calls, (std::vector<std::string>{"keep_code", "open", "fill", "launch",
                                                           "record", "host_code", "close"}));
    EXPECT_EQ(one.result.kernels.size(), 2U);
    EXPECT_TRUE(one.result.metrics.empty());
}

TEST(CaseMeasurement, AnIncorrectCaseHasNoNumbers) {
    FakeVariant variant = two_kernels();
    variant.correct = false;
    Measured one(variant);
    one.measure(settings_for({"gpu_time"}));
    EXPECT_EQ(one.result.status, CaseStatus::incorrect);
    EXPECT_TRUE(one.result.metrics.empty());
    EXPECT_EQ(one.result.reason, "wrong result (inputs of seed 9): element 0");
}

TEST(CaseMeasurement, AFailureLeavesNoNumbersAndALostDeviceIsPassedOn) {
    for (const char* call : {"open", "fill", "verify", "launch", "record", "time"}) {
        FakeVariant variant = two_kernels();
        variant.fails_in = call;
        Measured one(variant);
        one.measure(settings_for({"gpu_time"}));
        EXPECT_EQ(one.result.status, CaseStatus::error) << call;
        EXPECT_EQ(one.result.reason, std::string(call) + " failed");
        EXPECT_TRUE(one.result.metrics.empty() && one.result.kernels.empty()) << call;

        variant.loses_device = true;
        Measured lost(variant);
        EXPECT_THROW(lost.measure(settings_for({"gpu_time"})), DeviceLost) << call;
        EXPECT_EQ(lost.result.status, CaseStatus::error) << call;
    }
}

TEST(CaseMeasurement, ABatchSaysWhichProcessRoundBoardAndSeedItIsOf) {
    Measured one(two_kernels());
    CaseSettings settings = settings_for({"gpu_time"});
    settings.process = 4;
    settings.round = 2;
    one.measure(settings);
    const model::MetricSeries& series = one.result.metrics.at("gpu_time");
    EXPECT_EQ(series.unit, "ns");
    EXPECT_EQ(series.method, "fake/cold");
    const model::Batch& batch = series.batches.at(0);
    EXPECT_EQ(batch.process, 4);
    EXPECT_EQ(batch.round, 2);
    EXPECT_EQ(batch.device, "b1");
    EXPECT_EQ(batch.seed, 7U);
    EXPECT_EQ(batch.excluded, "");
}

TEST(CaseMeasurement, SamplesUntilTheMedianIsKnownToThePrecisionOrTheBudgetIsSpent) {
    const auto samples = [](double spread_ns, double precision, double time_budget_s) {
        FakeVariant variant = two_kernels();
        variant.spread_ns = spread_ns;
        Measured one(variant);
        CaseSettings settings = settings_for({"gpu_time"});
        settings.precision = precision;
        settings.time_budget_s = time_budget_s;
        one.measure(settings);
        return one.result.metrics.at("gpu_time").batches.at(0).samples.size();
    };
    const std::size_t alike = samples(0, 0.5, 60);
    EXPECT_EQ(samples(100, 0.5, 60), alike) << "10 % apart are known to 50 %";
    EXPECT_GT(samples(100, 1e-9, 0.05), alike) << "and never to a billionth";
    EXPECT_LT(samples(100, 1e-9, 0), alike);
}

TEST(CaseMeasurement, AFurtherBatchOfTimesVerifiesAndRecordsNothing) {
    Measured one(two_kernels());
    CaseSettings settings = settings_for({"gpu_time", "registers", "host_time"});
    settings.times_only = true;
    one.measure(settings);
    EXPECT_EQ(one.result.status, CaseStatus::measured);
    EXPECT_EQ(one.backend.calls,
              (std::vector<std::string>{"open", "fill", "launch", "time", "close"}));
    EXPECT_EQ(one.result.metrics.size(), 1U);
    EXPECT_TRUE(one.result.kernels.empty() && one.result.not_applicable.empty());
    EXPECT_TRUE(one.result.not_collected.empty());
}

TEST(CaseMeasurement, VerifyingAloneTakesNoTime) {
    Measured one(two_kernels());
    CaseSettings settings = settings_for({"gpu_time"});
    settings.verify_only = true;
    one.measure(settings);
    EXPECT_EQ(one.result.status, CaseStatus::measured);
    EXPECT_TRUE(one.result.verification->passed);
    EXPECT_EQ(one.backend.calls, (std::vector<std::string>{"open", "verify", "close"}));
    EXPECT_TRUE(one.result.metrics.empty());
}

TEST(CaseMeasurement, WhatTheDeviceCannotRunOrHoldIsRefusedBeforeItIsOpened) {
    FakeVariant variant = two_kernels();
    variant.facts.unsupported = "m must be even";
    Measured unsupported(variant);
    unsupported.measure(settings_for({"gpu_time"}));
    EXPECT_EQ(unsupported.result.reason,
              "variant 'plain' cannot run these parameters: m must be even");
    EXPECT_TRUE(unsupported.backend.calls.empty());

    variant.facts.unsupported.clear();
    variant.facts.memory_bytes = (1 << 20) + 1;
    Measured large(variant);
    large.measure(settings_for({"gpu_time"}));
    EXPECT_EQ(large.result.status, CaseStatus::error);
    EXPECT_NE(large.result.reason.find("does not fit the device: it needs 1 MiB, 1 MiB are free"),
              std::string::npos)
        << large.result.reason;

    variant.facts.memory_bytes = 1 << 20;
    Measured fits(variant);
    fits.measure(settings_for({"gpu_time"}));
    EXPECT_EQ(fits.result.status, CaseStatus::measured);
}

TEST(CaseMeasurement, StatesTheWorkWhereTheWorkloadDoes) {
    FakeVariant variant = two_kernels();
    Measured none(variant);
    none.measure(settings_for({"gpu_time"}));
    EXPECT_FALSE(none.result.work.has_value());
    for (const model::Work& work : {model::Work{2e9, 0, "f32"}, model::Work{0, 3e6, ""}}) {
        variant.facts.work = work;
        Measured one(variant);
        one.measure(settings_for({"gpu_time"}));
        EXPECT_EQ(one.result.work, work);
    }
}

TEST(CaseMeasurement, MetricsOfTheOtherTargetDoNotApply) {
    Measured cuda(two_kernels());
    cuda.measure(settings_for({"gpu_time", "host_time"}));
    EXPECT_EQ(cuda.result.not_applicable, std::vector<std::string>{"host_time"});

    FakeVariant variant;
    variant.target = model::Target::host;
    Measured host(variant);
    host.measure(settings_for({"gpu_time", "host_time", "registers"}));
    EXPECT_EQ(host.result.not_applicable, (std::vector<std::string>{"gpu_time", "registers"}));
    EXPECT_EQ(host.result.metrics.size(), 1U);
    EXPECT_EQ(host.result.metrics.at("host_time").value, 1000);
}

TEST(CaseMeasurement, KernelRecordsAreFoldedOverTheLaunch) {
    FakeVariant variant = two_kernels();
    variant.launch.kernels[0].registers = 32;
    variant.launch.kernels[1].registers = 40;
    Measured one(variant);
    CaseSettings settings = settings_for({"registers"});
    settings.process = 4;
    one.measure(settings);
    const model::MetricSeries& registers = one.result.metrics.at("registers");
    EXPECT_EQ(registers.value, 40);
    EXPECT_EQ(registers.method, "kernel-record");
    EXPECT_EQ(registers.batches, (std::vector<model::Batch>{{4, "b1", 7, {40}}}));

    variant.launch.kernels.clear();
    Measured empty(variant);
    empty.measure(settings_for({"registers"}));
    EXPECT_EQ(empty.why_not("registers"), "the launch left no kernel record");

    Measured without(two_kernels());
    without.backend.kernel_records = false;
    without.measure(settings_for({"registers", "gpu_time"}));
    EXPECT_EQ(without.why_not("registers"), "no records here");
    EXPECT_EQ(without.why_not("gpu_time"), "no records here");
}

TEST(CaseMeasurement, AddedWorkIsAFractionOfTheLaunchWithTheLeastWork) {
    Measured one(two_kernels());
    CaseSettings settings = settings_for({"gpu_time"});
    settings.added_work = 0.5;
    one.measure(settings);
    // 1000 ns and the least work, 5000 ns, and half of both.
    EXPECT_EQ(one.result.metrics.at("gpu_time").value, 9000);
}

TEST(CaseMeasurement, CopiesAreNotKnownWhereLaunchesCannotBeRecorded) {
    Measured one(two_kernels());
    one.backend.kernel_records = false;
    one.measure(settings_for({"gpu_span"}));
    EXPECT_TRUE(one.result.kernels.empty());
    EXPECT_FALSE(one.result.memory_operations.has_value());
    EXPECT_EQ(one.result.host_code, "0057");
}

TEST(CaseMeasurement, KernelsOfAStreamHaveCountersOfTheirOwn) {
    Measured one(two_kernels());
    one.count(settings_for({"instructions"}));
    EXPECT_EQ(one.result.metrics.at("instructions").value, 42);
    EXPECT_EQ(one.result.kernels.at(0).metrics.at("instructions"), 10);
    EXPECT_EQ(one.result.kernels.at(1).metrics.at("instructions"), 32);
}

TEST(CaseMeasurement, AGraphsCountersAreTheCasesAndNoKernels) {
    FakeVariant variant = two_kernels();
    variant.submission = model::Submission::graph;
    variant.counters.kernels = {"(graph)"};
    variant.counters.values = {{{instructions, 42}}};
    Measured one(variant);
    one.count(settings_for({"instructions"}));
    EXPECT_EQ(one.result.metrics.at("instructions").value, 42);
    for (const model::Kernel& kernel : one.result.kernels) EXPECT_TRUE(kernel.metrics.empty());

    // Nor are they where the graph has a single kernel.
    variant.launch.kernels.pop_back();
    Measured single(variant);
    single.count(settings_for({"instructions"}));
    EXPECT_TRUE(single.result.kernels.at(0).metrics.empty());
}

TEST(CaseMeasurement, EachLostMetricHasItsOwnReason) {
    FakeVariant variant = two_kernels();
    variant.counters.values = {{}, {}};
    variant.counters.not_collected = {{"lts__t_sectors.sum", "the L2 is shared"},
                                      {dram, "no memory here"},
                                      {instructions, "the device gave no number"}};
    Measured one(variant);
    one.count(settings_for({"instructions", "dram_bytes", "l2_hit_rate"}));
    EXPECT_EQ(one.why_not("instructions"), "the device gave no number");
    EXPECT_EQ(one.why_not("dram_bytes"), "no memory here");
    EXPECT_EQ(one.why_not("l2_hit_rate"), "the L2 is shared");

    variant.counters.not_collected.pop_back();
    Measured without_reason(variant);
    without_reason.count(settings_for({"instructions"}));
    EXPECT_EQ(without_reason.why_not("instructions"), "no kernel gave a value");
}

TEST(CaseMeasurement, ACounterThatTheChipLacksIsNamedAndTheOthersAreCollected) {
    Measured one(two_kernels());
    one.backend.lacking_counters = {dram};
    one.count(settings_for({"instructions", "dram_bytes"}));
    EXPECT_NE(one.why_not("dram_bytes").find("fake has no counter dram__bytes.sum"),
              std::string::npos);
    EXPECT_EQ(one.result.metrics.at("instructions").value, 42);
}

TEST(CaseMeasurement, WithoutCountersEachCounterMetricSaysWhy) {
    Measured one(two_kernels());
    one.backend.no_counters = "counters need permission";
    one.count(settings_for({"gpu_time", "instructions", "dram_bytes"}));
    EXPECT_EQ(one.why_not("instructions"), "counters need permission");
    EXPECT_EQ(one.why_not("dram_bytes"), "counters need permission");
    EXPECT_EQ(one.why_not("gpu_time"), "");
    EXPECT_EQ(one.result.metrics.at("gpu_time").value, 1000);
}

}  // namespace
}  // namespace perfgate::measure

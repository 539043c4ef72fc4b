// SPDX-License-Identifier: Apache-2.0
#include "measure/case_measurement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "measure/ceiling_shares.hpp"
#include "metrics/catalogue.hpp"
#include "model/roofline.hpp"
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

TEST(CaseMeasurement, ReportsEachPhaseAsItBegins) {
    Measured one(two_kernels());
    one.result.spec = {fakes::workload, "plain", {}, model::Cache::cold};
    CaseMeasurement measurement(one.backend);
    std::vector<std::string> phases;
    measurement.measure(one.result, settings_for({"gpu_time"}),
                        [&](std::string_view phase) { phases.emplace_back(phase); });
    EXPECT_EQ(phases, (std::vector<std::string>{"set-up", "verify", "fill", "compile", "warm-up",
                                                "record", "time", "tear-down"}));
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

TEST(CaseMeasurement, MachineCodeIsThatOfALaunchThatIsRecorded) {
    Measured one(two_kernels());
    one.result.spec = {fakes::workload, "plain", {}, model::Cache::cold};
    const auto code = [&] {
        CaseMeasurement measurement(one.backend);
        return measurement.machine_code(one.result, settings_for({}), [](std::string_view) {});
    };
    EXPECT_NE(code().problem.find("no machine code"), std::string::npos);  // the fake has none
    EXPECT_EQ(one.backend.calls,
              (std::vector<std::string>{"keep_code", "open", "fill", "launch", "record", "close"}));
    one.backend.kernel_records = false;
    EXPECT_EQ(code().problem, "no records here");
    one.backend.kernel_records = true;
    one.backend.variants["plain"].target = model::Target::host;
    EXPECT_EQ(code().problem, "it runs on the host");
}

model::SourceKernel source_kernel() {
    model::SourceKernel kernel;
    kernel.file = "k.cu";
    kernel.kernel = "plain";
    kernel.arguments = {{model::SourceArgument::Role::inout, model::ElementType::f32, 8}};
    return kernel;
}

TEST(CaseMeasurement, ASourcesStatedWorkIsInItsResult) {
    Measured one(two_kernels());
    CaseSettings settings = settings_for({"gpu_time"});
    settings.kernel = source_kernel();
    settings.kernel->work = {16, 64, "f32"};
    one.measure(settings);
    EXPECT_EQ(one.result.work, settings.kernel->work);
}

TEST(CaseMeasurement, ASourceWithoutCheckRunsAndIsNotVerified) {
    Measured one(two_kernels());
    one.result.source = "k.cu";
    CaseSettings settings = settings_for({"gpu_time", "host_time"});
    settings.kernel = source_kernel();
    one.measure(settings);
    EXPECT_EQ(one.result.status, CaseStatus::measured);
    EXPECT_EQ(one.backend.calls,
              (std::vector<std::string>{"keep_code", "open", "fill", "launch", "fill", "launch",
                                        "record", "time", "close"}));
    EXPECT_FALSE(one.result.verification);
    EXPECT_FALSE(one.result.work);
    EXPECT_EQ(one.result.host_code, model::set_up_fingerprint(source_kernel()));
    EXPECT_EQ(one.result.libraries, model::Libraries{});
    EXPECT_EQ(one.result.not_applicable, std::vector<std::string>{"host_time"});
    EXPECT_EQ(one.result.metrics.at("gpu_time").value, 1000);
}

TEST(CaseMeasurement, RepeatsAreVerifiedOnceIfTheSuiteSaysSo) {
    FakeVariant variant = two_kernels();
    variant.note = "only the repeat";
    Measured one(variant);
    CaseSettings settings = settings_for({"gpu_time"});
    settings.deterministic = true;
    one.measure(settings);
    EXPECT_EQ(one.result.status, CaseStatus::measured);
    EXPECT_EQ(one.backend.calls.at(2), "verify repeats");
    EXPECT_EQ(one.result.notes, std::vector<std::string>{"only the repeat"});

    Measured again(variant);
    settings.times_only = true;
    again.measure(settings);
    EXPECT_EQ(again.backend.calls,
              (std::vector<std::string>{"open", "fill", "launch", "time", "close"}));
}

TEST(CaseMeasurement, OutputsThatDifferAreAWrongResult) {
    FakeVariant variant = two_kernels();
    variant.repeatable = false;
    Measured one(variant);
    CaseSettings settings = settings_for({"gpu_time"});
    settings.deterministic = true;
    one.measure(settings);
    EXPECT_EQ(one.result.status, CaseStatus::incorrect);
    EXPECT_EQ(one.result.reason, "wrong result (inputs of seed 9): output 'y' differs");
    EXPECT_TRUE(one.result.metrics.empty());
}

TEST(CaseMeasurement, ASourceWithoutCheckIsRepeatedButNotVerified) {
    Measured one(two_kernels());
    one.result.source = "k.cu";
    CaseSettings settings = settings_for({"gpu_time"});
    settings.kernel = source_kernel();
    settings.deterministic = true;
    one.measure(settings);
    EXPECT_EQ(one.result.status, CaseStatus::measured);
    EXPECT_EQ(one.backend.calls.at(2), "verify repeats");
    EXPECT_FALSE(one.result.verification);
    EXPECT_EQ(one.result.notes, std::vector<std::string>{"deterministic: all elements"});

    FakeVariant wrong = two_kernels();
    wrong.repeatable = false;
    Measured other(wrong);
    other.measure(settings);
    EXPECT_EQ(other.result.status, CaseStatus::incorrect);
    EXPECT_FALSE(other.result.verification->passed);
}

TEST(CaseMeasurement, ASourceIsTimedAgainInProcessesThatKnowOnlyItsSettings) {
    Measured one(two_kernels());
    CaseSettings settings = settings_for({"gpu_time"});
    settings.kernel = source_kernel();
    settings.times_only = true;
    one.measure(settings);
    EXPECT_EQ(one.result.status, CaseStatus::measured) << one.result.reason;
    EXPECT_EQ(one.result.metrics.at("gpu_time").batches.size(), 1U);
}

TEST(CaseMeasurement, ASourceThatIsWrongOrFailsHasNoNumbers) {
    FakeVariant wrong = two_kernels();
    wrong.correct = false;
    Measured one(wrong);
    one.result.source = "k.cu";
    CaseSettings settings = settings_for({"gpu_time"});
    settings.kernel = source_kernel();
    settings.kernel->check.kind = model::SourceCheck::Kind::kernel;
    one.measure(settings);
    EXPECT_EQ(one.result.status, CaseStatus::incorrect);
    EXPECT_TRUE(one.result.metrics.empty());

    FakeVariant crashing = two_kernels();
    crashing.fails_in = "launch";
    Measured other(crashing);
    other.result.source = "k.cu";
    settings.kernel = source_kernel();
    other.measure(settings);
    EXPECT_EQ(other.result.status, CaseStatus::error);

    settings.kernel->arguments[0].elements = 1 << 20;
    Measured large(two_kernels());
    large.result.source = "k.cu";
    large.measure(settings);
    EXPECT_NE(large.result.reason.find("it needs 8 MiB, 1 MiB are free"), std::string::npos);
}

TEST(CaseMeasurement, ASourceThatChangesItsInputsHasASessionOfItsOwn) {
    Measured one(two_kernels());
    one.result.source = "k.cu";
    CaseSettings settings = settings_for({"gpu_time", "instructions"});
    settings.kernel = source_kernel();
    one.count(settings);
    ASSERT_EQ(one.backend.counter_cases.size(), 1U);
    EXPECT_TRUE(one.backend.counter_cases[0].own_session);
    EXPECT_TRUE(one.result.metrics.contains("instructions"));
}

TEST(CaseMeasurement, AskedForAShareOfACeilingItWaitsForTheCeilings) {
    Measured one(two_kernels());
    one.measure(settings_for({"gpu_time", "ceiling_share"}));
    EXPECT_TRUE(one.why_not("ceiling_share").find("ceilings") != std::string::npos);
    one.result = {};
    one.measure(settings_for({"gpu_time"}));
    EXPECT_EQ(one.why_not("ceiling_share"), "");

    FakeVariant host;
    host.target = model::Target::host;
    Measured other(host);
    other.measure(settings_for({"host_time", "ceiling_share"}));
    EXPECT_EQ(other.result.not_applicable, (std::vector<std::string>{"ceiling_share"}));
    EXPECT_EQ(other.why_not("ceiling_share"), "");
}

/// Of a run whose only case asks for its share, on a device with these ceilings.
model::CaseResult shared(const model::Ceilings& ceilings) {
    Measured one(two_kernels());
    one.backend.measured_ceilings = ceilings;
    one.result.work = model::Work{9000, 800, "bf16"};
    one.measure(settings_for({"gpu_time", "ceiling_share"}));
    model::Run run;
    run.environment.ceilings = one.backend.ceilings();
    run.suites.emplace_back().cases = {one.result};
    EXPECT_TRUE(asks_for_ceilings(run));
    add_ceiling_shares(run);
    return run.suites[0].cases[0];
}

// As of a MIG instance that is too small for the buffer, a machine without cuBLAS, a backend
// without ceilings.
TEST(CaseMeasurement, ACeilingThatCouldNotBeMeasuredIsTheReasonWhyThereIsNoShare) {
    struct Unknown {
        model::Ceilings ceilings;
        std::string reason;
    };
    for (const Unknown& unknown :
         {Unknown{{0, {}, "out of memory"}, "the run has no copy bandwidth: out of memory"},
          Unknown{{1e9, {}, "no cuBLAS"}, "the run has no matrix rate of bf16: no cuBLAS"},
          Unknown{{1e9, {{"f32", 1e10}}, ""}, "the run has no matrix rate of bf16"},
          Unknown{{std::nan(""), {{"bf16", 1e10}}, ""}, "the run has no copy bandwidth"},
          Unknown{{1e9, {{"bf16", std::nan("")}}, ""}, "the run has no matrix rate of bf16"},
          Unknown{{}, "the run has no copy bandwidth"}}) {
        const model::CaseResult result = shared(unknown.ceilings);
        EXPECT_FALSE(result.metrics.contains("ceiling_share")) << unknown.reason;
        ASSERT_EQ(result.not_collected.size(), 1U) << unknown.reason;
        EXPECT_EQ(result.not_collected[0].metric, "ceiling_share");
        EXPECT_EQ(result.not_collected[0].reason, unknown.reason);
        EXPECT_FALSE(model::ceiling_share(result, unknown.ceilings)) << "nothing bounds it";
    }
    EXPECT_TRUE(shared({1e9, {{"bf16", 1e10}}, ""}).metrics.contains("ceiling_share"));
}

TEST(CaseMeasurement, WhatATimeLeavesOutIsNotedOnce) {
    FakeVariant variant = two_kernels();
    variant.time_note = "gpu_time: it leaves 2 copies out";
    Measured one(variant);
    one.measure(settings_for({"gpu_time"}));
    EXPECT_EQ(one.result.notes, (std::vector<std::string>{variant.time_note}));
}

TEST(CaseMeasurement, WavesAreThoseOfTheKernelWithTheMost) {
    FakeVariant variant = two_kernels();
    variant.launch.kernels[0].waves = 2.25;
    variant.launch.kernels[1].waves = 0.5;
    Measured one(variant);
    one.measure(settings_for({"gpu_time", "waves"}));
    EXPECT_EQ(one.result.metrics.at("waves").value, 2.25);
    // A sum over some of the kernels would be no value.
    variant.launch.kernels[1].waves.reset();
    Measured other(variant);
    other.measure(settings_for({"gpu_time", "waves"}));
    EXPECT_FALSE(other.result.metrics.contains("waves"));
    EXPECT_NE(other.why_not("waves"), "");
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

TEST(CaseMeasurement, AFactThatAKernelsCodeDoesNotSayIsNotCollected) {
    FakeVariant variant = two_kernels();
    variant.launch.kernels[0].code_bytes = 384;
    variant.launch.kernels[0].stack_bytes = 0;
    variant.launch.kernels[1].name = "void gemm(float*)";
    variant.launch.kernels[1].code_bytes = 512;
    Measured one(variant);
    one.measure(settings_for({"code_size", "stack"}));
    EXPECT_EQ(one.result.metrics.at("code_size").value, 512);
    EXPECT_FALSE(one.result.metrics.contains("stack"));
    EXPECT_EQ(one.why_not("stack"),
              "the machine code of kernel gemm does not contain this value; leave the metric out");

    variant.launch.kernels[1].code.clear();
    variant.launch.kernels[1].code_bytes.reset();
    Measured unknown(variant);
    unknown.measure(settings_for({"code_size", "stack"}));
    EXPECT_TRUE(unknown.result.metrics.empty());
    for (const std::string metric : {"code_size", "stack"}) {
        EXPECT_TRUE(
            unknown.why_not(metric).starts_with("the machine code of kernel gemm is not known"))
            << unknown.why_not(metric);
    }
}

TEST(CaseMeasurement, EveryReadingOfTheCatalogueIsTakenOrSaysWhyNot) {
    for (const metrics::Metric& metric : metrics::catalogue()) {
        if (metric.reading.empty()) continue;
        Measured one(two_kernels());
        one.measure(settings_for({metric.definition.name}));
        EXPECT_NE(one.why_not(metric.definition.name), "") << metric.definition.name;
    }
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

TEST(CaseMeasurement, OnlyTheFirstCaseOfADeviceWarmsItUp) {
    FakeVariant host;
    host.target = model::Target::host;
    FakeBackend backend;
    backend.variants["cuda"] = two_kernels();
    backend.variants["host"] = host;
    CaseMeasurement measurement(backend);
    const auto measure = [&](const std::string& variant) {
        model::CaseResult result;
        result.spec = {fakes::workload, variant, {}, model::Cache::cold};
        measurement.measure(result, settings_for({"gpu_time"}), [](std::string_view) {});
    };
    measure("cuda");
    measure("cuda");
    EXPECT_EQ(backend.warm_ups, (std::vector<fakes::WarmUp>{{1, 0.3}, {1, 0.005}}));

    FakeBackend of_host;
    of_host.variants["host"] = host;
    CaseMeasurement on_host(of_host);
    model::CaseResult result;
    result.spec = {fakes::workload, "host", {}, model::Cache::cold};
    on_host.measure(result, settings_for({"host_time"}), [](std::string_view) {});
    EXPECT_EQ(of_host.warm_ups, (std::vector<fakes::WarmUp>{{1, 0.005}}));
}

TEST(CaseMeasurement, AKindOfTimeHasTheClockAndTheThrottlingAroundIt) {
    const auto at = [](double mhz, std::vector<std::string> reasons = {}) {
        model::BoardState state;
        state.sm_clock_mhz = mhz;
        state.max_sm_clock_mhz = 3000;
        state.power_limit_w = 700;
        state.throttle_reasons = std::move(reasons);
        return state;
    };
    Measured one(two_kernels());
    one.backend.board_states = {at(1000), at(1200), at(1600, {"hardware slowdown"})};
    CaseSettings settings = settings_for({"gpu_time", "gpu_span"});
    settings.process = 4;
    one.measure(settings);
    const model::Batch& time = one.result.metrics.at("gpu_time").batches.at(0);
    EXPECT_EQ(time.sm_clock_mhz, 1100);
    EXPECT_EQ(time.excluded, "");
    const model::Batch& span = one.result.metrics.at("gpu_span").batches.at(0);
    EXPECT_EQ(span.sm_clock_mhz, 1400);
    EXPECT_NE(span.excluded.find("hardware slowdown"), std::string::npos);
    ASSERT_EQ(one.result.readings.size(), 1U);
    EXPECT_EQ(one.result.readings[0].process, 4);
    EXPECT_EQ(one.result.readings[0].device, "b1");
    EXPECT_EQ(one.result.readings[0].state.sm_clock_mhz, 1600);
    EXPECT_EQ(one.result.readings[0].state.max_sm_clock_mhz, std::nullopt) << "it does not move";
    EXPECT_EQ(one.result.readings[0].state.power_limit_w, std::nullopt);

    Measured silent(two_kernels());
    silent.measure(settings);
    EXPECT_TRUE(silent.result.readings.empty());
}

TEST(CaseMeasurement, EveryPhaseIsARangeWithinTheCases) {
    Measured one(two_kernels());
    one.measure(settings_for({"gpu_time"}));
    EXPECT_EQ(one.backend.ranges, (std::vector<std::string>{"fake/plain", "verify", "", "warm-up",
                                                            "", "time", "", ""}));
    one.backend.ranges.clear();
    one.count(settings_for({"instructions"}));
    EXPECT_EQ(one.backend.ranges.at(one.backend.ranges.size() - 2), "counters");
    EXPECT_EQ(one.backend.ranges.back(), "");
}

TEST(CaseMeasurement, ATimeWithoutSamplesIsAnError) {
    FakeVariant variant = two_kernels();
    variant.gives_samples = false;
    Measured one(variant);
    one.measure(settings_for({"gpu_time"}));
    EXPECT_EQ(one.result.status, CaseStatus::error);
    EXPECT_NE(one.result.reason.find("gpu_time"), std::string::npos) << one.result.reason;
}

TEST(CaseMeasurement, WhatNoPluginOffersIsNamed) {
    FakeBackend backend;
    CaseMeasurement measurement(backend);
    for (const char* workload : {fakes::workload, "other"}) {
        model::CaseResult result;
        result.spec = {workload, "gone", {}, model::Cache::cold};
        measurement.measure(result, settings_for({"gpu_time"}), [](std::string_view) {});
        EXPECT_EQ(result.status, CaseStatus::error);
        EXPECT_NE(result.reason.find(std::string(workload) + "/gone"), std::string::npos);
    }
}

TEST(CaseMeasurement, EveryEndAddsItsWallTime) {
    for (const bool correct : {true, false}) {
        FakeVariant variant = two_kernels();
        variant.correct = correct;
        Measured one(variant);
        one.result.wall_s = 5;
        one.measure(settings_for({"gpu_time"}));
        EXPECT_GT(one.result.wall_s, 5);
        EXPECT_LT(one.result.wall_s, 60);
    }
    for (const bool code_only : {true, false}) {
        FakeVariant variant = two_kernels();
        if (!code_only) variant.fails_in = "time";
        Measured one(variant);
        CaseSettings settings = settings_for({"gpu_time"});
        settings.code_only = code_only;
        one.result.wall_s = 5;
        one.measure(settings);
        EXPECT_GT(one.result.wall_s, 5);
        if (code_only) {
            EXPECT_EQ(one.backend.warm_ups, (std::vector<fakes::WarmUp>{{1, 0}}));
        }
    }
}

TEST(CaseMeasurement, CountersOfSeveralCasesAreAskedForOnceAndGivenToEach) {
    FakeVariant variant = two_kernels();
    variant.facts.needs_reset = true;
    FakeVariant graph = two_kernels();
    graph.submission = model::Submission::graph;
    FakeBackend backend;
    backend.variants["plain"] = variant;
    backend.variants["graph"] = graph;
    CaseMeasurement measurement(backend);
    model::CaseResult plain;
    plain.spec = {fakes::workload, "plain", {}, model::Cache::hot};
    plain.kernels = variant.launch.kernels;
    plain.wall_s = 5;
    model::CaseResult as_graph;
    as_graph.spec = {fakes::workload, "graph", {}, model::Cache::cold};
    CaseSettings of_plain = settings_for({"gpu_time", "instructions"});
    of_plain.process = 3;
    std::vector<std::string> phases;
    measurement.collect_counters(
        {{&plain, of_plain}, {&as_graph, settings_for({"instructions", "dram_bytes"})}},
        [&](std::string_view phase) { phases.emplace_back(phase); });

    EXPECT_EQ(phases, std::vector<std::string>{"counters"});
    EXPECT_EQ(backend.collected_counters, (std::vector<std::string>{dram, instructions}));
    EXPECT_EQ(backend.warm_ups, (std::vector<fakes::WarmUp>{{1, 0}, {1, 0}}));
    ASSERT_EQ(backend.counter_cases.size(), 2U);
    const CounterCase& first = backend.counter_cases[0];
    EXPECT_EQ(first.cache, model::Cache::hot);
    EXPECT_EQ(first.expected_kernels, (std::vector<std::string>{"first", "second"}));
    EXPECT_FALSE(first.graph);
    EXPECT_TRUE(first.own_session);
    const CounterCase& second = backend.counter_cases[1];
    EXPECT_EQ(second.cache, model::Cache::cold);
    EXPECT_TRUE(second.expected_kernels.empty());
    EXPECT_TRUE(second.graph);
    EXPECT_FALSE(second.own_session);

    const model::MetricSeries& series = plain.metrics.at("instructions");
    EXPECT_EQ(series.method, "counter/auto-range/user-replay/cold");
    EXPECT_EQ(series.batches, (std::vector<model::Batch>{{3, "b1", 7, {42}}}));
    EXPECT_FALSE(plain.metrics.contains("dram_bytes"));
    EXPECT_TRUE(plain.not_collected.empty());
    EXPECT_EQ(as_graph.not_collected.size(), 1U);
    EXPECT_GT(plain.wall_s, 5);
    EXPECT_LT(plain.wall_s, 60);
    EXPECT_NEAR(plain.wall_s - 5, as_graph.wall_s, 0.5);
}

}  // namespace
}  // namespace perfgate::measure

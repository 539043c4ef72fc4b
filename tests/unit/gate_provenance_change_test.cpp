// SPDX-License-Identifier: Apache-2.0
// What the gate makes of other devices, boards and tools than the baseline's.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/gate_pair.hpp"

namespace perfgate::gate {
namespace {

using namespace pairs;

TEST(Gate, ABaselineOfAnotherDeviceIsRefusedAndTheFieldNamed) {
    const auto refused = [](auto change) {
        Pair pair;
        change(pair.baseline.device);
        return error_of(pair.run, stored(pair.baseline));
    };
    const std::string name = refused([](model::Device& d) { d.name = "NVIDIA H200"; });
    EXPECT_EQ(name,
              "baseline baselines/d/s.json is of another device: device.name is 'NVIDIA H200', the "
              "run's is 'NVIDIA H100 80GB HBM3'; refresh a baseline on this device");
    EXPECT_TRUE(says(refused([](model::Device& d) { d.compute_capability = "8.0"; }),
                     "device.compute_capability is '8.0'"));
    EXPECT_TRUE(says(refused([](model::Device& d) { d.memory_bytes /= 2; }),
                     "device.memory_bytes is '42500000000'"));
    EXPECT_TRUE(says(refused([](model::Device& d) { d.mig_profile = "1g.10gb"; }),
                     "device.mig_profile is '1g.10gb'"));
    EXPECT_TRUE(says(refused([](model::Device& d) { d.key = "other"; }), "device.key is 'other'"));
}

TEST(Gate, AFewPercentOfMemoryThatTheDriverKeepsAreTheSameDevice) {
    Pair pair;
    pair.baseline.device.memory_bytes -= pair.baseline.device.memory_bytes / 50;
    EXPECT_EQ(pair.judged().exit_code, 0);
}

TEST(Gate, ABaselineOfAnotherSuiteIsRefused) {
    Pair pair;
    pair.baseline.suite = "other";
    EXPECT_TRUE(says(error_of(pair.run, stored(pair.baseline)), "suite is 'other'"));
}

TEST(Gate, AGatedMetricThatTheRunDoesNotDefineIsRefused) {
    Pair pair;
    pair.run.metric_definitions.erase("gpu_time");
    EXPECT_TRUE(says(error_of(pair.run, stored(pair.baseline)), "gates 'gpu_time'"));
}

TEST(Gate, OnAnotherBoardTimingHasLeewayAndExactMetricsHaveNone) {
    Pair pair;
    pair.then().provenance.board = "board-b";
    pair.now().gates[1].cross_board = 0.5;
    pair.now().metrics["gpu_time"] = series({1049});
    VerdictDocument document = pair.judged();
    EXPECT_EQ(only_case(document).verdict, Verdict::pass);
    EXPECT_EQ(metric(only_case(document), "gpu_time").tolerance,
              "3 % and 2 % more for another board");
    EXPECT_EQ(document.suites[0].notes,
              std::vector<std::string>{"another board than the baseline's: board-b → board-a"});

    pair.now().metrics["gpu_time"] = series({1051});
    EXPECT_EQ(only_case(pair.judged()).verdict, Verdict::regressed);

    pair.now().metrics["gpu_time"] = series({1000});
    pair.now().metrics["registers"] = series({65}, "registers", "record");
    document = pair.judged();
    EXPECT_EQ(metric(only_case(document), "registers").verdict, Verdict::regressed);
    EXPECT_EQ(metric(only_case(document), "registers").tolerance, "0 %");
}

TEST(Gate, EachCaseOfSeveralBoardsIsJudgedByItsOwn) {
    model::Run run = run_of({measured_case(1), measured_case(2)});
    const model::Baseline baseline = baseline_of(run);
    // What merged shards, or several devices, leave: the run's board is the first's.
    model::Run other = run_of({measured_case(2)});
    documents::move_to_board("board-b", other);
    run.suites[0].cases[1] = other.suites[0].cases[0];
    for (CaseResult& result : run.suites[0].cases) {
        result.gates[0].cross_board = 0.5;
        result.metrics["gpu_time"].value = 1049;
        result.metrics["gpu_time"].batches[0].samples = {1049};
    }
    const VerdictDocument document = judged(run, stored(baseline));
    const auto& cases = document.suites[0].cases;
    EXPECT_EQ(cases[0].verdict, Verdict::regressed);
    EXPECT_TRUE(cases[0].notes.empty());
    EXPECT_EQ(cases[1].verdict, Verdict::pass);
    EXPECT_EQ(cases[1].notes,
              std::vector<std::string>{"another board than the baseline's: board-a → board-b"});
    EXPECT_TRUE(document.suites[0].notes.empty());
}

TEST(Gate, OnTheSameBoardThereIsNoLeeway) {
    Pair pair;
    pair.now().metrics["gpu_time"] = series({1049});
    EXPECT_EQ(only_case(pair.judged()).verdict, Verdict::regressed);
}

TEST(Gate, ABoardThatIsNotKnownIsNotCalledAnother) {
    Pair pair;
    pair.then().provenance.board.clear();
    pair.now().metrics["gpu_time"] = series({1049});
    const VerdictDocument document = pair.judged();
    EXPECT_EQ(only_case(document).verdict, Verdict::regressed);
    EXPECT_TRUE(document.suites[0].notes.empty());
}

TEST(Gate, ChangedToolsAreNotedOnceForTheSuite) {
    model::Run run = run_of({measured_case(1), measured_case(2)});
    const model::Baseline baseline = baseline_of(run);
    run.environment.driver = "590.2";
    run.environment.cuda_toolkit = "13.1";
    run.environment.cupti = "130100";
    run.tool_version = "0.2.0";
    const VerdictDocument document = judged(run, stored(baseline));
    const std::vector<std::string> expected{"driver changed since the baseline: 580.1 → 590.2",
                                            "CUDA toolkit changed since the baseline: 13.0 → 13.1",
                                            "CUPTI changed since the baseline: 130001 → 130100",
                                            "perfgate changed since the baseline: 0.1.0 → 0.2.0"};
    EXPECT_EQ(document.suites[0].notes, expected);
    EXPECT_TRUE(document.suites[0].cases[0].notes.empty());
    EXPECT_TRUE(document.suites[0].cases[1].notes.empty());
    EXPECT_EQ(document.exit_code, 0);
}

TEST(Gate, WhatChangedForSomeCasesIsNotedThere) {
    const model::Run run = run_of({measured_case(1), measured_case(2)});
    model::Baseline baseline = baseline_of(run);
    baseline.cases.at(first_id).provenance.driver = "570.0";
    const VerdictDocument document = judged(run, stored(baseline));
    EXPECT_TRUE(document.suites[0].notes.empty());
    EXPECT_EQ(document.suites[0].cases[0].notes,
              std::vector<std::string>{"driver changed since the baseline: 570.0 → 580.1"});
    EXPECT_TRUE(document.suites[0].cases[1].notes.empty());
}

}  // namespace
}  // namespace perfgate::gate

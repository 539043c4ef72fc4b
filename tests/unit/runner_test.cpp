// SPDX-License-Identifier: Apache-2.0
// Whole runs: plan, worker processes, the loop, judging, reports.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runner/baseline_runs.hpp"
#include "runner/code_file.hpp"
#include "runner/judging.hpp"
#include "runner/run.hpp"
#include "unit/runner_fixture.hpp"

namespace perfgate::runner {
namespace {

TEST(WithoutBase, NamesWhatACheckoutOfTheCommitDoesNotHave) {
    const auto is_without = [](const model::CaseResult& result, bool builds) {
        model::Run run;
        run.suites.emplace_back().cases = {result};
        return !without_base(run, builds).empty();
    };
    const auto program = [](const std::string& name) {
        model::CaseResult result;
        result.command = {name, "bench.py"};
        return result;
    };
    for (const bool builds : {false, true}) {
        EXPECT_FALSE(is_without(program("python3"), builds));
        EXPECT_EQ(is_without(program("./build/bench"), builds), !builds);
        EXPECT_TRUE(is_without(program("/opt/bench"), builds)) << "both sides would start it";
        model::CaseResult result;
        EXPECT_TRUE(is_without(result, builds)) << "a plugin";
        result.metrics["prepare_time"];
        EXPECT_FALSE(is_without(result, builds)) << "Python";
        result.metrics.clear();
        result.source = "a.cu";
        EXPECT_FALSE(is_without(result, builds));
        for (const char* built : {"a.cubin", "a.fatbin", "a.ptx"}) {
            result.source = built;
            EXPECT_EQ(is_without(result, builds), !builds) << built;
        }
    }
}

TEST_F(Runner, ARunSaysWhereAndHowItWasMeasured) {
    EXPECT_EQ(run(request()), 0);
    const model::Run measured = stored();
    EXPECT_EQ(measured.backend, "cuda");
    EXPECT_FALSE(measured.tool_version.empty());
    EXPECT_EQ(measured.started_at.size(), 20U) << measured.started_at;
    EXPECT_GT(measured.wall_s, 0);
    EXPECT_EQ(measured.environment.device.board, "board-0");
    EXPECT_EQ(measured.environment.before.temperature_c, 40);
    EXPECT_EQ(measured.environment.after.temperature_c, 40);
    EXPECT_EQ(measured.environment.ceilings.matrix_flops_per_s.at("f32"), 5e13);
    EXPECT_TRUE(measured.selections.empty());
    EXPECT_FALSE(measured.shard.has_value());
    ASSERT_EQ(measured.suites.at(0).cases.size(), 2U);
    for (const model::CaseResult& result : measured.suites[0].cases) {
        EXPECT_EQ(result.status, CaseStatus::measured) << result.reason;
        EXPECT_EQ(result.verification->seed, 5U);
        EXPECT_EQ(batches(result), usual_processes);
        std::set<std::int64_t> processes;
        for (const model::Batch& batch : result.metrics.at("gpu_time").batches) {
            processes.insert(batch.process);
        }
        EXPECT_EQ(processes.size(), usual_processes);
    }
    EXPECT_EQ(verdict_of(0), Verdict::no_baseline);
    EXPECT_TRUE(fs::exists(folder("out/junit.xml")));
    EXPECT_NE(printed_.find("fake/first"), std::string::npos) << printed_;
}

TEST_F(Runner, AReportThatCannotBeWrittenIsNamedAndKeepsNoOtherBack) {
    RunRequest asked = request();
    asked.reports.files = {{"csv", "/dev/null/report.csv"}, {"markdown", folder("report.md")}};
    EXPECT_EQ(run(asked), 3);
    EXPECT_NE(printed_.find("/dev/null/report.csv"), std::string::npos) << printed_;
    EXPECT_TRUE(fs::exists(folder("report.md")));
    EXPECT_TRUE(fs::exists(folder("out/verdict.json")));
}

TEST_F(Runner, FiltersAndTagsSelectAndAreRecorded) {
    RunRequest asked = request();
    asked.measuring.filters = {"*/first"};
    run(asked);
    model::Run measured = stored();
    ASSERT_EQ(measured.suites.at(0).cases.size(), 1U);
    EXPECT_TRUE(measured.suites[0].partial);
    ASSERT_EQ(measured.selections.size(), 1U);
    EXPECT_EQ(measured.selections[0].filters, Texts{"*/first"});

    asked.measuring.filters.clear();
    asked.measuring.tags = {"nightly"};
    run(asked);
    measured = stored();
    ASSERT_EQ(measured.suites.at(0).cases.size(), 1U);
    EXPECT_EQ(measured.suites[0].cases[0].spec.variant, "second");
    ASSERT_EQ(measured.selections.size(), 1U);
    EXPECT_EQ(measured.selections[0].tags, Texts{"nightly"});
}

TEST_F(Runner, AsManyProcessesAsAskedForAndNoCeilingsWhereNotWanted) {
    RunRequest asked = request();
    asked.measuring.processes = 3;
    asked.measuring.ceilings = false;
    run(asked);
    EXPECT_EQ(batches(stored().suites.at(0).cases.at(0)), 3U);
    EXPECT_EQ(stored().environment.ceilings, model::Ceilings{});

    asked.measuring.ceilings = true;
    asked.measuring.verify_only = true;
    run(asked);
    EXPECT_TRUE(stored().verify_only);
    EXPECT_TRUE(stored().suites.at(0).cases.at(0).metrics.empty());
    EXPECT_EQ(stored().environment.ceilings, model::Ceilings{});
}

TEST_F(Runner, WhatIsAsFastAsTheBaselinePasses) {
    accept();
    EXPECT_EQ(run(request()), 0);
    EXPECT_EQ(verdict_of(0), Verdict::pass);
    EXPECT_EQ(verdict_of(1), Verdict::pass);
}

TEST_F(Runner, WhatPassesEarlyIsMeasuredLessOften) {
    run(request());
    const model::Run first = stored();
    for (const model::CaseResult& result : first.suites.at(0).cases) {
        EXPECT_EQ(batches(result), usual_processes) << "without a baseline nothing is settled";
    }
    accept();
    EXPECT_EQ(run(request()), 0);
    const model::Run second = stored();
    for (const model::CaseResult& result : second.suites.at(0).cases) {
        EXPECT_EQ(batches(result), settling_processes);
    }
    // What does not pass is, before any round.
    RunRequest asked = request({"slow", "recompiled"});
    asked.judging.policy.rounds = 0;
    run(asked);
    EXPECT_EQ(batches(stored().suites.at(0).cases.at(0)), usual_processes);
    // A number that was chosen holds.
    asked = request();
    asked.measuring.processes = 4;
    run(asked);
    EXPECT_EQ(batches(stored().suites.at(0).cases.at(0)), 4U);
}

TEST_F(Runner, TheUsualProcessesDecideWhatIsMuchSlower) {
    accept();
    EXPECT_EQ(run(request({"slow", "recompiled"})), 1);
    EXPECT_EQ(verdict_of(0), Verdict::regressed);
    EXPECT_EQ(verdict().exit_code, 1);
    const model::Run measured = stored();
    for (const model::CaseResult& result : measured.suites.at(0).cases) {
        EXPECT_EQ(batches_after_the_first_round(result), 0U);
        EXPECT_EQ(batches(result), usual_processes);
    }
}

TEST_F(Runner, AFewMoreProcessesDecideWhatIsMuchSlowerThanAFirstBaseline) {
    accept(8);
    EXPECT_EQ(run(request({"slow", "recompiled"})), 1);
    EXPECT_EQ(verdict_of(0), Verdict::regressed);
    const model::Run measured = stored();
    for (const model::CaseResult& result : measured.suites.at(0).cases) {
        EXPECT_EQ(batches_after_the_first_round(result), 0U);
        EXPECT_GT(batches(result), usual_processes);
        EXPECT_LT(batches(result), 10U) << "rounds would have taken 5 and 8";
    }
}

TEST_F(Runner, WhatIsSlowerInFewProcessesIsMeasuredAgainBeforeItIsARegression) {
    accept();
    RunRequest asked = request({"slow", "recompiled"});
    asked.measuring.processes = 3;
    EXPECT_EQ(run(asked), 1);
    EXPECT_EQ(verdict_of(0), Verdict::regressed);
    EXPECT_EQ(verdict().exit_code, 1);
    const model::Run measured = stored();
    for (const model::CaseResult& result : measured.suites.at(0).cases) {
        EXPECT_GT(batches_after_the_first_round(result), 0U);
    }
}

TEST_F(Runner, TheFirstRoundDecidesWhereThePolicyAllowsNoMore) {
    accept();
    RunRequest asked = request({"slow", "recompiled"});
    asked.measuring.processes = 3;
    asked.judging.policy.rounds = 0;
    run(asked);
    EXPECT_EQ(batches_after_the_first_round(stored().suites.at(0).cases.at(0)), 0U);
}

TEST_F(Runner, ASlowerCaseWithOtherCodeSaysWhereItsTimeGoesThoughTheBaseIsNotAtHand) {
    accept();
    EXPECT_EQ(run(request({"slow", "recompiled"})), 1);
    const model::CaseResult measured = stored().suites.at(0).cases.at(0);
    ASSERT_TRUE(measured.code);
    EXPECT_EQ(measured.code->base, "");
    EXPECT_EQ(measured.code->place, (model::SourcePlace{"k.cu", 5}));
    EXPECT_NE(measured.code->change.find("not at hand"), std::string::npos);
    EXPECT_EQ(verdict().suites.at(0).cases.at(0).why.back().place.line, 5);
    const model::KeptCode kept = read_code(folder_ / "out");
    ASSERT_EQ(kept.head.size(), 2U);
    EXPECT_EQ(kept.head[0].kernels.at(0).listing.instructions.size(), 2U);
    ASSERT_EQ(kept.base.size(), 2U) << printed_;
    EXPECT_NE(kept.base[0].problem, "");
    EXPECT_FALSE(fs::exists(folder("out/settled"))) << "nothing is in it";
}

TEST_F(Runner, WhatPassesOrLaunchesTheBaselinesCodeIsNotDisassembled) {
    accept();
    for (const Texts& plugins : {Texts{}, Texts{"recompiled"}, Texts{"slow"}}) {
        run(request(plugins));
        EXPECT_FALSE(fs::exists(folder("out/code.json")));
        EXPECT_FALSE(stored().suites.at(0).cases.at(0).code);
    }
}

TEST_F(Runner, CodeThatCannotBeDisassembledIsSaidAndChangesNoVerdict) {
    accept();
    EXPECT_EQ(run(request({"slow", "recompiled", "opaque"})), 1);
    EXPECT_EQ(stored().suites.at(0).cases.at(0).code->change,
              "not known: this backend has no machine code to disassemble");
    EXPECT_EQ(verdict_of(0), Verdict::regressed);
}

TEST_F(Runner, AWrongResultIsIncorrect) {
    EXPECT_EQ(run(request({"wrong"})), 1);
    EXPECT_EQ(verdict_of(1), Verdict::incorrect);
}

TEST_F(Runner, ChangedOnlyLeavesOutWhatTheBaselineHasWithTheSameCode) {
    accept();
    RunRequest asked = request();
    asked.measuring.changed_only = true;
    run(asked);
    EXPECT_TRUE(stored().suites.at(0).cases.at(0).unchanged);
    EXPECT_EQ(stored().suites.at(0).cases.at(0).status, CaseStatus::skipped);

    asked = request({"recompiled"});
    asked.measuring.changed_only = true;
    run(asked);
    EXPECT_FALSE(stored().suites.at(0).cases.at(0).unchanged);
    EXPECT_EQ(stored().suites.at(0).cases.at(0).status, CaseStatus::measured);
}

TEST_F(Runner, AShardHasItsPartAndSaysSo) {
    RunRequest asked = request();
    asked.shard = suite::ShardChoice{2, 2};
    run(asked);
    const model::Run measured = stored();
    ASSERT_EQ(measured.suites.at(0).cases.size(), 1U);
    EXPECT_EQ(measured.shard->index, 2);
    EXPECT_EQ(measured.shard->count, 2);
}

TEST_F(Runner, RefusesCasesThatTheirVariantCannotRun) {
    EXPECT_NE(refusal(request({"narrow"})).find("fakes.yaml:10: fake/second: too narrow"),
              std::string::npos)
        << refusal(request({"narrow"}));
}

TEST_F(Runner, ARunThatDoesNotBeginLeavesNoOtherToResume) {
    run(request());
    RunRequest nothing = request();
    nothing.measuring.filters = {"nothing/*"};
    EXPECT_NE(refusal(nothing), "not refused");
    EXPECT_FALSE(fs::exists(folder("out/journal.jsonl")));
    accept();
    RunRequest again = request();
    again.measuring.resume = again.measuring.out = folder("accepted");
    EXPECT_NE(refusal(again).find("command was 'baseline refresh', is now 'run'"),
              std::string::npos)
        << refusal(again);
}

TEST_F(Runner, OnlyTheSameRunCanBeResumed) {
    run(request());
    RunRequest again = request();
    again.measuring.resume = folder("out");
    EXPECT_NE(refusal(again).find("was not interrupted"), std::string::npos) << refusal(again);
    take_end_from_journal();
    run(again);
    const model::Run measured = stored();
    for (const model::CaseResult& result : measured.suites.at(0).cases) {
        EXPECT_EQ(result.status, CaseStatus::measured) << result.reason;
        EXPECT_EQ(batches(result), usual_processes);
    }
    again.measuring.processes = 2;
    EXPECT_NE(refusal(again).find("--processes"), std::string::npos) << refusal(again);
    again.measuring.processes.reset();
    again.measuring.backend.devices = "all";
    EXPECT_NE(refusal(again).find("--devices"), std::string::npos) << refusal(again);
}

TEST_F(Runner, TheCanaryIsFound) {
    RunRequest asked = request();
    asked.canary = true;
    EXPECT_EQ(run(asked), 0);
    const model::Run slower = stored("out/canary");
    ASSERT_EQ(slower.suites.at(0).cases.size(), 1U);
    EXPECT_EQ(slower.environment.ceilings, model::Ceilings{});
    EXPECT_NE(printed_.find("perfgate: canary: "), std::string::npos) << printed_;

    asked.measuring.verify_only = true;
    fs::remove_all(folder("out"));
    run(asked);
    EXPECT_FALSE(fs::exists(folder("out/canary"))) << "nothing was timed";
}

TEST_F(Runner, TheProcessesOfABaselineAreSpreadOverItsRuns) {
    std::vector<model::Run> runs;
    quietly([&] {
        runs = measure_baseline_runs({suite_file()}, measuring(), 2, folder("no-baselines"));
        return 0;
    });
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_EQ(batches(runs[1].suites.at(0).cases.at(0)), baseline_processes / 2);
    EXPECT_TRUE(fs::exists(folder("out/run-2/run.json")));
}

/// Interrupts while machine code is asked for.
class InterruptingCode final : public ProgressObserver {
  public:
    void begin() override {}
    void show(const measure::Progress& step) override {
        if (step.phase == "machine code" && !std::exchange(interrupted_, true)) {
            std::raise(SIGINT);
        }
    }
    void end() override {}

  private:
    bool interrupted_ = false;
};

TEST_F(Runner, AnInterruptionBeforeTheCodeIsKnownKeepsTheVerdictOfWhatWasMeasured) {
    accept();
    RunRequest asked = request({"slow", "recompiled", "dawdling"});
    asked.measuring.progress = std::make_shared<InterruptingCode>();
    EXPECT_EXIT(std::exit(run_suites(asked)), testing::ExitedWithCode(1), "samples .* are missing");
    EXPECT_FALSE(stored().interrupted);
    EXPECT_EQ(verdict_of(0), Verdict::regressed);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(verdict().suites.at(0).cases.at(i).why.back().sentence,
                  "machine code: not known: interrupted");
    }
}

}  // namespace
}  // namespace perfgate::runner

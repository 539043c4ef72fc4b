// SPDX-License-Identifier: Apache-2.0
// Whole runs with a FakeBackend (runner_main.cpp): devices, plan, worker processes, the loop,
// judging, reports. Plugins are not loaded, their names say what the workers do.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "baseline/refresh.hpp"
#include "baseline/store.hpp"
#include "document/run.hpp"
#include "runner/ab.hpp"
#include "runner/baseline_runs.hpp"
#include "runner/code_file.hpp"
#include "runner/devices.hpp"
#include "runner/doctor.hpp"
#include "runner/plan.hpp"
#include "runner/run.hpp"
#include "runner/run_file.hpp"
#include "runner/self_test.hpp"
#include "unit/temporary_folder.hpp"
#include "util/error.hpp"
#include "util/file.hpp"

namespace perfgate::runner {
namespace {

namespace fs = std::filesystem;
using model::CaseStatus;
using model::Verdict;
using Texts = std::vector<std::string>;

class Runner : public testing::Test {
  protected:
    void SetUp() override {
        setenv("PERFGATE_LOCK_DIR", (folder_ / "locks").c_str(), 1);
        std::ofstream(suite_file()) << "name: fakes\n"
                                       "defaults:\n"
                                       "  metrics: [gpu_time]\n"
                                       "  tolerances: {gpu_time: 3%}\n"
                                       "  time_budget: 1ms\n"
                                       "workloads:\n"
                                       "  - workload: fake\n"
                                       "    variants: [first]\n"
                                       "    tags: [quick]\n"
                                       "  - workload: fake\n"
                                       "    variants: [second]\n"
                                       "    tags: [nightly]\n";
    }
    void TearDown() override { unsetenv("PERFGATE_LOCK_DIR"); }

    std::string suite_file() const { return (folder_ / "fakes.yaml").string(); }
    std::string folder(const std::string& name) const { return (folder_ / name).string(); }

    MeasuringChoice measuring(const Texts& plugins = {}) const {
        MeasuringChoice choice;
        choice.backend.backend = "cuda";
        choice.backend.bundled = false;
        for (const std::string& plugin : plugins) {
            choice.backend.plugins.push_back(folder("plugins/" + plugin + ".so"));
        }
        choice.out = folder("out");
        choice.verify_seed = 5;
        return choice;
    }

    RunRequest request(const Texts& plugins = {}) const {
        RunRequest made;
        made.suites = {suite_file()};
        made.measuring = measuring(plugins);
        made.judging.baselines = folder("baselines");
        made.reports.out = folder("out");
        return made;
    }

    /// What the call returns, with what it printed in `printed_`.
    int quietly(const std::function<int()>& call) {
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        int result = -1;
        try {
            result = call();
        } catch (...) {
            printed_ =
                testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
            throw;
        }
        printed_ = testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
        return result;
    }
    int run(const RunRequest& asked) {
        return quietly([&] { return run_suites(asked); });
    }
    std::string refusal(const RunRequest& asked) {
        try {
            run(asked);
        } catch (const util::Error& error) {
            return error.what();
        }
        return "not refused";
    }

    model::Run stored(const std::string& out = "out") const {
        return read_run(folder_ / out / "run.json");
    }
    model::VerdictDocument verdict() const {
        const std::string file = folder("out/verdict.json");
        return document::parse_verdict(util::read_file(file, 1 << 20, "verdict"), file);
    }
    Verdict verdict_of(std::size_t index) const {
        return verdict().suites.at(0).cases.at(index).verdict;
    }

    /// The run in `out` looks as if it had been killed before its end.
    void take_end_from_journal() const {
        const fs::path file = folder_ / "out/journal.jsonl";
        const std::string text = util::read_file(file, 1 << 20, "journal");
        fs::resize_file(file, text.rfind('\n', text.size() - 2) + 1);
    }

    /// Measures a run in `accepted`, and makes it the baseline.
    void accept(std::optional<std::size_t> processes = {}) {
        MeasuringChoice choice = measuring();
        choice.out = folder("accepted");
        choice.processes = processes;
        std::vector<model::Run> runs;
        quietly([&] {
            runs = measure_baseline_runs({suite_file()}, choice, 1, folder("no-baselines"));
            return 0;
        });
        const model::Run& measured = runs.at(0);
        baseline::Acceptance acceptance;
        acceptance.accepted_by = "Ada";
        acceptance.reason = "the first";
        acceptance.at = "2026-11-21T10:00:00Z";
        baseline::save_baseline(
            folder("baselines"),
            baseline::refresh(measured, measured.suites.at(0), {}, acceptance).baseline);
    }

    TemporaryFolder temporary_;
    fs::path folder_ = temporary_.path();
    std::string printed_;
};

std::size_t batches(const model::CaseResult& result) {
    return result.metrics.at("gpu_time").batches.size();
}

std::size_t batches_after_the_first_round(const model::CaseResult& result) {
    std::size_t count = 0;
    for (const model::Batch& batch : result.metrics.at("gpu_time").batches) {
        count += batch.round > 0 ? 1 : 0;
    }
    return count;
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

TEST(NvidiaGpu, IsWhatTheDriverShowsUnlessItIsHidden) {
    const TemporaryFolder machine;
    unsetenv("CUDA_VISIBLE_DEVICES");
    EXPECT_FALSE(has_nvidia_gpu(machine.path()));
    fs::create_directories(machine.path() / "proc/driver/nvidia/gpus");
    EXPECT_FALSE(has_nvidia_gpu(machine.path()));  // a driver alone
    fs::create_directories(machine.path() / "proc/driver/nvidia/gpus/0000:05:00.0");
    EXPECT_TRUE(has_nvidia_gpu(machine.path()));
    for (const char* hidden : {"", "-1"}) {
        setenv("CUDA_VISIBLE_DEVICES", hidden, 1);
        EXPECT_FALSE(has_nvidia_gpu(machine.path())) << hidden;
    }
    setenv("CUDA_VISIBLE_DEVICES", "0", 1);
    EXPECT_TRUE(has_nvidia_gpu(machine.path()));
    unsetenv("CUDA_VISIBLE_DEVICES");
    const TemporaryFolder container;
    fs::create_directories(container.path() / "dev");
    std::ofstream(container.path() / "dev/nvidia0") << "";
    EXPECT_TRUE(has_nvidia_gpu(container.path()));
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

TEST_F(Runner, WithSeveralDevicesEachCaseIsMeasuredOnOneOfThem) {
    RunRequest asked = request();
    asked.measuring.backend.devices = "all";
    run(asked);
    const model::Run measured = stored();
    for (const model::CaseResult& result : measured.suites.at(0).cases) {
        EXPECT_EQ(batches(result), usual_processes);
        std::set<std::string> boards;
        for (const model::Batch& batch : result.metrics.at("gpu_time").batches) {
            boards.insert(batch.device);
        }
        EXPECT_EQ(boards.size(), 1U);
    }
}

TEST_F(Runner, ADeviceIsKeptOpenWhereItIsAGpu) {
    BackendChoice choice = measuring().backend;
    EXPECT_NE(open_backend(choice).keeper, nullptr);
    choice.backend = "host";
    EXPECT_EQ(open_backend(choice).keeper, nullptr);
}

TEST_F(Runner, RefusesDevicesOfSeveralKindsAndABackendThatCannotMeasure) {
    RunRequest mixed = request();
    mixed.measuring.backend.devices = "mixed";
    EXPECT_EQ(refusal(mixed),
              "--devices: 0 is a Fake fake and 2 is a Fake other: one run measures boards of one "
              "kind; run once for each kind");
    EXPECT_NE(refusal(request({"blind"})).find("backend 'cuda' cannot measure here"),
              std::string::npos);
}

/// A suite of two programs, and how many GPUs each sees.
std::string suite_of_programs(const std::string& file, const char* other, const char* first = "2") {
    std::ofstream(file) << "name: programs\n"
                           "workloads:\n"
                           "  - command: [./app]\n"
                           "    name: pair\n"
                        << "    gpus: " << first << '\n'
                        << "    tolerances: {program.gpu_time: 3%}\n"
                           "  - command: [./app]\n"
                           "    name: other\n"
                        << "    gpus: " << other << '\n'
                        << "    tolerances: {program.gpu_time: 3%}\n";
    return file;
}

TEST_F(Runner, ProgramsOnSeveralGpusHaveTheirNumberInTheKey) {
    const std::string suite = suite_of_programs(folder("programs.yaml"), "2");
    const MeasuringChoice choice = measuring();
    OpenedBackend backend = open_to_measure(choice);
    EXPECT_EQ(backend.visible, Texts{"GPU-0"});
    EXPECT_EQ(backend.locks.size(), 1U);
    EXPECT_EQ(plan_for({suite}, choice, backend).suites.at(0).cases.size(), 2U);
    EXPECT_EQ(backend.visible, (Texts{"GPU-0", "GPU-1"}));
    EXPECT_EQ(backend.locks.size(), 2U);
    EXPECT_EQ(backend.capabilities.environment.device.key, "fake-x2");
    // Both are taken: nobody else measures on the second.
    MeasuringChoice second = measuring();
    second.backend.devices = "all";
    second.lock_wait_s = 0;
    EXPECT_THROW(open_to_measure(second), util::Error);
}

TEST_F(Runner, OneGpuLeavesTheKeyAndTheLocksAlone) {
    const MeasuringChoice choice = measuring();
    OpenedBackend backend = open_to_measure(choice);
    plan_for({suite_file()}, choice, backend);
    EXPECT_EQ(backend.visible, Texts{"GPU-0"});
    EXPECT_EQ(backend.locks.size(), 1U);
    EXPECT_EQ(backend.capabilities.environment.device.key, "fake");
}

TEST_F(Runner, ARunThatOnlyPlansLocksNothing) {
    const std::string suite = suite_of_programs(folder("programs.yaml"), "2");
    const MeasuringChoice choice = measuring();
    OpenedBackend backend = open_backend(choice.backend);
    plan_for({suite}, choice, backend);
    EXPECT_TRUE(backend.locks.empty());
}

TEST_F(Runner, RefusesProgramsWithMoreGpusThanThereAre) {
    const std::string suite = suite_of_programs(folder("programs.yaml"), "2");
    const auto refused = [&](const std::string& name, const std::string& devices) -> std::string {
        MeasuringChoice choice = measuring();
        choice.backend.backend = name;
        choice.backend.devices = devices;
        OpenedBackend backend = open_to_measure(choice);
        try {
            plan_for({suite}, choice, backend);
        } catch (const util::InputError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refused("cuda", "0"),
              "a program needs 2 GPUs ('gpus'), but --devices names 1 of the same model: use a "
              "machine with enough GPUs");
    EXPECT_EQ(refused("host", ""),
              "a program needs 2 GPUs ('gpus'), but this machine has 0 of the same model: use a "
              "machine with enough GPUs");
    EXPECT_EQ(refused("cuda", "all"), "");
}

TEST_F(Runner, ProgramsOnAllGpusTakeThoseOfOneModelAndAreSkippedWhereThereIsOne) {
    const std::string suite = suite_of_programs(folder("programs.yaml"), "all", "all");
    const auto planned = [&](const std::string& devices) {
        MeasuringChoice choice = measuring();
        choice.backend.devices = devices;
        OpenedBackend backend = open_to_measure(choice);
        const model::Plan plan = plan_for({suite}, choice, backend);
        return backend.capabilities.environment.device.key + ": " +
               plan.suites.at(0).cases.at(0).skip_reason;
    };
    EXPECT_EQ(planned("all"), "fake-x2: ");
    EXPECT_EQ(planned(""), "fake-x2: ");
    EXPECT_EQ(planned("0"), "fake: its program needs several GPUs of one model, and one is here");
}

TEST_F(Runner, RefusesCasesThatSeeDifferentNumbersOfGpus) {
    const std::string suite = suite_of_programs(folder("programs.yaml"), "1");
    MeasuringChoice choice = measuring();
    OpenedBackend backend = open_to_measure(choice);
    try {
        plan_for({suite}, choice, backend);
        FAIL() << "it was not refused";
    } catch (const util::InputError& error) {
        EXPECT_NE(
            std::string(error.what()).find("other/program uses 1 GPU, but pair/program uses 2"),
            std::string::npos)
            << error.what();
    }
    choice.filters = {"pair/*"};
    EXPECT_EQ(plan_for({suite}, choice, backend).suites.at(0).cases.size(), 1U);
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

AbRequest ab_request(const MeasuringChoice& choice, const std::string& suite) {
    AbRequest asked;
    asked.suites = {suite};
    asked.base.build = choice.out + "/../plugins/base.so";
    asked.head.build = choice.out + "/../plugins/head.so";
    asked.measuring = choice;
    asked.reports.out = choice.out;
    return asked;
}

TEST_F(Runner, BuildsAreComparedBackToBack) {
    AbRequest asked = ab_request(measuring(), suite_file());
    asked.measuring.filters = {"fake/*"};
    EXPECT_EQ(quietly([&] { return compare_builds(asked); }), 0) << printed_;
    EXPECT_EQ(verdict_of(0), Verdict::pass);
    EXPECT_EQ(batches(stored("out/base").suites.at(0).cases.at(0)), usual_pairs);
    const model::Run base = stored("out/base");
    const model::Run head = stored();
    EXPECT_EQ(base.started_at, head.started_at);
    EXPECT_EQ(base.environment, head.environment);
    EXPECT_EQ(base.backend, "cuda");
    EXPECT_EQ(base.tool_version, head.tool_version);
    EXPECT_EQ(base.wall_s, head.wall_s);
    ASSERT_EQ(base.selections.size(), 1U);
    EXPECT_EQ(base.selections[0].filters, Texts{"fake/*"});

    asked.head.build = folder("build");
    fs::create_directory(asked.head.build);
    for (const char* plugin : {"slow.so", "recompiled.so", "slow_cuda.so"}) {
        std::ofstream(fs::path(asked.head.build) / plugin).flush();
    }
    EXPECT_EQ(quietly([&] { return compare_builds(asked); }), 1) << printed_;
    EXPECT_EQ(verdict_of(0), Verdict::regressed);
    const std::size_t again = batches_after_the_first_round(stored().suites.at(0).cases.at(0));
    EXPECT_GT(again, 0U);
    EXPECT_EQ(again, batches_after_the_first_round(stored("out/base").suites.at(0).cases.at(0)));
    const auto code = stored().suites.at(0).cases.at(0).code;
    ASSERT_TRUE(code);
    EXPECT_EQ(code->base, "c0de");
    EXPECT_EQ(code->change, "LDG.E 0 → 1 at k.cu:4, LDG.E.128 1 → 0");
    EXPECT_EQ(code->place, (model::SourcePlace{"k.cu", 5}));
    EXPECT_EQ(verdict().suites.at(0).cases.at(0).why.back().place, code->place);
    EXPECT_EQ(read_code(folder_ / "out").base.size(), 2U);
}

class Recording final : public ProgressObserver {
  public:
    void begin() override {}
    void show(const measure::Progress& step) override {
        phases.insert(std::string(step.phase));
        done = step.done;
        total = step.total;
    }
    void end() override {}

    std::set<std::string> phases;
    std::size_t done = 0, total = 0;  ///< of the last step
};

TEST_F(Runner, TheProgressOfTwoBuildsIsOne) {
    AbRequest asked = ab_request(measuring(), suite_file());
    const auto progress = std::make_shared<Recording>();
    asked.measuring.progress = progress;
    quietly([&] { return compare_builds(asked); });
    EXPECT_TRUE(progress->phases.contains("base, time"));
    EXPECT_TRUE(progress->phases.contains("head, verify"));
    EXPECT_EQ(progress->total, 2 * 2 * usual_pairs);
    EXPECT_GE(progress->done + 1, progress->total);
    EXPECT_LE(progress->done, progress->total);
}

TEST_F(Runner, ACaseThatTheBaseLacksIsSkippedThereAndMeasuredInTheHead) {
    AbRequest asked = ab_request(measuring(), suite_file());
    asked.base.build = folder("plugins/old.so");
    quietly([&] { return compare_builds(asked); });
    EXPECT_EQ(verdict_of(0), Verdict::pass);
    EXPECT_EQ(verdict_of(1), Verdict::no_baseline);
    EXPECT_EQ(stored("out/base").suites.at(0).cases.at(1).reason,
              "its 'fake' has no variant 'second'");
    const model::Run head = stored();
    EXPECT_EQ(head.suites.at(0).cases.at(1).status, CaseStatus::measured);
    EXPECT_EQ(batches(head.suites[0].cases[1]), usual_pairs);
}

TEST_F(Runner, BuildsAreComparedOnlyIfBothAreThere) {
    AbRequest asked = ab_request(measuring(), suite_file());
    asked.base.build.clear();
    EXPECT_THROW(quietly([&] { return compare_builds(asked); }), util::InputError);
    asked.base.build = folder("empty");
    fs::create_directory(asked.base.build);
    EXPECT_THROW(quietly([&] { return compare_builds(asked); }), util::InputError);
    EXPECT_FALSE(fs::exists(folder("out")));
}

TEST_F(Runner, BuildsAreComparedOnOneDevice) {
    AbRequest asked = ab_request(measuring(), suite_file());
    asked.measuring.backend.devices = "all";
    EXPECT_THROW(quietly([&] { return compare_builds(asked); }), util::InputError);
}

TEST_F(Runner, ASelfTestFindsTheSizesThatItAdds) {
    SelfTestRequest asked;
    asked.suites = {suite_file()};
    asked.measuring = measuring();
    asked.sizes = {0.2, 0, 0.2};
    asked.tolerance = 0.03;
    asked.processes_of_base = 6;
    SelfTestOutcome outcome;
    quietly([&] {
        outcome = self_test(asked);
        return 0;
    });
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_FALSE(outcome.interrupted);
    EXPECT_TRUE(outcome.report.problems.empty()) << outcome.report.problems.at(0);
    ASSERT_EQ(outcome.report.sizes.size(), 2U);
    EXPECT_EQ(outcome.report.sizes[0].regressed, 0U);
    EXPECT_EQ(outcome.report.sizes[1].regressed, 2U);
    EXPECT_EQ(batches(stored("out/base").suites.at(0).cases.at(0)), 6U);
    EXPECT_EQ(outcome.environment.device.board, "board-0");
    EXPECT_TRUE(fs::exists(folder("out/trial-2/run.json")));
}

TEST_F(Runner, ASelfTestThatFindsOneOfTwoShowsNothing) {
    SelfTestRequest asked;
    asked.suites = {suite_file()};
    asked.measuring = measuring({"workless"});
    asked.sizes = {0.2};
    asked.tolerance = 0.03;
    asked.processes_of_base = 6;
    EXPECT_EQ(quietly([&] {
                  const SelfTestOutcome outcome = self_test(asked);
                  EXPECT_EQ(outcome.report.promised, 2U);
                  EXPECT_EQ(outcome.report.kept, 1U);
                  EXPECT_TRUE(outcome.report.problems.empty()) << outcome.report.problems.at(0);
                  return outcome.exit_code;
              }),
              3)
        << "it may be chance, and is no proof";
}

TEST_F(Runner, ASelfTestOfSizesBelowTheClaimProvesNothing) {
    SelfTestRequest asked;
    asked.suites = {suite_file()};
    asked.measuring = measuring();
    asked.sizes = {0.01};
    asked.tolerance = 0.03;
    asked.processes_of_base = 6;
    EXPECT_EQ(quietly([&] {
                  const SelfTestOutcome outcome = self_test(asked);
                  EXPECT_TRUE(outcome.report.proves_nothing);
                  EXPECT_TRUE(outcome.report.problems.empty()) << outcome.report.problems.at(0);
                  return outcome.exit_code;
              }),
              3);
    // Of no work there is nothing to find, and no false alarm is all that is to be proved.
    asked.sizes = {0};
    asked.measuring.out = folder("without_work");
    EXPECT_EQ(quietly([&] { return self_test(asked).exit_code; }), 0);
}

/// Interrupts, as Ctrl-C does, once a run has stored its results in `after`.
class Interrupting final : public ProgressObserver {
  public:
    explicit Interrupting(fs::path after) : after_(std::move(after)) {}
    void begin() override {}
    void show(const measure::Progress& /*step*/) override {
        if (!interrupted_ && fs::exists(after_)) std::raise(SIGINT);
        interrupted_ = interrupted_ || fs::exists(after_);
    }
    void end() override {}

  private:
    fs::path after_;
    bool interrupted_ = false;
};

TEST_F(Runner, AnInterruptedSelfTestEndsWithTheTrialAndSaysSo) {
    SelfTestRequest asked;
    asked.suites = {suite_file()};
    asked.measuring = measuring();
    asked.measuring.progress = std::make_shared<Interrupting>(folder_ / "out/base/run.json");
    asked.sizes = {0, 0.2};
    asked.processes_of_base = 6;
    // In a process of its own: an interruption is for good.
    EXPECT_EXIT(
        {
            const SelfTestOutcome outcome = self_test(asked);
            std::exit(outcome.interrupted ? outcome.exit_code : 1);
        },
        testing::ExitedWithCode(130), "");
    EXPECT_TRUE(stored("out/trial-1").interrupted);
    EXPECT_FALSE(fs::exists(folder("out/trial-2")));
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

using Topics = std::vector<std::pair<std::string, measure::Diagnosis::Level>>;

/// Those of the device and of the backend.
Topics diagnosed(const BackendChoice& choice) {
    Topics topics;
    for (const measure::Diagnosis& each : diagnose(choice)) {
        if (each.topic != "NVRTC") topics.emplace_back(each.topic, each.level);
    }
    return topics;
}

TEST_F(Runner, ADoctorWhoseSecondRequestFailsSaysSoAndKeepsWhatTheFirstFound) {
    using Level = measure::Diagnosis::Level;
    EXPECT_EQ(diagnosed(measuring().backend), (Topics{{"GPU", Level::ok}}));
    for (const char* plugin : {"undescribed", "dying"}) {
        EXPECT_EQ(diagnosed(measuring({plugin}).backend),
                  (Topics{{"GPU", Level::ok}, {"backend", Level::problem}}))
            << plugin;
    }
    const auto found = diagnose(measuring({"undescribed"}).backend);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_NE(found[1].detail.find("no description"), std::string::npos) << found[1].detail;
    EXPECT_NE(found[1].remedy, "");
    EXPECT_EQ(found[2].topic, "NVRTC");
    EXPECT_EQ(diagnosed(measuring({"troubled", "undescribed"}).backend),
              (Topics{{"GPU", Level::problem}}))
        << "the problem that is known is why";
}

TEST(Doctor, AMissingNvrtcIsAWarningWithItsRemedyAndItsUse) {
    const measure::Diagnosis none = diagnose_nvrtc(1);
    EXPECT_EQ(none.level, measure::Diagnosis::Level::warning);
    EXPECT_NE(none.detail.find("compiles a suite's sources"), std::string::npos) << none.detail;
    EXPECT_NE(none.remedy.find("install the CUDA toolkit's NVRTC"), std::string::npos);
    EXPECT_FALSE(has_problem({none})) << "other suites need none";
}

}  // namespace
}  // namespace perfgate::runner

// SPDX-License-Identifier: Apache-2.0
// Whole runs with a FakeBackend (runner_main.cpp). Plugins are not loaded, their names say what the
// workers do.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "baseline/refresh.hpp"
#include "baseline/store.hpp"
#include "document/run.hpp"
#include "runner/baseline_runs.hpp"
#include "runner/run.hpp"
#include "runner/run_file.hpp"
#include "unit/temporary_folder.hpp"
#include "util/error.hpp"
#include "util/file.hpp"

namespace perfgate::runner {

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

inline std::size_t batches(const model::CaseResult& result) {
    return result.metrics.at("gpu_time").batches.size();
}

inline std::size_t batches_after_the_first_round(const model::CaseResult& result) {
    std::size_t count = 0;
    for (const model::Batch& batch : result.metrics.at("gpu_time").batches) {
        count += batch.round > 0 ? 1 : 0;
    }
    return count;
}

}  // namespace perfgate::runner

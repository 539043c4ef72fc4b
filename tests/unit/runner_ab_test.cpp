// SPDX-License-Identifier: Apache-2.0
// Two builds that take turns.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "runner/ab.hpp"
#include "runner/code_file.hpp"
#include "unit/runner_fixture.hpp"

namespace perfgate::runner {
namespace {

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

}  // namespace
}  // namespace perfgate::runner

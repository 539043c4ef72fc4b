// SPDX-License-Identifier: Apache-2.0
// Whole self-tests: the sizes that they add, and an interruption.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "runner/self_test.hpp"
#include "unit/runner_fixture.hpp"

namespace perfgate::runner {
namespace {

class RunnersSelfTest : public Runner {
  protected:
    SelfTestRequest self_test_request(const std::vector<double>& sizes,
                                      const Texts& plugins = {}) const {
        SelfTestRequest asked;
        asked.suites = {suite_file()};
        asked.measuring = measuring(plugins);
        asked.sizes = sizes;
        asked.tolerance = 0.03;
        asked.processes_of_base = 6;
        return asked;
    }
};

TEST_F(RunnersSelfTest, ASelfTestFindsTheSizesThatItAdds) {
    const SelfTestRequest asked = self_test_request({0.2, 0, 0.2});
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

TEST_F(RunnersSelfTest, ASelfTestThatFindsOneOfTwoShowsNothing) {
    const SelfTestRequest asked = self_test_request({0.2}, {"workless"});
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

TEST_F(RunnersSelfTest, ASelfTestOfSizesBelowTheClaimProvesNothing) {
    SelfTestRequest asked = self_test_request({0.01});
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

TEST_F(RunnersSelfTest, AnInterruptedSelfTestEndsWithTheTrialAndSaysSo) {
    SelfTestRequest asked = self_test_request({0, 0.2});
    asked.measuring.progress = std::make_shared<Interrupting>(folder_ / "out/base/run.json");
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

}  // namespace
}  // namespace perfgate::runner

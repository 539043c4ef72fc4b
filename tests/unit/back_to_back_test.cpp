// SPDX-License-Identifier: Apache-2.0
// Two builds measured in turns. Their sessions measure programs, which here are not run.
#include "runner/back_to_back.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "unit/temporary_folder.hpp"

namespace perfgate::runner {
namespace {

namespace fs = std::filesystem;
using model::CaseStatus;

/// Notes which side is measured, and in which round; `spoilt` of the first batches are excluded.
class SideOfTwo final : public measure::Programs {
  public:
    SideOfTwo(std::string name, std::vector<std::string>& order)
        : name_(std::move(name)), order_(order) {}

    bool measure(const measure::ProgramRequest& request, std::vector<model::CaseResult>& results,
                 const std::function<void(std::string_view)>& /*observe*/) override {
        order_.push_back(name_ + std::to_string(request.round));
        for (model::CaseResult& result : results) {
            result.status = request.process == fails_in ? CaseStatus::error : CaseStatus::measured;
            model::Batch batch{request.process, request.board, 0, {100}, request.round};
            if (request.process < spoilt) batch.excluded = "throttled";
            result.metrics["gpu_time"] = {"ns", 100, "recorded", {batch}};
        }
        return request.process != interrupted_in;
    }

    std::int64_t spoilt = 0, fails_in = -1, interrupted_in = -1;

  private:
    std::string name_;
    std::vector<std::string>& order_;
};

class BackToBackTest : public testing::Test {
  protected:
    BackToBackTest() {
        model::PlannedSuite suite;
        suite.name = "s";
        suite.cases.resize(1);
        suite.cases[0].spec = {"app", "program", {}, model::Cache::cold};
        suite.cases[0].metrics = {"gpu_time"};
        suite.cases[0].group = 0;
        plan_.suites = {suite};
    }

    measure::MeasureOptions options(measure::Programs& programs) const {
        measure::MeasureOptions made;
        made.processes = 3;
        made.programs = &programs;
        return made;
    }
    /// The sides and rounds in the order in which they are measured.
    std::string measured(std::size_t again = 0) {
        measure::Workers workers({"/bin/false"}, {});
        measure::Journal base_journal(folder_ / "base",
                                      measure::JournalHeader{"2026-11-22T10:00:00Z", 1, {}});
        measure::Journal head_journal(folder_ / "head",
                                      measure::JournalHeader{"2026-11-22T10:00:00Z", 1, {}});
        const measure::Capabilities capabilities;
        using measure::Session;
        Session base(plan_, capabilities, {{"", &workers}}, options(base_), base_journal);
        Session head(plan_, capabilities, {{"", &workers}}, options(head_), head_journal);
        base.prepare(Session::Unsupported::skip);
        head.prepare(Session::Unsupported::skip);
        BackToBack both(base, head, 3);
        both.measure_all();
        if (again > 0) both.measure_again({{0, 0}}, 2, again);
        EXPECT_TRUE(both.interrupted() || base.total() == head.total());
        std::string text;
        for (const std::string& step : order_) text += step + " ";
        return text;
    }

    TemporaryFolder temporary_;
    fs::path folder_ = temporary_.path();
    model::Plan plan_;
    std::vector<std::string> order_;
    SideOfTwo base_{"b", order_}, head_{"h", order_};
};

TEST_F(BackToBackTest, TheSidesTakeTurnsInBeginning) {
    EXPECT_EQ(measured(), "b0 h0 h0 b0 b0 h0 ");
}

TEST_F(BackToBackTest, AFurtherRoundIsOneOnBothSides) {
    EXPECT_EQ(measured(2), "b0 h0 h0 b0 b0 h0 h2 b2 b2 h2 ");
}

TEST_F(BackToBackTest, WhatIsSpoiltOnOneSideIsReplacedOnBothInTheFirstRound) {
    head_.spoilt = 2;
    EXPECT_EQ(measured(), "b0 h0 h0 b0 b0 h0 h0 b0 ");
}

TEST_F(BackToBackTest, WhatIsAlwaysSpoiltIsReplacedAsOftenAsItWasMeasured) {
    base_.spoilt = 100;
    EXPECT_EQ(measured(), "b0 h0 h0 b0 b0 h0 h0 b0 b0 h0 h0 b0 ");
}

TEST_F(BackToBackTest, ACaseThatFailsOnOneSideIsDoneWith) {
    head_.fails_in = 1;
    EXPECT_EQ(measured(1), "b0 h0 h0 b0 ");
}

TEST_F(BackToBackTest, AnInterruptionOfOneSideEndsBoth) {
    base_.interrupted_in = 0;
    EXPECT_EQ(measured(1), "b0 ");
}

}  // namespace
}  // namespace perfgate::runner

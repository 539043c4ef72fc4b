// SPDX-License-Identifier: Apache-2.0
#include "baseline/pooling.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "unit/gate_documents.hpp"

namespace perfgate::baseline {
namespace {

using namespace gate;

using documents::measured_case;
using documents::move_to_board;
using documents::run_of;

/// Its second case was measured on `board`, as by merged shards or several devices.
model::Run second_case_on(const std::string& board) {
    model::Run other = run_of({measured_case(2)});
    move_to_board(board, other);
    return run_of({measured_case(1), other.suites[0].cases[0]});
}

std::string refusal(const std::vector<model::Run>& runs) {
    try {
        combine_runs(runs);
    } catch (const model::InputError& error) {
        return error.what();
    }
    return "not refused";
}

model::MetricSeries processes(const std::vector<double>& values) {
    model::MetricSeries series{"ns", values.front(), "activity/cold", {}};
    for (std::size_t i = 0; i < values.size(); ++i) {
        series.batches.push_back({static_cast<std::int64_t>(i), "board", 1, {values[i]}});
    }
    return series;
}

model::Tolerance within(double worse, double abs = 0) {
    return {worse, std::nullopt, abs};
}

TEST(Noisy, WhereProcessesLieFurtherApartThanHalfOfTheTolerance) {
    const model::MetricSeries apart = processes({990, 1010, 990, 1010});  // 1.15 %
    EXPECT_TRUE(noisy_metric(apart, within(0.02)));
    EXPECT_FALSE(noisy_metric(apart, within(0.03)));
    EXPECT_FALSE(noisy_metric(apart, within(0.001, 30)));
    EXPECT_FALSE(noisy_metric(processes({1000, 1000, 1000}), within(0)));
    // How far others lie, one alone cannot tell.
    EXPECT_FALSE(noisy_metric(processes({1000}), within(0)));
}

TEST(Noisy, OnlyForWhatTheCaseGates) {
    model::CaseResult result = measured_case(1);
    result.metrics["gpu_time"] = processes({990, 1010, 990, 1010});
    result.gates.clear();
    EXPECT_FALSE(noisy(result));
    result.gates = {{"not_measured", within(0)}, {"gpu_time", within(0.02)}};
    EXPECT_TRUE(noisy(result));
}

TEST(CombineRuns, PutsTogetherTheBatchesOfEachCase) {
    const model::Run combined =
        combine_runs({second_case_on("board-b"), second_case_on("board-b")});
    for (const model::CaseResult& result : combined.suites[0].cases) {
        const auto& batches = result.metrics.at("gpu_time").batches;
        ASSERT_EQ(batches.size(), 2U);
        EXPECT_EQ(batches[0].device, batches[1].device);
        EXPECT_EQ(batches[0].run, 0);
        EXPECT_EQ(batches[1].run, 1);
    }
}

TEST(CombineRuns, ACaseOfTwoBoardsIsRefusedThoughTheRunsBoardsAreTheSame) {
    EXPECT_EQ(refusal({second_case_on("board-b"), second_case_on("board-c")}),
              "the runs cannot become one baseline: the board of gemm/tiled[m=2] is 'board-b' in "
              "the first and 'board-c' in another");
}

TEST(CombineRuns, ARunOfAnotherBoardIsRefused) {
    model::Run elsewhere = run_of({measured_case(1)});
    move_to_board("board-b", elsewhere);
    EXPECT_NE(refusal({run_of({measured_case(1)}), elsewhere}).find("the board of gemm/tiled[m=1]"),
              std::string::npos);
}

TEST(CombineRuns, RunsOfOtherToolsOrCasesAreRefused) {
    const model::Run run = run_of({measured_case(1)});
    model::Run newer = run;
    newer.environment.driver = "590.2";
    EXPECT_NE(refusal({run, newer}).find("driver is '580.1' in the first and '590.2'"),
              std::string::npos);
    EXPECT_NE(refusal({run, run_of({measured_case(2)})}).find("not of the same cases"),
              std::string::npos);
}

}  // namespace
}  // namespace perfgate::baseline

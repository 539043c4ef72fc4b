// SPDX-License-Identifier: Apache-2.0
#include "gate/learning.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/error.hpp"
#include "unit/gate_documents.hpp"

namespace perfgate::gate {
namespace {

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
}  // namespace perfgate::gate

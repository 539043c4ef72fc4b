// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/progress.hpp"

#include <gtest/gtest.h>

#include <string>

namespace perfgate::cli {
namespace {

using measure::Progress;

TEST(ProgressLog, HasALineForEachGroupOfCases) {
    ProgressLog log;
    EXPECT_EQ(log.line({"fast", "gemm/naive[n=1]", "verify", 0, 100}), "[1/100] fast: gemm");
    EXPECT_EQ(log.line({"fast", "gemm/naive[n=1]", "time", 0, 100}), "");
    EXPECT_EQ(log.line({"fast", "gemm/tiled[n=1]", "time", 1, 100}), "");
    EXPECT_EQ(log.line({"fast", "softmax/naive[n=1]", "time", 2, 100}), "[3/100] fast: softmax");
    EXPECT_EQ(log.line({"slow", "gemm/naive[n=1]", "time", 3, 100}), "[4/100] slow: gemm");
    EXPECT_EQ(log.line({"fast", "gemm/naive[n=1]", "counters", 4, 100}),
              "[5/100] fast: gemm, counters");
}

TEST(ProgressLog, HasALineForEachTenthOfManyProcessesThatTakeTheSameCases) {
    ProgressLog log;
    std::size_t lines = 0;
    for (std::size_t done = 0; done < 1000; ++done) {
        if (!log.line({"s", "gemm/naive[n=1]", "time", done, 1000}).empty()) ++lines;
    }
    EXPECT_EQ(lines, 10U);
}

TEST(ProgressLog, WorkThatIsAddedOnTheWayRepeatsNothing) {
    ProgressLog log;
    EXPECT_NE(log.line({"s", "gemm/naive[n=1]", "time", 9, 10}), "");
    EXPECT_EQ(log.line({"s", "gemm/naive[n=1]", "time", 10, 20}), "");
    EXPECT_EQ(log.line({"s", "gemm/naive[n=1]", "time", 19, 20}), "");
}

TEST(ProgressLog, NamesAreOneLineAndTheLastBatchIsTheLast) {
    ProgressLog log;
    EXPECT_EQ(log.line({"s", "a\n::error::b/v[n=1]", "time", 5, 5}), "[5/5] s: a?::error::b");
    EXPECT_EQ(log.line({"s", "", "time", 0, 0}), "[0/0] s: ");
}

TEST(LiveText, TellsWhatIsLeftOnceABatchIsDone) {
    const auto text = [](std::size_t done, std::size_t begun, double elapsed_s) {
        return live_text({"s", "gemm/naive[n=1]", "time", done, 20}, begun, elapsed_s);
    };
    EXPECT_EQ(text(0, 0, 3), "[1/20] time: gemm/naive[n=1]");
    EXPECT_EQ(text(10, 0, 40), "[11/20] time: gemm/naive[n=1], 40 s left");
    EXPECT_EQ(text(2, 0, 20), "[3/20] time: gemm/naive[n=1], 3 min left");
    // What an earlier execution did took none of this one's time.
    EXPECT_EQ(text(10, 10, 3), "[11/20] time: gemm/naive[n=1]");
    EXPECT_EQ(text(15, 10, 5), "[16/20] time: gemm/naive[n=1], 5 s left");
    EXPECT_EQ(text(20, 0, 5), "[20/20] time: gemm/naive[n=1]");
}

TEST(RecordingText, HasWholeSecondsAndTheSize) {
    EXPECT_EQ(recording_text(12.9, 34 << 20), "recorded 12 s, 34.00 MiB");
    EXPECT_EQ(recording_text(1, 0), "recorded 1 s, 0 B");
}

}  // namespace
}  // namespace perfgate::cli

// SPDX-License-Identifier: Apache-2.0
// The values of cases whose command has a capture range, from recordings that are made here.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kinds/command/pieces.hpp"
#include "recorded_program.hpp"

namespace perfgate::command {
namespace command_captured_test {

using activity::ProfilerCallKind;

const model::CaptureRange profiler_api{.profiler_api = true};
const model::CaptureRange after_three{.after_launches = 3};

command::Piece range(const std::string& pattern) {
    return {command::Piece::Kind::range, pattern, "", false, 0};
}

command::Piece kernel(const std::string& pattern, const std::string& within = "") {
    return {command::Piece::Kind::kernels, pattern, within, false, 0};
}

/// Steps of 100 ns with one kernel each, from 1000 on; each 1 ns longer than the one before. The
/// second and third, and the fifth, are profiled; the profiler is stopped within the sixth.
activity::Program steps() {
    activity::Program program;
    program.level("api").profiler(ProfilerCallKind::watched, 0);
    for (std::uint64_t step = 1; step <= 6; ++step) {
        const std::uint64_t begin = 1000 * step;
        if (step == 2 || step == 5) program.profiler(ProfilerCallKind::start, begin - 10);
        program.range("step", {begin, begin + 100})
            .kernel("gemm", begin + 20, {begin + 30, begin + 40 + step})
            .call("cudaStreamSynchronize", {begin + 50, begin + 60});
        if (step == 3) program.profiler(ProfilerCallKind::stop, begin + 110);
        if (step == 6) program.profiler(ProfilerCallKind::stop, begin + 70);
    }
    return program;
}

/// Of a run with these processes.
template <class Use>
auto with(const std::vector<activity::Program>& processes, const model::CaptureRange& capture,
          const Use& use) {
    std::vector<activity::Recording> recordings;
    for (const activity::Program& each : processes) recordings.push_back(each.recording());
    return use(Recorded(std::move(recordings), capture));
}

PieceValues values(const activity::Program& program, const model::CaptureRange& capture,
                   const command::Piece& piece) {
    return with({program}, capture,
                [&](const Recorded& recorded) { return values_of(recorded, piece); });
}

std::vector<double> times(const PieceValues& values) {
    EXPECT_EQ("", values.problem);
    return values.samples.at("gpu_time");
}

TEST(Captured, RangesAreThoseThatAreWhollyInside) {
    EXPECT_EQ(times(values(steps(), profiler_api, range("step"))),
              (std::vector<double>{12, 13, 15}));
    EXPECT_EQ(times(values(steps(), after_three, range("step"))),
              (std::vector<double>{14, 15, 16}));
    EXPECT_EQ(times(values(steps(), {}, range("step"))).size(), 6U);
}

TEST(Captured, SkippedInstancesAreTheFirstInside) {
    command::Piece piece = range("step");
    piece.skip = 2;
    EXPECT_EQ(times(values(steps(), profiler_api, piece)), std::vector<double>{15});
    piece.skip = 3;
    EXPECT_EQ(values(steps(), profiler_api, piece).problem,
              "'skip: 3' leaves none of 3 NVTX ranges in the capture range (profiler_api)");
    command::Piece gemm = kernel("gemm");
    gemm.skip = 3;
    EXPECT_EQ(times(values(steps(), profiler_api, gemm)), std::vector<double>{16});
}

TEST(Captured, KernelsAreThoseThatWereLaunchedInside) {
    // The sixth step is partly inside: as a range it does not count, its kernel does.
    EXPECT_EQ(times(values(steps(), profiler_api, kernel("gemm"))),
              (std::vector<double>{12, 13, 15, 16}));
    EXPECT_EQ(times(values(steps(), profiler_api, kernel("gemm", "step"))),
              (std::vector<double>{12, 13, 15}));
    EXPECT_EQ(times(values(steps(), {.range = "step", .after_launches = 5}, kernel("gemm"))),
              std::vector<double>{16});
}

TEST(Instances, AreThoseOfAProcessThatCount) {
    const auto instances = [](const std::vector<activity::Program>& processes,
                              const model::CaptureRange& capture, const command::Piece& piece) {
        return with(processes, capture, [&](const Recorded& recorded) {
            return values_of(recorded, piece).counts.at("instances");
        });
    };
    EXPECT_EQ(instances({steps()}, {}, range("step")), 6);
    EXPECT_EQ(instances({steps()}, profiler_api, range("step")), 3);
    EXPECT_EQ(instances({steps()}, {}, kernel("gemm", "step")), 6);
    command::Piece later = range("step");
    later.skip = 2;
    EXPECT_EQ(instances({steps(), steps()}, {}, later), 4);
    // A process that does nothing on the device is not counted, one without these ranges is.
    EXPECT_EQ(instances({steps(), activity::Program()}, {}, range("step")), 6);
    activity::Program other;
    other.kernel("gemm", 10, {20, 30});
    EXPECT_EQ(instances({steps(), other}, {}, range("step")), 3);
    EXPECT_FALSE(values(steps(), {}, {}).counts.contains("instances"));
}

TEST(Instances, ARangeThatNeverEndsIsNoneAndIsNoted) {
    activity::Program program = steps();
    program.range("step", {7000, 0}).kernel("gemm", 7010, {7020, 7030}).range("other", {7040, 0});
    const PieceValues found = values(program, {}, range("step"));
    EXPECT_EQ(found.counts.at("instances"), 6);
    EXPECT_EQ(found.note,
              "1 NVTX range that matches 'step' never ended: what was launched there is in none");
    EXPECT_EQ(values(program, {}, kernel("gemm", "step")).note, found.note);
    EXPECT_EQ(values(program, profiler_api, range("step")).note, "") << "outside";
    EXPECT_EQ(values(steps(), {}, range("step")).note, "");
}

TEST(Captured, TheProgramIsTheSumOfItsParts) {
    const PieceValues found = values(steps(), profiler_api, {});
    EXPECT_EQ(times(found), std::vector<double>{12 + 13 + 15 + 16});
    // From 1990 to 3110 and from 4990 to 6070.
    EXPECT_EQ(found.samples.at("span"), std::vector<double>{1120 + 1080});
    EXPECT_EQ(found.counts.at("kernels"), 4);
    EXPECT_EQ(found.counts.at("host_launches"), 4);
    EXPECT_NEAR(found.samples.at("idle_share").at(0), 100 * (2200 - 56) / 2200.0, 1e-9);
}

TEST(Captured, TheKernelsOfACaseAreThoseInside) {
    const auto launches = [&](const command::Piece& piece) {
        return with({steps()}, profiler_api, [&](const Recorded& recorded) {
            const auto kernels = kernels_of(recorded, piece);
            return kernels.empty() ? 0 : kernels.at(0).launches;
        });
    };
    EXPECT_EQ(launches({}), 4);
    EXPECT_EQ(launches(range("step")), 1);
    EXPECT_EQ(launches(kernel("gemm")), 1);
    EXPECT_EQ(launches(kernel("other")), 0);
}

TEST(Captured, CallsAreThoseInside) {
    const auto syncs = [&](const command::Piece& piece, const model::CaptureRange& capture) {
        return with({steps()}, capture, [&](const Recorded& recorded) {
            return api_counts_of(recorded, piece).at("syncs").count;
        });
    };
    EXPECT_EQ(syncs({}, profiler_api), 4);
    EXPECT_EQ(syncs({}, {}), 6);
    EXPECT_EQ(syncs(range("step"), profiler_api), 1);
    const std::string causes = with({steps()}, profiler_api, [&](const Recorded& recorded) {
        return api_counts_of(recorded, {}).at("idle_share").detail;
    });
    EXPECT_NE(causes.find("nothing submitted"), std::string::npos) << causes;
}

TEST(Captured, NothingInsideIsAProblemThatSaysWhy) {
    activity::Program silent;
    silent.profiler(ProfilerCallKind::watched, 0)
        .range("step", {10, 20})
        .kernel("gemm", 15, {15, 25});
    for (const command::Piece& piece : {command::Piece{}, range("step"), kernel("gemm")}) {
        EXPECT_EQ(values(silent, profiler_api, piece).problem,
                  "the program never called cudaProfilerStart() (torch.cuda.profiler.start() in "
                  "PyTorch)");
        EXPECT_EQ(values(silent, after_three, piece).problem,
                  "the program made 1 kernel launch, which leaves none after the first 3");
        EXPECT_EQ(values(silent, {.range = "x"}, piece).problem,
                  "the program opened no NVTX range 'x'; it opened step");
    }
    silent.profiler(ProfilerCallKind::start, 12).profiler(ProfilerCallKind::stop, 14);
    EXPECT_EQ(values(silent, profiler_api, {}).problem,
              "the program did nothing on the device in the capture range (profiler_api): no "
              "kernel, copy or memset ran");
    EXPECT_EQ(values(silent, profiler_api, range("step")).problem,
              "1 NVTX range matches 'step', none wholly in the capture range "
              "(profiler_api)");
    EXPECT_EQ(values(silent, profiler_api, kernel("gemm", "step")).problem,
              "1 NVTX range matches 'step', none wholly in the capture range "
              "(profiler_api)");
    EXPECT_EQ(values(silent, profiler_api, kernel("gemm")).problem,
              "no kernel in the capture range (profiler_api) matches 'gemm': the program had no "
              "kernel");
    EXPECT_EQ(values(steps(), profiler_api, range("epoch")).problem,
              "no NVTX range in the capture range (profiler_api) matches 'epoch': recorded: "
              "'step'");
}

TEST(Captured, WhatTheRunWithApiCallsDidNotReachIsNotCounted) {
    const auto counts = with({steps()}, {.after_launches = 100},
                             [](const Recorded& recorded) { return api_counts_of(recorded, {}); });
    EXPECT_TRUE(counts.empty()) << "a count of zero would pass";
}

TEST(Captured, ProcessesThatAreLeftOutAreNoted) {
    activity::Program silent;
    silent.profiler(ProfilerCallKind::watched, 0).kernel("gemm", 15, {15, 55});
    activity::Program unstopped;
    unstopped.profiler(ProfilerCallKind::watched, 0)
        .profiler(ProfilerCallKind::start, 5)
        .kernel("gemm", 15, {15, 55});
    using Notes = std::vector<std::string>;
    const auto notes = [](const Recorded& recorded) { return recorded.notes(); };
    const auto counted = [](const Recorded& recorded) { return recorded.counted(); };
    EXPECT_EQ(with({silent, steps()}, profiler_api, notes),
              Notes{"1 of 2 processes left out: nothing is in the capture range (profiler_api)"});
    EXPECT_EQ(with({silent, steps()}, profiler_api, counted), 1U);
    EXPECT_EQ(with({steps(), steps()}, profiler_api, notes), Notes{});
    EXPECT_EQ(with({steps(), steps()}, profiler_api, counted), 2U);
    EXPECT_EQ(with({unstopped}, profiler_api, notes),
              Notes{"The last cudaProfilerStart() has no cudaProfilerStop(): all that follows it "
                    "counts."});
}

TEST(Captured, AProcessOutsideCountsForNothing) {
    activity::Program silent;
    silent.profiler(ProfilerCallKind::watched, 0)
        .range("step", {10, 60})
        .kernel("gemm", 15, {15, 55});
    const auto of_both = [&](const command::Piece& piece) {
        return with({silent, steps()}, profiler_api,
                    [&](const Recorded& recorded) { return values_of(recorded, piece); });
    };
    EXPECT_EQ(times(of_both(range("step"))), (std::vector<double>{12, 13, 15}));
    EXPECT_EQ(times(of_both({})), std::vector<double>{56});
    EXPECT_EQ(of_both({}).counts.at("kernels"), 4);
}

TEST(Captured, TheOverheadIsThatOfTheCapturedInstances) {
    const auto run = [&](std::uint64_t warm_up, std::uint64_t length) {
        activity::Program program;
        program.range("step", {1000, 1000 + warm_up}).range("step", {9000, 9000 + warm_up});
        program.profiler(ProfilerCallKind::watched, 0).profiler(ProfilerCallKind::start, 19000);
        return program.range("step", {20000, 20000 + length}).kernel("k", 20001, {20010, 20020});
    };
    // Of the bare run nothing says what is captured.
    const auto overhead = with({run(5000, 100)}, {}, [&](const Recorded& bare) {
        return with({run(5000, 150)}, profiler_api, [&](const Recorded& recorded) {
            return recording_overhead(bare, recorded, range("step"));
        });
    });
    EXPECT_NEAR(overhead.value(), 0.5, 1e-9);
}

}  // namespace command_captured_test
}  // namespace perfgate::command

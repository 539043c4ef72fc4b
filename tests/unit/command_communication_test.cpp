// SPDX-License-Identifier: Apache-2.0
// What the processes of a program communicate, how late each begins, and what of a span is its own.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "recorded_pieces.hpp"

namespace perfgate::command {
namespace command_communication_test {

using namespace recorded_pieces;

constexpr const char* reduce = "ncclDevKernel_AllReduce";

/// A rank with a step for each list of kernels, which begin at these times after the step's begin.
activity::Program rank(const std::vector<std::vector<std::uint64_t>>& begins,
                       const char* symbol = reduce) {
    activity::Program program;
    program.clock({5000, 6'000'000, 1}).clock({7'000'000, 7'000'050, 2});
    std::uint64_t at = 0;
    for (const auto& kernels : begins) {
        program.range("step", {at + 1, at + 1000}).kernel("gemm", at + 1, {at + 1, at + 900});
        for (const std::uint64_t begin : kernels) {
            program.kernel(symbol, at + 10, {at + begin, at + begin + 5});
        }
        at += 1000;
    }
    return program;
}

TEST(CommunicationSkew, IsTheMedianOverTheKernelsOfLatestLessEarliestBegin) {
    const std::vector<activity::Program> ranks{rank({{100, 200, 300}, {100}, {}}),
                                               rank({{110, 250, 301}, {160}, {}}),
                                               rank({{90, 220, 302}, {130}, {}})};
    EXPECT_EQ(samples(ranks, step, "communication_skew"), (std::vector<double>{20, 60}));
    // Of the program: 20, 50, 2 and 60.
    EXPECT_EQ(samples(ranks, {}, "communication_skew"), std::vector<double>{35});
    EXPECT_EQ(values_of(*recorded_of(ranks), step).communicating, 3U);
}

TEST(CommunicationSkew, MatchesInstancesByTheirPlaceAmongThoseThatCount) {
    command::Piece skipping = step;
    skipping.skip = 1;
    EXPECT_EQ(samples({rank({{100}, {100}}), rank({{900}, {130}})}, skipping, "communication_skew"),
              std::vector<double>{30});
}

TEST(CommunicationSkew, IsNotAboutProcessesWithoutCommunication) {
    const std::vector<activity::Program> ranks{rank({{100}}), rank({{}, {}}), rank({{107}})};
    for (const command::Piece& piece : {step, command::Piece{}}) {
        EXPECT_EQ(samples(ranks, piece, "communication_skew"), std::vector<double>{7});
        EXPECT_EQ(values_of(*recorded_of(ranks), piece).communicating, 2U);
    }
}

TEST(CommunicationSkew, IsNotKnownWithAReason) {
    const auto reason = [](const std::vector<activity::Program>& ranks,
                           const command::Piece& piece = step) {
        const PieceValues found = values_of(*recorded_of(ranks), piece);
        EXPECT_EQ(found.problem, "");
        EXPECT_FALSE(found.samples.contains("communication_skew"));
        return found.not_known.at("communication_skew");
    };
    for (const command::Piece& piece : {step, command::Piece{}}) {
        EXPECT_EQ(reason({rank({{100}})}, piece),
                  "1 process with NCCL or NVSHMEM kernels; a skew is between several");
        EXPECT_EQ(reason({rank({{}}), rank({{}})}, piece),
                  "0 processes with NCCL or NVSHMEM kernels; a skew is between several");
        EXPECT_EQ(reason({rank({{100, 200}}), rank({{100}})}, piece),
                  "the processes' NCCL and NVSHMEM kernels differ: in instance 1 one has 2 and "
                  "another 1");
        EXPECT_EQ(reason({rank({{100}}), rank({{100}}, "ncclDevKernel_Broadcast")}, piece),
                  "the processes' NCCL and NVSHMEM kernels differ: in instance 1 kernel 1 is "
                  "ncclDevKernel_AllReduce in one and ncclDevKernel_Broadcast in another");
        EXPECT_EQ(reason({rank({{100}}), two_steps()
                                             .kernel(reduce, 150, {150, 160})
                                             .kernel(reduce, 350, {350, 360})
                                             .clock({1, 2'000'000'000, 3})},
                         piece),
                  "CUPTI's clock is not the host's real time in all processes, so their times "
                  "cannot be compared");
    }
    EXPECT_EQ(reason({rank({{100}, {100}}), rank({{100}})}),
              "the processes have different numbers of instances: 2 and 1");
    EXPECT_EQ(reason({rank({{100}, {100}}), rank({{100}, {}})}),
              "the processes' NCCL and NVSHMEM kernels differ: in instance 2 one has 1 and "
              "another 0");
}

// --- what the processes communicate

/// A rank with a step for each list of calls: their bytes and when their kernels begin after the
/// step's begin. They end together with the others', 500 after it; a step's other kernel runs from
/// 1 to `computes`.
activity::Program nccl_rank(
    std::uint32_t number,
    const std::vector<std::vector<std::pair<std::uint64_t, std::uint64_t>>>& steps,
    std::uint64_t computes = 100, std::uint64_t communicator = 7) {
    activity::Program program;
    program.communicator(communicator, 2, number).field("rank", std::to_string(number));
    program.clock({7'000'000, 7'000'050, 2});
    std::uint64_t at = 1000;
    for (const auto& calls : steps) {
        program.range("step", {at, at + 1000}).kernel("gemm", at + 1, {at + 1, at + computes});
        std::uint64_t host = at + 10;
        for (const auto& [bytes, begin] : calls) {
            program.nccl("ncclAllReduce", {host, host + 10}, communicator, bytes);
            program.kernel(reduce, host + 5, {at + begin, at + 500});
            host += 20;
        }
        at += 1000;
    }
    return program;
}

TEST(Communication, CallsAndBytesOfAllProcessesAreMeansOfTheInstances) {
    const PieceValues found = values_of(
        *recorded_of({nccl_rank(0, {{{1000, 200}, {2000, 300}}, {{1000, 200}, {2000, 300}}}),
                      nccl_rank(1, {{{1000, 210}, {2000, 320}}, {{1000, 250}, {2000, 360}}})}),
        step);
    EXPECT_EQ(found.counts.at("communication_calls"), 2);
    EXPECT_EQ(found.counts.at("communicated_bytes"), 3000);
    EXPECT_EQ(found.details.at("communicated_bytes"),
              "AllReduce of 1.953 KiB × 1, AllReduce of 1000 B × 1");
    EXPECT_EQ(found.samples.at("communication_skew"), (std::vector<double>{15, 55}));
    EXPECT_EQ(found.details.at("communication_skew"),
              "rank 1 began last in 4 of 4, 35.00 ns after the first");
}

TEST(Communication, TheBusBandwidthIsThatOfTheTimeWithoutWaiting) {
    // Of two ranks everything crosses the bus once; the last one begins 300 after the step.
    const std::vector<activity::Program> ranks{nccl_rank(0, {{{1000, 200}}}),
                                               nccl_rank(1, {{{1000, 300}}})};
    EXPECT_EQ(samples(ranks, step, "bus_bandwidth"), std::vector<double>{1000 * 1e9 / 200});
}

TEST(Communication, TheOwnSpanLeavesOutWhatAProcessOnlyWaits) {
    // In turns each waits for the other, 100 long, the first while its own kernel still runs
    // for 50.
    const std::vector<activity::Program> ranks{nccl_rank(0, {{{1000, 200}, {1000, 400}}}, 250),
                                               nccl_rank(1, {{{1000, 300}, {1000, 300}}})};
    const PieceValues found = values_of(*recorded_of(ranks), step);
    EXPECT_EQ(found.samples.at("span"), (std::vector<double>{1000, 1000}));
    EXPECT_EQ(found.samples.at("own_span"), std::vector<double>{950});
    // One that never waits keeps its span.
    EXPECT_EQ(
        samples({nccl_rank(0, {{{1000, 200}}}), nccl_rank(1, {{{1000, 300}}})}, step, "own_span"),
        std::vector<double>{1000});
}

TEST(Communication, TwoGroupsOfProcessesAreApart) {
    const PieceValues found = values_of(
        *recorded_of({nccl_rank(0, {{{1000, 200}}}),
                      nccl_rank(1, {{{1000, 230}}}).field("pid", "12"),
                      nccl_rank(0, {{{1000, 100}}}, 50, 8), nccl_rank(1, {{{1000, 110}}}, 50, 8)}),
        step);
    EXPECT_EQ(found.details.at("communication_skew"),
              "rank 1 of process 12 began last in 1 of 2, 30.00 ns after the first");
    EXPECT_EQ(found.samples.at("communication_skew"), std::vector<double>{20})
        << "the median of 30 and 10, not 130";
}

TEST(Communication, IsNotCountedWithAReason) {
    const PieceValues old = values_of(*recorded_of({rank({{100}}), rank({{110}})}), step);
    EXPECT_FALSE(old.counts.contains("communicated_bytes"));
    EXPECT_EQ(old.not_known.at("communicated_bytes"),
              "NCCL's kernels are on record and its calls are not: NCCL 2.24 or newer reports them "
              "through NVTX, unless NCCL_NVTX_DISABLE is set");
    EXPECT_TRUE(old.not_known.contains("bus_bandwidth"));
    EXPECT_EQ(old.samples.at("communication_skew"), std::vector<double>{10});
    const PieceValues one = values_of(*recorded_of({nccl_rank(0, {{{1000, 200}}})}), step);
    EXPECT_EQ(one.counts.at("communicated_bytes"), 1000);
    EXPECT_EQ(one.not_known.at("bus_bandwidth"),
              "1 process with NCCL or NVSHMEM kernels; a skew is between several");
    const PieceValues differ = values_of(
        *recorded_of({nccl_rank(0, {{{1000, 200}}}), nccl_rank(1, {{{1000, 200}, {1000, 300}}})}),
        step);
    EXPECT_EQ(differ.not_known.at("own_span"),
              "the processes' calls of NCCL differ: of communicator 7 one made 1 and another 2");
    EXPECT_FALSE(differ.samples.contains("bus_bandwidth"));
}

TEST(Communication, IsNotCountedWhereAKernelRunsOutsideOfTheCalls) {
    const auto untold = [](std::uint32_t number, std::size_t kernels) {
        activity::Program program = nccl_rank(number, {{{1000, 200}}});
        for (std::size_t i = 0; i < kernels; ++i) {
            program.kernel(reduce, 1500 + i, {1600 + 10 * i, 1605 + 10 * i});
        }
        return program;
    };
    for (const command::Piece& piece : {step, command::Piece{}}) {
        const PieceValues found = values_of(*recorded_of({untold(0, 1), untold(1, 1)}), piece);
        EXPECT_FALSE(found.counts.contains("communicated_bytes"));
        EXPECT_FALSE(found.counts.contains("communication_calls"));
        EXPECT_TRUE(found.not_known.at("communicated_bytes").starts_with("communication kernels"));
        EXPECT_TRUE(found.samples.contains("communication_skew")) << "by the order of kernels";
        const PieceValues differ = values_of(*recorded_of({untold(0, 1), untold(1, 2)}), piece);
        EXPECT_EQ(differ.not_known.at("communication_skew"),
                  "the processes' NCCL and NVSHMEM kernels differ: in instance 1 one has 2 and "
                  "another 3");
    }
}

TEST(Communication, IsNotCountedWhereACallDoesNotSayWhatItMoves) {
    const auto counts = [](bool alone) {
        activity::Program program;
        program.communicator(7, 2, 0).range("step", {1000, 2000});
        if (!alone) program.nccl("ncclGroupStart", {1010, 1012});
        program.nccl("ncclSend", {1014, 1020}).nccl("ncclRecv", {1022, 1030}, 7, 600);
        if (!alone) program.nccl("ncclGroupEnd", {1040, 1060});
        program.kernel(reduce, alone ? 1015 : 1050, {1070, 1090});
        program.kernel(reduce, alone ? 1025 : 1051, {1100, 1190});
        return values_of(*recorded_of({program}), step).counts;
    };
    EXPECT_FALSE(counts(true).contains("communicated_bytes"));
    EXPECT_FALSE(counts(false).contains("communicated_bytes"));
}

TEST(Communication, OfAGroupWithTwoCommunicatorsIsCounted) {
    activity::Program program;
    program.communicator(7, 2, 0).range("step", {1000, 2000}).nccl("ncclGroupStart", {1010, 1012});
    program.nccl("ncclAllReduce", {1014, 1020}, 7, 1000);
    program.nccl("ncclAllReduce", {1022, 1030}, 8, 600).nccl("ncclGroupEnd", {1040, 1060});
    program.kernel(reduce, 1050, {1070, 1090}).kernel(reduce, 1051, {1100, 1190});
    EXPECT_EQ(values_of(*recorded_of({program}), step).counts.at("communicated_bytes"), 1600);
}

TEST(Communication, OfAProgramWithoutAnyIsNothing) {
    const PieceValues found = values_of(*recorded_of({two_steps()}), step);
    EXPECT_EQ(found.counts.at("communicated_bytes"), 0);
    EXPECT_EQ(found.counts.at("communication_calls"), 0);
}

}  // namespace command_communication_test
}  // namespace perfgate::command

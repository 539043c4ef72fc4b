// SPDX-License-Identifier: Apache-2.0
// What NCCL's calls communicated, in recordings that are made here.
#include "activity/communication.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "activity/outputs.hpp"
#include "activity/recording.hpp"
#include "recorded_program.hpp"

namespace perfgate::activity {
namespace {

constexpr const char* all_reduce =
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage)";

/// A rank of two that makes these calls, one after the other; each launches its kernel at once.
Program rank(std::uint32_t number, const std::vector<std::pair<std::uint64_t, Interval>>& calls) {
    Program program;
    program.communicator(0xabc, 2, number).field("rank", std::to_string(number));
    program.clock({5000, 5001, 1});
    std::uint64_t host = 10;
    for (const auto& [bytes, time] : calls) {
        program.nccl("ncclAllReduce", {host, host + 10}, 0xabc, bytes);
        program.kernel(all_reduce, host + 5, time);
        host += 20;
    }
    return program;
}

std::vector<Collective> collectives(const Program& program) {
    return collectives_of(Timeline(program.recording()));
}

TEST(Communication, ACallHasTheKernelThatItLaunched) {
    const auto found = collectives(rank(1, {{4096, {100, 150}}, {8192, {200, 280}}}));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].name, "AllReduce");
    EXPECT_EQ(found[0].communicator, 0xabcu);
    EXPECT_EQ(found[0].ranks, 2u);
    EXPECT_EQ(found[0].bytes, 4096u);
    EXPECT_EQ(found[0].time, (Interval{100, 150}));
    EXPECT_EQ(found[1].bytes, 8192u);
    EXPECT_EQ(found[1].time, (Interval{200, 280}));
}

TEST(Communication, ACallsBytesCrossTheBusAsNcclTestsCountThem) {
    const auto of = [](const std::string& name, std::uint64_t bytes) {
        Program program;
        program.communicator(7, 4, 0).nccl("nccl" + name, {10, 20}, 7, bytes);
        return collectives(program).at(0);
    };
    EXPECT_EQ(of("AllReduce", 400).bytes, 400u);
    EXPECT_DOUBLE_EQ(of("AllReduce", 400).bus_bytes, 600);
    for (const char* name : {"AllGather", "ReduceScatter", "AlltoAll"}) {
        EXPECT_EQ(of(name, 100).bytes, 400u) << name;
        EXPECT_DOUBLE_EQ(of(name, 100).bus_bytes, 300) << name;
    }
    for (const char* name : {"Broadcast", "Reduce", "Send", "Recv"}) {
        EXPECT_DOUBLE_EQ(of(name, 100).bus_bytes, 100) << name;
    }
    EXPECT_EQ(of("SomethingNew", 100).bytes, 100u);
    EXPECT_EQ(of("SomethingNew", 100).bus_bytes, 0) << "not known";
}

TEST(Communication, CallsOfAGroupAreOneThatTheGroupsEndLaunches) {
    Program program;
    program.communicator(7, 2, 0).nccl("ncclGroupStart", {10, 12});
    program.nccl("ncclGroupStart", {13, 14}).nccl("ncclGroupEnd", {15, 16});  // nested
    program.nccl("ncclSend", {20, 22}, 7, 1000).nccl("ncclRecv", {24, 26}, 7, 600);
    program.nccl("ncclGroupEnd", {30, 60}).kernel("ncclDevKernel_SendRecv", 40, {50, 90});
    const auto found = collectives(program);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].name, "Recv+Send");
    EXPECT_EQ(found[0].calls, 2u);
    EXPECT_EQ(found[0].bytes, 1000u) << "both directions work at once";
    EXPECT_EQ(found[0].time, (Interval{50, 90}));
}

TEST(Communication, AGroupOverTwoCommunicatorsDoesNotTellWhichKernelIsWhose) {
    Program program;
    program.nccl("ncclGroupStart", {10, 12});
    program.nccl("ncclAllReduce", {20, 22}, 7, 1000).nccl("ncclAllReduce", {24, 26}, 8, 600);
    program.nccl("ncclGroupEnd", {30, 60}).kernel(all_reduce, 40, {50, 90});
    const auto found = collectives(program);
    ASSERT_EQ(found.size(), 2u);
    for (const Collective& each : found) EXPECT_EQ(each.time.length(), 0u);
}

TEST(Communication, KernelsOfOtherThreadsAndOtherKindsAreNotACalls) {
    Program program;
    program.nccl("ncclAllReduce", {10, 30}, 7, 100);
    program.kernel("gemm", 15, {40, 50}).kernel(all_reduce, 20, {50, 60}, other_thread);
    EXPECT_EQ(collectives(program).at(0).time.length(), 0u);
}

TEST(Communication, MatchesByCommunicatorSoThatTwoGroupsAreApart) {
    const auto with = [](std::uint64_t first, std::uint64_t second) {
        Program program;
        program.nccl("ncclAllReduce", {10, 20}, first, 100).kernel(all_reduce, 15, {30, 40});
        program.nccl("ncclAllReduce", {20, 30}, second, 200).kernel(all_reduce, 25, {50, 60});
        return collectives(program);
    };
    const auto one = with(7, 9), other = with(9, 7), third = with(7, 8);
    std::string problem;
    const std::vector<const std::vector<Collective>*> three{&one, &third};
    auto shared = matched(three, problem);
    EXPECT_EQ(problem, "");
    ASSERT_EQ(shared.size(), 3u);
    EXPECT_EQ(shared[0].parts.size(), 2u);
    EXPECT_EQ(shared[1].parts.size() + shared[2].parts.size(), 2u);
    // The first of one is the second of the other, and 100 are not 200 bytes.
    const std::vector<const std::vector<Collective>*> two{&one, &other};
    EXPECT_TRUE(matched(two, problem).empty());
    EXPECT_EQ(problem,
              "the processes' calls of NCCL differ: AllReduce 1 of communicator 7 has 100 bytes in "
              "one and 200 in another");
}

TEST(Communication, AnotherNumberOfCallsDoesNotMatch) {
    const auto one = collectives(rank(0, {{100, {30, 40}}})),
               other = collectives(rank(1, {{100, {30, 40}}, {100, {50, 60}}}));
    std::string problem;
    const std::vector<const std::vector<Collective>*> both{&one, &other};
    EXPECT_TRUE(matched(both, problem).empty());
    EXPECT_EQ(problem,
              "the processes' calls of NCCL differ: of communicator abc one made 1 and another 2");
}

TEST(Communication, AProfileHasARowForEachSizeWithTheRateWithoutWaiting) {
    const std::vector<Program> ranks{
        rank(0, {{4000, {100, 200}}, {4000, {300, 360}}, {100, {400, 410}}}),
        rank(1, {{4000, {150, 200}}, {4000, {310, 360}}, {100, {390, 412}}})};
    std::vector<Timeline> timelines;
    std::vector<Profile> profiles;
    for (const Program& each : ranks) {
        timelines.emplace_back(each.recording());
        profiles.push_back(profile_of(timelines.back()));
    }
    add_communication(timelines, profiles);
    ASSERT_EQ(profiles[0].communication.size(), 2u);
    const CollectiveSummary& large = profiles[0].communication[0];
    EXPECT_EQ(large.bytes, 4000u);
    EXPECT_EQ(large.calls, 2u);
    EXPECT_EQ(large.last, 0u);
    EXPECT_EQ(large.wait_ns, 30u);
    EXPECT_EQ(large.time.total_ns, 160u) << "its own kernels, waiting included";
    EXPECT_EQ(large.transfer_ns, 50u) << "from the last rank's begin";
    EXPECT_DOUBLE_EQ(large.bus_bytes_per_s(), 4000 * 1e9 / 50);
    EXPECT_EQ(profiles[1].communication[0].last, 2u);
    EXPECT_EQ(profiles[1].communication[0].wait_ns, 0u);
    EXPECT_EQ(profiles[0].communication[1].last, 1u);
    const std::vector<Profile> read = parse_profiles(write_profiles(profiles), "test");
    EXPECT_EQ(read[0].communication[0].transfer_ns, 50u);
}

/// Profiles of the processes with what they communicated.
std::vector<Profile> profiles_of(const std::vector<Program>& programs) {
    std::vector<Timeline> timelines;
    std::vector<Profile> profiles;
    for (const Program& each : programs) {
        timelines.emplace_back(each.recording());
        profiles.push_back(profile_of(timelines.back()));
    }
    add_communication(timelines, profiles);
    return profiles;
}

TEST(Communication, CallsWhoseKernelsAreNotKnownAreInTheProfile) {
    Program program;
    program.communicator(0xabc, 2, 0).nccl("ncclAllReduce", {10, 20}, 0xabc, 4096);
    program.kernel("gemm", 500, {510, 600});  // the call before it was captured by a graph
    program.nccl("ncclAllReduce", {520, 530}, 0xabc, 4096);
    std::vector<Timeline> timelines;
    timelines.emplace_back(program.recording());
    std::vector<Profile> profiles{profile_of(timelines[0])};
    add_communication(timelines, profiles);
    ASSERT_EQ(profiles[0].communication.size(), 1u);
    EXPECT_EQ(profiles[0].communication[0].calls, 2u);
    EXPECT_EQ(profiles[0].communication[0].time.count, 0u);
    // Of a part those that were made in it.
    Profile part = profile_of(timelines[0]);
    part.window = {515, 600};
    part.windows = {part.window};
    add_communication(timelines, {&part, 1});
    ASSERT_EQ(part.communication.size(), 1u);
    EXPECT_EQ(part.communication[0].calls, 1u);
}

TEST(Communication, WhatWasNotComparedIsNotZeroAndTheProfileSaysWhy) {
    const auto lacks = [](const Profile& profile, const std::string& why) {
        const CollectiveSummary& row = profile.communication.at(0);
        EXPECT_EQ(row.compared, 0u);
        EXPECT_FALSE(row.last);
        EXPECT_FALSE(row.wait_ns);
        EXPECT_NE(profile.note.find(why), std::string::npos) << profile.note;
        const std::string json = write_profiles({profile});
        EXPECT_EQ(json.find("wait_ns"), std::string::npos);
        EXPECT_FALSE(parse_profiles(json, "test").at(0).communication.at(0).wait_ns);
    };
    const Program one = rank(0, {{100, {30, 40}}}), two = rank(1, {{100, {30, 40}}});
    lacks(profiles_of({one}).at(0), "ranks or kernels of it are not on record");
    lacks(profiles_of({one, rank(1, {{100, {30, 40}}, {100, {50, 60}}})}).at(0),
          "one made 1 and another 2");
    Program other_clock;
    other_clock.communicator(0xabc, 2, 1).nccl("ncclAllReduce", {10, 20}, 0xabc, 100);
    other_clock.kernel(all_reduce, 15, {30, 40});
    lacks(profiles_of({one, other_clock}).at(1), "CUPTI's clock");
    const std::vector<Profile> known = profiles_of({one, two});
    EXPECT_EQ(known[0].note, "");
    EXPECT_EQ(known[0].communication.at(0).compared, 1u);
    EXPECT_EQ(known[0].communication.at(0).last, 1u);
}

TEST(Communication, ARateWithARankThatIsNotOnRecordIsNotKnown) {
    Program one = rank(0, {{4000, {100, 200}}});
    std::vector<Timeline> timelines;
    timelines.emplace_back(one.recording());
    std::vector<Profile> profiles{profile_of(timelines.back())};
    add_communication(timelines, profiles);
    EXPECT_EQ(profiles[0].communication.at(0).bus_bytes_per_s(), 0);
}

TEST(Communication, NcclKernelsWithoutCallsAreNoticed) {
    Program program;
    program.kernel(all_reduce, 15, {30, 40});
    EXPECT_TRUE(lacks_calls(Timeline(program.recording())));
    EXPECT_FALSE(lacks_calls(Timeline(rank(0, {{100, {30, 40}}}).recording())));
    Program others;
    others.kernel("gemm", 15, {30, 40});
    EXPECT_FALSE(lacks_calls(Timeline(others.recording())));
}

}  // namespace
}  // namespace perfgate::activity

// SPDX-License-Identifier: Apache-2.0
// What a capture range leaves of a program, and that a profile has nothing else.
#include "activity/captured_part.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "activity/analysis.hpp"
#include "recorded_program.hpp"
#include "util/error.hpp"

namespace perfgate::activity {
namespace activity_captured_part_test {

constexpr auto watched = ProfilerCallKind::watched;
constexpr auto start = ProfilerCallKind::start;
constexpr auto stop = ProfilerCallKind::stop;

using Windows = std::vector<Interval>;

CapturedPart part(const Program& program, const model::CaptureRange& capture) {
    return captured_part(Timeline(program.recording()), capture);
}

ProfileOptions profiler_api() {
    ProfileOptions options;
    options.capture.profiler_api = true;
    return options;
}

ProfileOptions after(std::uint64_t launches) {
    ProfileOptions options;
    options.capture.after_launches = launches;
    return options;
}

TEST(CapturedPart, nothing_stated_is_the_whole_program) {
    const CapturedPart whole = part(Program().kernel("a", 1, {10, 20}), {});
    EXPECT_TRUE(whole.whole);
    EXPECT_EQ(Windows{always}, whole.windows);
}

TEST(CapturedPart, each_start_counts_until_the_next_stop) {
    Program program;
    program.profiler(watched, 0).kernel("a", 10, {10, 900});
    program.profiler(stop, 20).profiler(start, 100).profiler(start, 110).profiler(stop, 200);
    program.profiler(stop, 210).profiler(start, 300).profiler(stop, 300);
    program.profiler(start, 400).profiler(stop, 500);
    const CapturedPart captured = part(program, {.profiler_api = true});
    EXPECT_EQ((Windows{{100, 200}, {400, 500}}), captured.windows);
    EXPECT_FALSE(captured.whole);
    EXPECT_EQ("", captured.note);
    EXPECT_TRUE(captured.contains({100, 200}));
    EXPECT_FALSE(captured.contains({99, 200}));
    EXPECT_FALSE(captured.contains({150, 450}));
}

TEST(CapturedPart, calls_of_several_threads_are_in_the_order_of_time) {
    const Program program = Program().profiler(stop, 200).profiler(start, 100).profiler(watched, 0);
    EXPECT_EQ((Windows{{100, 200}}), part(program, {.profiler_api = true}).windows);
}

TEST(CapturedPart, without_a_stop_all_that_follows_counts_and_a_note_says_so) {
    Program program;
    program.profiler(watched, 0).profiler(start, 100).kernel("a", 110, {120, 300});
    const CapturedPart captured = part(program, {.profiler_api = true});
    EXPECT_EQ((Windows{{100, 300}}), captured.windows);
    EXPECT_NE(std::string::npos, captured.note.find("has no cudaProfilerStop()"));
    const Profile profile = program.profile(profiler_api());
    EXPECT_EQ(1u, profile.program.kernels);
    EXPECT_EQ(200u, profile.program.span_ns);
    EXPECT_EQ(captured.note, notes(profile).front());
}

TEST(CapturedPart, what_leaves_nothing_says_why) {
    Program program;
    program.kernel("a", 10, {10, 20}).kernel("a", 30, {30, 40}).graph("node", 50, {50, 60}, 9);
    program.range("measured", {5, 25});
    const auto why = [&](const model::CaptureRange& capture) {
        const CapturedPart captured = part(program, capture);
        EXPECT_TRUE(captured.windows.empty());
        EXPECT_FALSE(captured.whole);
        EXPECT_THROW(
            {
                ProfileOptions options;
                options.capture = capture;
                program.profile(options);
            },
            util::Error);
        return captured.missing;
    };
    EXPECT_EQ(why({.range = "Measured"}),
              "the program opened no NVTX range 'Measured'; did you mean 'measured'?");
    EXPECT_EQ(why({.range = "warm-up"}),
              "the program opened no NVTX range 'warm-up'; it opened measured");
    // The kernels of a graph are one launch.
    EXPECT_EQ(why({.after_launches = 3}),
              "the program made 3 kernel launches, which leaves none after the first 3");
    EXPECT_EQ(
        why({.range = "measured", .after_launches = 2}),
        "nothing of the program is in its capture range (after_launches 2, range 'measured')");
    EXPECT_NE(std::string::npos, why({.profiler_api = true}).find("record it again"));
    program.profiler(start, 7).profiler(stop, 8);
    EXPECT_NE(std::string::npos, why({.profiler_api = true}).find("record it again"))
        << "calls before those that are on record are not known";
    Program silent = Program().profiler(watched, 0).kernel("a", 10, {10, 20});
    EXPECT_NE(
        std::string::npos,
        part(silent, {.profiler_api = true}).missing.find("never called cudaProfilerStart()"));
    silent.profiler(stop, 15);
    EXPECT_NE(
        std::string::npos,
        part(silent, {.profiler_api = true}).missing.find("never called cudaProfilerStart()"));
    EXPECT_TRUE(part(silent, {.profiler_api = true}).windows.empty());
}

TEST(CapturedPart, launches_are_left_out_in_the_order_of_the_host) {
    Program program;
    // The second launch runs first; a range that begins between two launches is behind the first.
    program.kernel("a", 10, {500, 510})
        .kernel("b", 20, {400, 410})
        .range("step", {25, 45})
        .graph("node", 30, {600, 610}, 3)
        .kernel("c", 40, {700, 710});
    EXPECT_EQ(5u, program.profile(after(1)).program.kernels);
    const Profile profile = program.profile(after(2));
    EXPECT_EQ(4u, profile.program.kernels);
    EXPECT_EQ((Interval{21, 710}), profile.window);
    ASSERT_EQ(1u, profile.ranges.size());
    EXPECT_EQ(4u, profile.ranges[0].total.kernels);
    EXPECT_EQ(1u, program.profile(after(3)).program.kernels);
    EXPECT_TRUE(program.profile(after(3)).ranges.empty());
    EXPECT_THROW(program.profile(after(4)), util::Error);
}

TEST(CapturedPart, a_launch_that_returns_after_its_kernel_is_in_the_last_part) {
    Program program;
    program.kernel("a", 10, {5, 8}).kernel("b", 30, {22, 28});
    EXPECT_EQ(1u, program.profile(after(1)).program.kernels);
    program.profiler(watched, 0).profiler(start, 15);
    EXPECT_EQ(1u, program.profile(profiler_api()).program.kernels);
}

/// Two parts of 100 ns that are profiled, and other work around and between them.
Program profiled_twice() {
    Program program;
    program.profiler(watched, 0).device(4);
    for (const std::uint64_t begin : {1000, 3000}) {
        program.kernel("outside", begin - 500, {begin - 500, begin - 400})
            .call("cudaMalloc", {begin - 490, begin - 480})
            .range("outside", {begin - 495, begin - 300})
            .range("cut", {begin + 90, begin + 200})
            .range("cut", {begin - 10, begin + 50})
            .profiler(start, begin)
            .range("step", {begin + 10, begin + 90})
            .kernel("a", begin + 20, {begin + 20, begin + 40})
            .kernel("b", begin + 50, {begin + 60, begin + 80})
            .copy(begin + 80, {begin + 85, begin + 95}, 64, MemoryKind::pageable)
            .call("cudaStreamSynchronize", {begin + 41, begin + 49})
            .profiler(stop, begin + 100)
            .overhead(0x10000 | 2, {begin - 450, begin - 440});
    }
    return program;
}

TEST(CapturedPart, a_profile_of_two_parts_is_their_sum) {
    const Profile profile = profiled_twice().profile(profiler_api());
    EXPECT_EQ((Windows{{1000, 1100}, {3000, 3100}}), profile.windows);
    EXPECT_EQ((Interval{1000, 3100}), profile.window);
    EXPECT_EQ(200u, profile.program.span_ns);
    EXPECT_EQ(100u, profile.program.gpu_time_ns);
    EXPECT_EQ(100u, profile.program.idle_ns) << "not the time between the parts";
    EXPECT_EQ(4u, profile.program.kernels);
    EXPECT_EQ(2u, profile.program.synchronisations);
    ASSERT_EQ(2u, profile.kernels.size());
    EXPECT_EQ(2u, profile.kernels[0].time.count);
    ASSERT_EQ(1u, profile.copies.size());
    EXPECT_EQ(128u, profile.copies[0].bytes);
    ASSERT_EQ(1u, profile.calls.size());
    EXPECT_EQ(2u, profile.calls[0].time.count);
    ASSERT_EQ(1u, profile.waits.size());
    EXPECT_EQ("cudaStreamSynchronize", profile.waits[0].name);
    ASSERT_EQ(1u, profile.uncapturable.size());
    EXPECT_EQ(2u, profile.uncapturable[0].count);
    ASSERT_EQ(1u, profile.devices.size());
    EXPECT_EQ(4u, profile.devices[0].kernels);
    for (const Gap& gap : profile.gaps) {
        EXPECT_LE(gap.time.length(), 20u) << "no gap between the parts";
    }
    EXPECT_EQ("", profile.note);
}

TEST(CapturedPart, ranges_that_are_partly_outside_are_left_out) {
    const Profile profile = profiled_twice().profile(profiler_api());
    ASSERT_EQ(1u, profile.ranges.size());
    EXPECT_EQ("step", profile.ranges[0].name);
    EXPECT_EQ(2u, profile.ranges[0].instances.size());
    EXPECT_EQ(4u, profile.ranges[0].total.kernels);
}

TEST(CapturedPart, restrictions_apply_together) {
    ProfileOptions options = profiler_api();
    options.capture.after_launches = 4;
    EXPECT_EQ(2u, profiled_twice().profile(options).program.kernels);
    options.duration_s = 1e-6;
    EXPECT_THROW(profiled_twice().profile(options), util::Error);
    options = profiler_api();
    options.duration_s = 1.5e-6;
    EXPECT_EQ(2u, profiled_twice().profile(options).program.kernels);
}

TEST(CapturedPart, the_peak_of_memory_is_that_of_the_part) {
    Program program;
    program.profiler(watched, 0).kernel("a", 210, {210, 220});
    program.level("api").allocation(10, 1, 100).allocation(20, 2, 1000).release(30, 2);
    program.profiler(start, 200).allocation(230, 3, 50).release(240, 3);
    program.profiler(stop, 300).allocation(310, 4, 7000);
    EXPECT_EQ(7100u, program.profile().devices.at(0).peak_memory_bytes);
    EXPECT_EQ(150u, program.profile(profiler_api()).devices.at(0).peak_memory_bytes)
        << "with what was allocated before";
}

}  // namespace activity_captured_part_test
}  // namespace perfgate::activity

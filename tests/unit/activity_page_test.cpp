// SPDX-License-Identifier: Apache-2.0
// What the page of a profile is given: tracks and rows of a timeline, and how large recordings are
// bounded without hiding that something was there.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "activity/outputs.hpp"
#include "activity/tracks.hpp"
#include "recorded_program.hpp"

namespace perfgate::activity {
namespace {

using nlohmann::json;

constexpr Interval always{0, UINT64_MAX};

std::vector<Track> tracks(const Program& program) {
    const Timeline timeline(program.recording());
    return tracks_of(timeline, always);
}

json page(const Program& program, const PageLimits& limits = {},
          const ProfileOptions& options = {}) {
    std::vector<Timeline> timelines;
    timelines.emplace_back(program.recording());
    return json::parse(page_data(timelines, {profile_of(timelines.front(), options)}, limits));
}

std::vector<std::uint32_t> rows_of(const Track& track) {
    std::vector<std::uint32_t> rows;
    for (const TrackEvent& event : track.events) rows.push_back(event.row);
    return rows;
}

TEST(Tracks, streams_come_first_then_each_thread) {
    const std::vector<Track> all = tracks(Program()
                                              .range("step", {0, 100})
                                              .call("cudaLaunchKernel", {10, 12})
                                              .kernel("k", 10, {20, 30})
                                              .range("other", {5, 50}, other_thread));
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0].kind, TrackKind::device);
    EXPECT_EQ(all[1].kind, TrackKind::ranges);
    EXPECT_EQ(all[1].thread, main_thread);
    EXPECT_EQ(all[2].kind, TrackKind::calls);
    EXPECT_EQ(all[3].kind, TrackKind::ranges);
    EXPECT_EQ(all[3].thread, other_thread);
}

TEST(Tracks, what_overlaps_is_in_different_rows) {
    const std::vector<Track> all = tracks(Program()
                                              .range("outer", {0, 100})
                                              .range("first", {0, 40})
                                              .range("second", {40, 90})
                                              .range("inner", {50, 60})
                                              .range("after", {100, 120}));
    ASSERT_EQ(all.size(), 1u);
    // outer, after; first, second; inner
    EXPECT_EQ(rows_of(all[0]), (std::vector<std::uint32_t>{0, 0, 1, 1, 2}));
    EXPECT_EQ(all[0].rows, 3u);
}

TEST(Tracks, rows_are_bounded) {
    Program program;
    for (std::uint64_t i = 0; i < 100; ++i) program.range("deep", {i, 1000 - i});
    const std::vector<Track> all = tracks(program);
    EXPECT_EQ(all[0].rows, 16u);
    EXPECT_EQ(all[0].events.size(), 100u);
}

TEST(Tracks, waits_are_told_from_other_calls) {
    const std::vector<Track> all =
        tracks(Program().call("cudaDeviceSynchronize", {0, 10}).call("cudaLaunchKernel", {10, 20}));
    EXPECT_EQ(all[0].events[0].kind, EventKind::wait);
    EXPECT_EQ(all[0].events[1].kind, EventKind::call);
}

TEST(Reduction, few_events_stay_as_they_are) {
    std::vector<Track> all = tracks(Program().kernel("k", 0, {10, 20}).kernel("k", 1, {20, 30}));
    const Reduction reduction = reduce({all.data()}, 2);
    EXPECT_EQ(reduction.kept, 2u);
    EXPECT_EQ(reduction.recorded, 2u);
    EXPECT_EQ(all[0].events.size(), 2u);
}

TEST(Reduction, the_longest_stay_and_nothing_is_lost) {
    Program program;
    std::uint64_t time = 0;
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t length = i % 100 == 0 ? 500 : 3;
        program.kernel(i % 100 == 0 ? "long" : "short", time, {time, time + length});
        time += length;
    }
    std::vector<Track> all = tracks(program);
    const Reduction reduction = reduce({all.data()}, 100);
    EXPECT_EQ(reduction.recorded, 1000u);
    EXPECT_EQ(reduction.kept, 10u);
    EXPECT_EQ(reduction.longer_than_ns, 3u);
    const std::vector<TrackEvent>& events = all[0].events;
    EXPECT_LE(events.size(), 100u);
    EXPECT_GT(events.size(), 50u);
    std::uint64_t count = 0, covered = 0;
    for (const TrackEvent& event : events) {
        count += event.merged;
        covered += event.covered_ns;
        EXPECT_LE(event.covered_ns, event.time.length());
    }
    EXPECT_EQ(count, 1000u);
    EXPECT_EQ(covered, 10u * 500 + 990u * 3);
    EXPECT_EQ(std::count_if(events.begin(), events.end(),
                            [](const auto& event) { return event.time.length() == 500; }),
              10);
}

TEST(Reduction, events_of_one_length_are_merged_evenly) {
    Program program;
    for (std::uint64_t i = 0; i < 1000; ++i) program.kernel("k", i * 10, {i * 10, i * 10 + 5});
    std::vector<Track> all = tracks(program);
    EXPECT_EQ(reduce({all.data()}, 100).kept, 0u);
    EXPECT_LE(all[0].events.size(), 100u);
    for (const TrackEvent& event : all[0].events) {
        EXPECT_GE(event.merged, 9u);
        EXPECT_LE(event.merged, 11u);
    }
}

TEST(PageData, has_the_figures_of_the_profile) {
    const json data = page(Program()
                               .range("step", {0, 100})
                               .kernel("_Z4workPf", 10, {20, 30})
                               .copy(30, {40, 60}, 4096, MemoryKind::pageable));
    const json& process = data["processes"][0];
    EXPECT_EQ(process["profile"]["program"]["gpu_time_ns"], 30);
    EXPECT_EQ(process["all"]["kernels"], 1);
    EXPECT_EQ(process["profile"]["kernels"][0]["name"], "work(float*)");
    EXPECT_EQ(process["tracks"].size(), 2u);
    // begin, length, kind, launched before, range; then begin after the kernel's.
    const json& events = process["tracks"][0]["rows"][0];
    ASSERT_EQ(events.size(), 10u);
    EXPECT_EQ(events[1], 10);
    EXPECT_EQ(events[3], 10);
    EXPECT_EQ(data["texts"][events[4].get<int>()], "step");
    EXPECT_EQ(events[5], 20);
    EXPECT_EQ(events[8], 4096);
    EXPECT_EQ(data["kinds"][events[7].get<int>()]["from"], "pageable");
    EXPECT_TRUE(data["left_out"].empty());
}

TEST(PageData, says_what_it_leaves_out) {
    Program program;
    for (std::uint64_t i = 0; i < 50; ++i) {
        program.kernel("kernel" + std::to_string(i), i * 10, {i * 10, i * 10 + 5})
            .call("cudaLaunchKernel", {i * 10, i * 10 + 1}, static_cast<std::uint32_t>(i));
    }
    PageLimits limits;
    limits.events = 20;
    limits.rows = 7;
    limits.tracks = 3;
    const json data = page(program, limits);
    const json& process = data["processes"][0];
    EXPECT_NE(data["left_out"][0].get<std::string>().find("0 of 52 events"), std::string::npos)
        << data["left_out"];
    EXPECT_EQ(process["all"]["kernels"], 50);
    EXPECT_EQ(process["profile"]["kernels"].size(), 7u);
    EXPECT_EQ(process["tracks"].size(), 3u);
    EXPECT_EQ(process["tracks"][0]["kind"], "device")
        << "the stream, which has the most events, stays";
    EXPECT_EQ(process["tracks_left_out"], 48);

    limits.processes = 0;
    EXPECT_NE(page(program, limits)["left_out"][0].get<std::string>().find("first 0 of 1"),
              std::string::npos);
}

TEST(PageData, a_part_of_the_recording_has_only_that_part) {
    Program program;
    program.range("first", {0, 100}).range("second", {100, 200}).range("around", {50, 150});
    program.kernel("a", 10, {20, 30}).kernel("b", 110, {120, 130});
    ProfileOptions options;
    options.capture.range = "second";
    const json data = page(program, {}, options);
    const json& process = data["processes"][0];
    EXPECT_EQ(process["length_ns"], 100);
    EXPECT_EQ(process["tracks"][0]["recorded"], 1);
    // Of the range that began before, the part that is shown.
    EXPECT_EQ(process["tracks"][1]["rows"][0][0], 0);
    EXPECT_EQ(process["tracks"][1]["rows"][0][1], 50);
}

TEST(PageData, names_are_printable_and_bounded) {
    const std::string hostile = std::string("a\0\x1b[31m\xff", 8) + "\u202e</script>";
    const std::string long_name(70'000, 'n');
    const Program program = Program().kernel(hostile, 0, {10, 20}).kernel(long_name, 1, {20, 30});
    PageLimits limits;
    const json data = page(program, limits);
    for (const json& text : data["texts"]) {
        const std::string shown = text.get<std::string>();
        EXPECT_LE(shown.size(), 1010u);
        EXPECT_TRUE(std::none_of(shown.begin(), shown.end(), [](char c) {
            return c >= 0 && c < ' ';
        })) << shown;
        EXPECT_EQ(shown.find("\u202e"), std::string::npos);
    }
    limits.text_bytes = 10;
    const json shorter = page(program, limits);  // a loop over a part of a temporary outlives it
    for (const json& text : shorter["texts"]) {
        EXPECT_LE(text.get<std::string>().size(), 70u);
    }
}

TEST(PageData, nothing_on_record_is_a_page_too) {
    const json data = page(Program());
    EXPECT_EQ(data["processes"][0]["tracks"].size(), 0u);
    EXPECT_EQ(data["processes"][0]["length_ns"], 0);
}

}  // namespace
}  // namespace perfgate::activity

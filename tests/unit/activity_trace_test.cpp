// SPDX-License-Identifier: Apache-2.0
// The trace for Perfetto: slices of one track nest, whatever ran at the same time.
#include "activity/outputs.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "recorded_program.hpp"

namespace perfgate::activity {
namespace {

using nlohmann::json;

json events_of(const Program& program) {
    std::vector<Timeline> timelines;
    timelines.emplace_back(program.recording());
    return json::parse(write_trace(timelines))["traceEvents"];
}

/// The kernels of each track of device work, by the track's name.
std::map<std::string, std::vector<std::string>> kernels_by_track(const json& events) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::string> names;
    for (const json& event : events) {
        if (event["name"] == "thread_name") {
            names[{event["pid"], event["tid"]}] = event["args"]["name"];
        }
    }
    std::map<std::string, std::vector<std::string>> found;
    for (const json& event : events) {
        if (event["ph"] == "X" && event["cat"] == "kernel") {
            found[names.at({event["pid"], event["tid"]})].push_back(event["name"]);
        }
    }
    return found;
}

TEST(Trace, branches_of_a_graph_that_overlap_on_one_stream_have_tracks_of_their_own) {
    const json events = events_of(Program()
                                      .kernel("a", 0, {10, 30})
                                      .kernel("b", 0, {20, 40})
                                      .kernel("c", 0, {25, 28})
                                      .kernel("d", 0, {30, 50}));
    EXPECT_EQ(kernels_by_track(events),
              (std::map<std::string, std::vector<std::string>>{
                  {"stream 0", {"a", "d"}}, {"stream 0 (2)", {"b"}}, {"stream 0 (3)", {"c"}}}));
}

TEST(Trace, a_stream_whose_work_does_not_overlap_is_one_track) {
    const json events = events_of(Program().kernel("a", 5, {10, 20}).kernel("b", 0, {20, 30}));
    EXPECT_EQ(kernels_by_track(events),
              (std::map<std::string, std::vector<std::string>>{{"stream 0", {"b", "a"}}}));
}

TEST(Trace, each_track_of_a_stream_that_has_a_name_has_work) {
    const json events = events_of(
        Program().kernel("a", 0, {10, 30}).kernel("b", 0, {20, 40}).kernel("c", 50, {60, 70}));
    std::size_t named = 0;
    for (const json& event : events) {
        named += event["name"] == "thread_name" &&
                 event["args"]["name"].get<std::string>().starts_with("stream");
    }
    EXPECT_EQ(named, kernels_by_track(events).size());
}

TEST(Trace, an_arrow_ends_at_the_track_of_its_work) {
    const json events = events_of(Program().kernel("a", 0, {10, 30}).kernel("b", 1, {20, 40}));
    std::map<std::int64_t, std::int64_t> tracks, ends;  // by time
    for (const json& event : events) {
        const auto at = [&] { return static_cast<std::int64_t>(event["ts"].get<double>() * 1000); };
        if (event["ph"] == "X") tracks[at()] = event["tid"];
        if (event["ph"] == "f") ends[at()] = event["tid"];
    }
    EXPECT_EQ(tracks.size(), 2u);
    EXPECT_EQ(tracks, ends);
}

}  // namespace
}  // namespace perfgate::activity

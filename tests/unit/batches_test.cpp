// SPDX-License-Identifier: Apache-2.0
#include "measure/batches.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace perfgate::measure {
namespace {

model::Batch batch(std::int64_t process, std::vector<double> samples, std::int64_t round = 0,
                   const std::string& device = "b1") {
    return {process, device, 7, std::move(samples), round};
}

model::CaseResult timed(const std::string& method, std::vector<model::Batch> batches) {
    model::CaseResult result;
    result.readings = {{batches.front().process, "b1", {}}};
    result.metrics["gpu_time"] = {"ns", 0, method, std::move(batches)};
    result.wall_s = 1;
    return result;
}

TEST(Batches, JoinIntoOneSeriesWhoseValueIsTheMedianOfAllSamples) {
    model::CaseResult result = timed("activity/cold", {batch(0, {10, 10, 10})});
    join_batches(result, timed("activity/cold", {batch(1, {30, 30, 20, 20})}));
    const model::MetricSeries& series = result.metrics.at("gpu_time");
    ASSERT_EQ(series.batches.size(), 2U);
    EXPECT_EQ(series.batches[1], batch(1, {30, 30, 20, 20}));
    EXPECT_EQ(series.value, 20);
    ASSERT_EQ(result.readings.size(), 2U);
    EXPECT_EQ(result.readings[1].process, 1);
    EXPECT_EQ(result.wall_s, 2);
}

TEST(Batches, OfAnotherMethodAreKeptButExcluded) {
    model::CaseResult result = timed("event/cold/blocked", {batch(0, {10})});
    join_batches(result, timed("event/cold/unblocked", {batch(1, {30})}));
    const model::MetricSeries& series = result.metrics.at("gpu_time");
    ASSERT_EQ(series.batches.size(), 2U);
    EXPECT_EQ(series.batches[0].excluded, "");
    EXPECT_EQ(series.batches[1].excluded,
              "its method is event/cold/unblocked, the case's is event/cold/blocked");
    EXPECT_EQ(series.value, 10);
    EXPECT_EQ(series.method, "event/cold/blocked");
}

TEST(Batches, WhatTheHostDidInALaterOneStandsBehindWhatTheFirstConsistsOf) {
    model::CaseResult result = timed("activity", {batch(0, {10})});
    result.metrics["span"].detail = "nothing submitted 1.00 ms";
    model::CaseResult more = timed("activity", {batch(1, {10}, 1)});
    more.metrics["span"].detail = "; host: 81 % in fetch";
    join_batches(result, more);
    EXPECT_EQ("nothing submitted 1.00 ms; host: 81 % in fetch", result.metrics["span"].detail);
    more.metrics["span"].detail = "; host: 70 % in wait";
    join_batches(result, more);
    EXPECT_EQ("nothing submitted 1.00 ms; host: 70 % in wait", result.metrics["span"].detail);
    join_batches(result, timed("activity", {batch(2, {10}, 1)}));
    EXPECT_EQ("nothing submitted 1.00 ms; host: 70 % in wait", result.metrics["span"].detail);
    // Of other metrics nothing is known of the host, whatever the names in their details are.
    result.metrics["copies"].detail = "copy 1 in forward";
    more.metrics["copies"].detail = "copy 1 in a; host: waiting in evil";
    join_batches(result, more);
    EXPECT_EQ("copy 1 in forward", result.metrics["copies"].detail);
}

TEST(Batches, OfAMetricThatTheCaseLacksAreDropped) {
    model::CaseResult result = timed("activity/cold", {batch(0, {10})});
    model::CaseResult more = timed("activity/cold", {batch(1, {10})});
    more.metrics["gpu_span"] = {"ns", 5, "event/cold/blocked", {batch(1, {5})}};
    join_batches(result, std::move(more));
    EXPECT_FALSE(result.metrics.contains("gpu_span"));
}

TEST(Batches, TheValueStaysWhereEveryBatchIsExcluded) {
    model::CaseResult result = timed("activity/cold", {batch(0, {10})});
    result.metrics["gpu_time"].value = 10;
    result.metrics["gpu_time"].batches[0].excluded = "power brake while it was taken";
    join_batches(result, timed("event/cold/blocked", {batch(1, {30})}));
    EXPECT_EQ(result.metrics.at("gpu_time").value, 10);
}

TEST(Batches, AreCountedByRoundAndProcess) {
    model::CaseResult result =
        timed("activity/cold", {batch(0, {1}), batch(1, {1}), batch(2, {1}, 1), batch(2, {1}, 1)});
    result.metrics["gpu_span"] = {"ns", 1, "event/cold/blocked", {batch(5, {1}, 0, "b2")}};
    EXPECT_EQ(processes_in_round(result, 0), 2U);
    EXPECT_EQ(processes_in_round(result, 1), 1U);
    EXPECT_EQ(processes_in_round(result, 2), 0U);
    EXPECT_EQ(last_round(result), 1);
    EXPECT_EQ(last_process(result, "b1"), 2);
    EXPECT_EQ(last_process(result, "b2"), 5);
    EXPECT_EQ(last_process(result, "b3"), -1);
    EXPECT_EQ(last_round({}), 0);
    result.metrics["instructions"] = {"count", 1, "user", {batch(6, {1}, 4)}};
    EXPECT_EQ(last_round(result), 1) << "times do not skip rounds for a counter";
}

TEST(JoinBatches, NotesOfLaterProcessesAreAddedOnceAndInOrder) {
    model::CaseResult result, more;
    result.notes = {"b", "a"};
    join_batches(result, more);
    EXPECT_EQ(result.notes, (std::vector<std::string>{"b", "a"}));
    more.notes = {"c", "b", "0", "c"};
    join_batches(result, more);
    join_batches(result, more);
    EXPECT_EQ(result.notes, (std::vector<std::string>{"b", "a", "c", "0"}));
}

TEST(JoinBatches, NotesThatDifferInEachProcessEndWithOneThatSaysSo) {
    model::CaseResult result;
    for (int process = 0; process < 100; ++process) {
        model::CaseResult more;
        more.notes = {"every process", "process " + std::to_string(process)};
        join_batches(result, more);
    }
    ASSERT_EQ(result.notes.size(), 21U);
    EXPECT_EQ(result.notes[0], "every process");
    EXPECT_EQ(result.notes[19], "process 18");
    EXPECT_EQ(result.notes[20], "further processes have other notes: only 20 are listed");
}

TEST(JoinBatches, ASecondProcessMasksTheArgumentsThatItHasOtherwise) {
    model::CaseResult result;
    result.kernels.resize(1);
    result.kernels[0].arguments = "whole-1";
    result.kernels[0].argument_words = "aaaaaaaabbbbbbbb";
    model::CaseResult more = result;
    more.kernels[0].argument_words = "aaaaaaaa0bbbbbbb";
    join_batches(result, more);
    EXPECT_EQ(result.kernels[0].argument_words, "aaaaaaaa--------");
    more.kernels.clear();  // later processes record none
    join_batches(result, more);
    EXPECT_EQ(result.kernels[0].argument_words, "aaaaaaaa--------");
}

TEST(Batches, OfAnotherChoiceKeepIt) {
    const auto prepared = [](std::int64_t process, const std::string& chosen) {
        model::CaseResult result = timed("activity/cold", {batch(process, {10})});
        result.metrics["prepare_time"] = {"ns", 5, "wall", {batch(process, {5})}, chosen};
        result.metrics["api_calls"] = {"count", 5, "callbacks", {batch(process, {5})}, chosen};
        return result;
    };
    model::CaseResult result = prepared(0, "BLOCK 128");
    join_batches(result, prepared(1, "BLOCK 64"));
    join_batches(result, prepared(2, "BLOCK 128"));
    const model::MetricSeries& series = result.metrics.at("prepare_time");
    EXPECT_EQ(series.detail, "BLOCK 128");
    ASSERT_EQ(series.batches.size(), 3U);
    EXPECT_EQ(series.batches[1].detail, "BLOCK 64");
    EXPECT_EQ(series.batches[2].detail, "");
    EXPECT_EQ(result.metrics.at("api_calls").batches[1].detail, "");
}

}  // namespace
}  // namespace perfgate::measure

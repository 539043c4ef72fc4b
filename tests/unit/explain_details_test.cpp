// SPDX-License-Identifier: Apache-2.0
// Which calls make up a change: of what a value consists before and after.
#include "explain/evidence.hpp"

#include <gtest/gtest.h>

#include "explain_documents.hpp"
#include "model/host_time.hpp"

namespace perfgate::explain {
namespace {

using documents::Case;

TEST(Details, TheDifferenceNamesWhatIsAddedRemovedAndMadeMoreOften) {
    EXPECT_EQ(difference_of_details("cudaGetDevice 1, cudaLaunchKernel 3",
                                    "cudaLaunchKernel 4, cudaMalloc 5"),
              "cudaMalloc 0 → 5, cudaGetDevice 1 → 0, cudaLaunchKernel 3 → 4");
    EXPECT_EQ(difference_of_details("", "cudaMalloc 0.5 in forward"),
              "cudaMalloc in forward 0 → 0.5");
    EXPECT_EQ(difference_of_details("cudaMalloc 1 in forward", "cudaMalloc 1 in backward"),
              "cudaMalloc in backward 0 → 1, cudaMalloc in forward 1 → 0");
    EXPECT_EQ(difference_of_details("FFMA 512 at b.cu:9, LDG.E.128 8 at b.cu:7",
                                    "FFMA 1512 at b.cu:4, LDG.E 32 at b.cu:5, STL 1"),
              "FFMA 512 → 1512 at b.cu:4, LDG.E 0 → 32 at b.cu:5, LDG.E.128 8 → 0, STL 0 → 1");
    EXPECT_EQ(difference_of_details("LDG.E 8 at b.cu:7", "LDG.E 8 at b.cu:9"), "");
    EXPECT_EQ(difference_of_details("a 1, b 2", "b 2, a 1"), "");
    EXPECT_EQ(difference_of_details("", ""), "");
}

TEST(Details, WhatAShortenedListLeavesOutIsNotSaidToBeGone) {
    EXPECT_EQ(difference_of_details("a 3, b 2", "b 7, c 4 and 2 more"), "b 2 → 7, c 0 → 4");
    EXPECT_EQ(difference_of_details("a 3, b 2 and 1 more", "a 5, c 4"), "a 3 → 5, b 2 → 0");
    EXPECT_EQ(difference_of_details("", "a 1, b 2, c 3, d 4, e 5, f 6, g 7, h 8"),
              "h 0 → 8, g 0 → 7, f 0 → 6, e 0 → 5, d 0 → 4, c 0 → 3 and 2 more");
}

TEST(Details, OtherWordsAreNoList) {
    for (const char* other :
         {"over 1000 launches", "mean of 3 processes", "cudaMalloc", "cudaMalloc x", " 1", "a 1,",
          "a nan", "a 1e999", "a 1 and more", "a 1 and x more", "and 3 more"}) {
        EXPECT_EQ(difference_of_details("cudaMalloc 1", other), "") << other;
        EXPECT_EQ(difference_of_details(other, "cudaMalloc 1"), "") << other;
    }
    EXPECT_EQ(difference_of_details("", "\x1b[31m 1"), "?[31m 0 → 1");
}

Case calls(const char* metric, documents::Change change, std::string before, std::string after) {
    Case made = documents::unmoved({{metric, change}});
    made.verdict.verdict = model::Verdict::regressed;
    made.verdict.baseline_details[metric] = std::move(before);
    made.result.metrics.at(metric).detail = std::move(after);
    return made;
}

TEST(Explain, NamesTheCallsThatWereAdded) {
    const auto causes =
        documents::why(calls("api_calls", {4, 7}, "cudaGetDevice 1, cudaLaunchKernel 3",
                             "cudaGetDevice 1, cudaLaunchKernel 3, cudaMalloc 2, cudaFree 1"));
    ASSERT_EQ(causes.size(), 1U);
    EXPECT_EQ(causes[0].sentence,
              "more API calls per launch: api_calls 4 → 7 (+75.0 %; cudaMalloc 0 → 2, cudaFree 0 → "
              "1); each costs host time, and calls that allocate, free or synchronise make the "
              "device wait");
    EXPECT_EQ(causes[0].figures.at(0).detail, "cudaMalloc 0 → 2, cudaFree 0 → 1");
    const auto waits = documents::why(calls("syncs", {0, 2}, "", "cudaStreamSynchronize 2"));
    ASSERT_EQ(waits.size(), 1U);
    EXPECT_EQ(waits[0].sentence,
              "the host waited for the device more often: syncs 0 → 2 (cudaStreamSynchronize 0 → "
              "2); the device idles until the host submits again");
}

Case slower_on_the_host(const std::string& before, const std::string& after) {
    Case made = calls("idle_share", {10, 30}, before, after);
    model::MetricVerdict& idle = made.verdict.metrics.emplace_back();
    idle.metric = "idle_share";
    idle.verdict = model::Verdict::regressed;
    return made;
}

TEST(Explain, NamesWhereTheHostWasAndBefore) {
    const auto paired = documents::why(slower_on_the_host(
        "nothing submitted 1; host: 60 % in step (train.py:9)",
        "nothing submitted 4; host: 81 % in fetch (data.py:7), reading or writing"));
    const auto* host = documents::find(paired, "host");
    ASSERT_NE(nullptr, host);
    EXPECT_EQ(
        "while the GPU was idle, the host was 81 % in fetch (data.py:7), reading or writing "
        "(before: 60 % in step (train.py:9))",
        host->sentence);
    const auto alone =
        documents::why(slower_on_the_host("nothing submitted 1", "; host: 81 % in f"));
    ASSERT_NE(nullptr, documents::find(alone, "host"));
    EXPECT_EQ("while the GPU was idle, the host was 81 % in f",
              documents::find(alone, "host")->sentence);
    EXPECT_EQ(nullptr, documents::find(
                           documents::why(slower_on_the_host("", "nothing submitted 4")), "host"));
}

TEST(Explain, TakesNoNameForWhatTheHostDid) {
    const std::string hostile = "a; host: evil";
    const auto causes = documents::why(
        calls("api_calls", {4, 7}, "cudaFree 1 in " + hostile, "cudaFree 4 in " + hostile));
    ASSERT_EQ(causes.size(), 1U);
    EXPECT_EQ(causes[0].figures.at(0).detail, "cudaFree in " + hostile + " 1 → 4");
    const std::string detail = model::with_host("in cudaFree 1.00 ms", "81 % in " + hostile);
    EXPECT_EQ(model::without_host(detail), "in cudaFree 1.00 ms");
    EXPECT_EQ(model::host_in(detail), "81 % in a, evil");
}

// A gated value whose calls differ has them once.
TEST(Explain, ListsTheCallsOnlyWhereTheirDifferenceIsNotKnown) {
    Case made = calls("syncs", {0, 2}, "", "cudaStreamSynchronize 2");
    model::MetricVerdict& syncs = made.verdict.metrics.emplace_back();
    syncs.metric = "syncs";
    syncs.unit = "count";
    syncs.verdict = model::Verdict::regressed;
    syncs.baseline = 0;
    syncs.measured = 2;
    EXPECT_EQ(documents::find(documents::why(made), "parts"), nullptr);
    made.verdict.baseline_details.clear();
    const auto causes = documents::why(made);
    ASSERT_NE(documents::find(causes, "parts"), nullptr);
    EXPECT_EQ(documents::find(causes, "parts")->sentence, "syncs: cudaStreamSynchronize 2");
}

TEST(Explain, DoesNotGuessWhatAnOlderBaselineConsistedOf) {
    const auto causes =
        documents::why(calls("api_calls", {4, 7}, "", "cudaGetDevice 4, cudaLaunchKernel 3"));
    ASSERT_EQ(causes.size(), 1U);
    EXPECT_TRUE(causes[0].sentence.find("(+75.0 %);") != std::string::npos) << causes[0].sentence;
}

}  // namespace
}  // namespace perfgate::explain

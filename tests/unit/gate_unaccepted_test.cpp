// SPDX-License-Identifier: Apache-2.0
// Improvements that nobody accepts: a note, and after days a failure of the runs that say so.
#include <gtest/gtest.h>

#include <string>

#include "unit/gate_pair.hpp"

namespace perfgate::gate {
namespace gate_unaccepted_test {

using namespace pairs;

Policy failing(std::int64_t days = 30) {
    Policy policy;
    policy.improved_fails = true;
    policy.improvement_days = days;
    return policy;
}

/// A case that takes half as long, whose improvement was first seen on 2026-11-01.
struct Faster {
    Pair pair;
    std::string first_seen = "2026-11-01T23:00:00Z", metric = "gpu_time";

    Faster() { pair.now().metrics["gpu_time"] = series({500}); }
    VerdictDocument on(const std::string& day, const Policy& policy) {
        pair.run.started_at = day.empty() ? "" : day + "T01:00:00Z";
        BaselineSet baselines = stored(pair.baseline);
        if (!first_seen.empty()) baselines.at("s").improved[first_id][metric] = first_seen;
        return judged(pair.run, baselines, policy);
    }
};

std::string notes_of(const VerdictDocument& document) {
    std::string notes;
    for (const std::string& note : document.suites.at(0).notes) notes += note + '\n';
    return notes;
}

TEST(GateUnaccepted, FailsWhenItsDaysAreOver) {
    const auto last = Faster().on("2026-12-01", failing());
    EXPECT_EQ(last.exit_code, 0);
    EXPECT_EQ(only_case(last).verdict, Verdict::improved);
    const auto over = Faster().on("2026-12-02", failing());
    EXPECT_EQ(over.exit_code, 4);
    EXPECT_EQ(only_case(over).verdict, Verdict::inconclusive);
    EXPECT_EQ(only_case(over).doubt, model::Doubt::unaccepted);
    EXPECT_TRUE(says(only_case(over).reason, "may get 106 % worse and still pass"));
    EXPECT_EQ(Faster().on("2026-12-02", failing(31)).exit_code, 0);
    EXPECT_EQ(Faster().on("", failing()).exit_code, 4) << "a run without a time may be of any day";
}

TEST(GateUnaccepted, IsANoteWhereThePolicyDoesNotFailIt) {
    const auto document = Faster().on("2027-12-02", Policy{});
    EXPECT_EQ(document.exit_code, 0);
    EXPECT_EQ(only_case(document).verdict, Verdict::improved);
    EXPECT_TRUE(says(notes_of(document), "first seen on 2026-11-01"));
    EXPECT_TRUE(says(notes_of(document), "more than 30 days, which fails runs of the main branch"));
}

TEST(GateUnaccepted, WithoutANoteItIsNew) {
    Faster faster;
    faster.first_seen.clear();
    EXPECT_EQ(faster.on("2027-12-02", failing()).exit_code, 0);
    EXPECT_TRUE(says(notes_of(faster.on("2027-12-02", failing())), "within 30 days"));
    EXPECT_FALSE(says(notes_of(faster.on("2027-12-02", Policy{})), "not accepted"));
    faster.first_seen = "2026-11-01T23:00:00Z";
    faster.metric = "registers";
    EXPECT_EQ(faster.on("2027-12-02", failing()).exit_code, 0) << "another metric's";
}

TEST(GateUnaccepted, WhatIsNotImprovedNowDoesNotFailForIt) {
    Faster faster;
    faster.pair.now().metrics["gpu_time"] = series({1000});
    EXPECT_EQ(faster.on("2027-12-02", failing()).exit_code, 0);
    EXPECT_EQ(only_case(faster.on("2027-12-02", failing())).verdict, Verdict::pass);
    faster.pair.now().metrics["gpu_time"] = series({2000});
    EXPECT_EQ(faster.on("2027-12-02", failing()).exit_code, 1);
}

TEST(GateUnaccepted, AGateThatOnlyWarnsDoesNotFail) {
    Faster faster;
    for (model::GateRule& gate : faster.pair.now().gates) {
        gate.tolerance.severity = model::Severity::warn;
    }
    const auto document = faster.on("2027-12-02", failing());
    EXPECT_EQ(document.exit_code, 0);
    EXPECT_TRUE(says(notes_of(document), "1 case is so for more than 30 days"));
    EXPECT_FALSE(says(notes_of(document), "fails"));
}

TEST(GateUnaccepted, OneNoteNamesTheLargestSlackOfASuite) {
    Faster faster;
    faster.pair.now().metrics["registers"] = series({16}, "registers", "record");
    BaselineSet baselines = stored(faster.pair.baseline);
    baselines.at("s").improved[first_id] = {{"gpu_time", "2026-11-09T00:00:00Z"},
                                            {"registers", "2026-11-03T00:00:00Z"}};
    faster.pair.run.started_at = "2026-11-10T00:00:00Z";
    const std::string notes = notes_of(judged(faster.pair.run, baselines));
    EXPECT_TRUE(says(notes, "1 improved case is not accepted (first seen on 2026-11-03)")) << notes;
    EXPECT_TRUE(says(notes, "may get 300 % worse and still pass")) << notes;
}

}  // namespace gate_unaccepted_test
}  // namespace perfgate::gate

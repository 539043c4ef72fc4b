// SPDX-License-Identifier: Apache-2.0
// A suite that was edited beside its baseline: values of something else are no values.
#include <gtest/gtest.h>

#include "gate/baseline_set.hpp"
#include "gate/gate.hpp"
#include "unit/gate_pair.hpp"
#include "unit/golden_sentence.hpp"

namespace perfgate::gate {
namespace {

using namespace pairs;

/// A run whose case is as its baseline, and both of this command.
Pair measuring(const std::string& command) {
    Pair pair;
    pair.now().measured_as = {{"command", command}};
    pair.baseline = baseline_of(pair.run);
    return pair;
}

TEST(MeasuredAsAnother, IsInvalidWithTheKeysAndTheRemedy) {
    Pair pair = measuring("./app 4");
    EXPECT_EQ(pair.judged().exit_code, 0);
    pair.now().measured_as["command"] = "./app 5";
    const VerdictDocument document = pair.judged();
    EXPECT_EQ(document.exit_code, 3);
    const CaseVerdict& verdict = only_case(document);
    EXPECT_EQ(verdict.verdict, Verdict::invalid);
    expect_sentence(verdict.reason);
    EXPECT_TRUE(verdict.metrics.empty()) << "nothing of it is compared";
}

TEST(MeasuredAsAnother, IsNotMeasuredAgain) {
    Pair pair = measuring("./app 4");
    pair.now().measured_as["command"] = "./app 5";
    pair.now().metrics["gpu_time"] = series({5000});
    EXPECT_TRUE(flagged(pair.run, stored(pair.baseline), {}, MedianRule()).empty());
}

TEST(MeasuredAsAnother, AWrongResultOrAnErrorIsStillThat) {
    Pair pair = measuring("./app 4");
    pair.now().measured_as["command"] = "./app 5";
    pair.now().status = CaseStatus::error;
    pair.now().reason = "exited with 1";
    EXPECT_EQ(only_case(pair.judged()).verdict, Verdict::error);
    EXPECT_EQ(only_case(pair.judged()).reason, "exited with 1");
}

TEST(MeasuredAsAnother, WhatADocumentDoesNotSayIsComparedAsBefore) {
    Pair pair = measuring("./app 4");
    pair.then().measured_as.clear();
    EXPECT_EQ(only_case(pair.judged()).verdict, Verdict::pass);
    pair.now().metrics["gpu_time"] = series({5000});
    EXPECT_EQ(only_case(pair.judged()).verdict, Verdict::regressed);
    pair = measuring("./app 4");
    pair.now().measured_as.clear();
    EXPECT_EQ(only_case(pair.judged()).verdict, Verdict::pass);
}

TEST(MeasuredAsAnother, TwoRunsAreMeantToBeCompared) {
    Pair pair = measuring("./app 4");
    const model::Run base = pair.run;
    pair.now().measured_as["command"] = "./app 5";
    const auto against_base = [&] { return judged(pair.run, baselines_of(base, "base b")); };
    EXPECT_EQ(only_case(against_base()).verdict, Verdict::pass);
    EXPECT_EQ(
        only_case(against_base()).notes,
        std::vector<std::string>{"the suites of base and head differ: command ./app 4 → ./app 5"});
    pair.now().metrics["gpu_time"] = series({5000});
    EXPECT_EQ(only_case(against_base()).verdict, Verdict::regressed);
    pair = measuring("./app 4");
    EXPECT_TRUE(only_case(against_base()).notes.empty());
}

/// A case with a count of the suite's own that was this and is that, and what each side states.
Pair counting(double was, double is, const char* better_then, const char* better_now) {
    Pair pair;
    const auto state = [](model::MeasuredAs& measured_as, const char* better) {
        measured_as = {{"command", "./app"}, {"values.misses", "/misses"}};
        if (*better != '\0') measured_as[model::direction_key("misses")] = better;
    };
    pair.now().metrics["misses"] = series({is}, "count", "json");
    pair.now().gates.push_back({"misses", {0, std::nullopt, 0}, 0});
    pair.run.metric_definitions["misses"] = {.name = "misses",
                                             .description = "",
                                             .unit = "count",
                                             .direction = std::string(better_now) == "higher"
                                                              ? model::Direction::higher
                                                              : model::Direction::lower,
                                             .metric_class = model::MetricClass::exact};
    state(pair.now().measured_as, better_now);
    pair.baseline = baseline_of(pair.run);
    pair.then().metrics["misses"] = series({was}, "count", "json");
    state(pair.then().measured_as, better_then);
    return pair;
}

TEST(BetterWay, IsPartOfWhatACaseWasMeasuredAs) {
    EXPECT_EQ(only_case(counting(5, 5, "lower", "lower").judged()).verdict, Verdict::pass);
    EXPECT_EQ(only_case(counting(5, 50, "lower", "lower").judged()).verdict, Verdict::regressed);
    EXPECT_EQ(only_case(counting(5, 50, "higher", "higher").judged()).verdict, Verdict::improved);
    const VerdictDocument flipped = counting(5, 50, "lower", "higher").judged();
    EXPECT_EQ(flipped.exit_code, 3);
    EXPECT_EQ(only_case(flipped).verdict, Verdict::invalid);
    EXPECT_TRUE(says(only_case(flipped).reason, "values.misses.better lower → higher"));
}

TEST(BetterWay, BothFailWhereTheBaselineDoesNotSayWhich) {
    for (const char* now : {"lower", "higher"}) {
        EXPECT_EQ(only_case(counting(5, 5, "", now).judged()).verdict, Verdict::pass);
        EXPECT_EQ(only_case(counting(5, 50, "", now).judged()).verdict, Verdict::regressed);
        EXPECT_EQ(only_case(counting(50, 5, "", now).judged()).verdict, Verdict::regressed);
        Pair pair = counting(5, 50, "", now);
        pair.then().measured_as.clear();
        EXPECT_EQ(only_case(pair.judged()).verdict, Verdict::regressed);
        EXPECT_TRUE(says(only_case(pair.judged()).notes.at(0), "does not say which way is better"));
    }
}

TEST(BetterWay, TwoRunsWithOtherDirectionsAreInvalid) {
    for (const bool states : {true, false}) {
        const Pair lower = counting(5, 5, "lower", "lower");
        Pair higher = counting(5, 50, "higher", "higher");
        if (!states) higher.now().measured_as.clear();
        const VerdictDocument document = judged(higher.run, baselines_of(lower.run, "base b"));
        EXPECT_EQ(document.exit_code, 3);
        expect_sentence(metric(only_case(document), "misses").sentence);
    }
}

}  // namespace
}  // namespace perfgate::gate

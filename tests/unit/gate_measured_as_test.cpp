// SPDX-License-Identifier: Apache-2.0
// A suite that was edited beside its baseline: values of something else are no values.
#include <gtest/gtest.h>

#include "gate/base_run.hpp"
#include "gate/flagged.hpp"
#include "unit/gate_pair.hpp"

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
    EXPECT_EQ(verdict.reason,
              "the suite changed what is measured since the baseline (command ./app 4 → ./app 5): "
              "accept its values with 'perfgate baseline refresh suites/s.yaml'");
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

}  // namespace
}  // namespace perfgate::gate

// SPDX-License-Identifier: Apache-2.0
// The verdict table of harness/README.md, row by row, each from a run and its baseline.
#include "gate/gate.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "gate/batch_rule.hpp"
#include "unit/gate_pair.hpp"
#include "unit/golden_sentence.hpp"

namespace perfgate::gate {
namespace gate_test {

using namespace pairs;

TEST(Gate, TheSameValuesPass) {
    const VerdictDocument document = Pair().judged();
    const CaseVerdict& verdict = only_case(document);
    EXPECT_EQ(verdict.verdict, Verdict::pass);
    EXPECT_EQ(verdict.id, first_id);
    EXPECT_EQ(verdict.workload, "gemm");
    EXPECT_EQ(verdict.place, (model::SourcePlace{"suites/s.yaml", 11}));
    EXPECT_EQ(verdict.wall_s, 0.25);
    EXPECT_EQ(verdict.reason, "");
    EXPECT_TRUE(verdict.notes.empty());
    expect_sentence(metric(verdict, "gpu_time").sentence);
    EXPECT_EQ(document.exit_code, 0);
    EXPECT_EQ(document.suites[0].baseline_file, "baselines/d/s.json");
    EXPECT_TRUE(document.suites[0].notes.empty());
}

TEST(Gate, TheDocumentCarriesWhatTheRunSaysOfItself) {
    Pair pair;
    const VerdictDocument document = pair.judged({true, true});
    EXPECT_EQ(document.tool_version, "0.1.0");
    EXPECT_EQ(document.started_at, pair.run.started_at);
    EXPECT_EQ(document.wall_s, 2);
    EXPECT_EQ(document.backend, "cuda");
    EXPECT_EQ(document.environment, pair.run.environment);
    EXPECT_EQ(document.policy, (Policy{true, true}));
    EXPECT_FALSE(document.interrupted);
}

TEST(Gate, ASlowerKernelRegressesAndReadsLikeASentence) {
    Pair pair;
    pair.then().metrics["gpu_time"] = series({12340});
    pair.now().metrics["gpu_time"] = series({13600});
    const VerdictDocument document = pair.judged();
    const CaseVerdict& verdict = only_case(document);
    EXPECT_EQ(verdict.verdict, Verdict::regressed);
    expect_sentence(verdict.reason);
    const MetricVerdict time = metric(verdict, "gpu_time");
    EXPECT_EQ(time.sentence, verdict.reason);
    EXPECT_EQ(time.unit, "ns");
    EXPECT_EQ(time.baseline, 12340);
    EXPECT_EQ(time.measured, 13600);
    EXPECT_NEAR(time.change.value(), 0.1021, 1e-4);
    EXPECT_EQ(time.tolerance, "3 %");
    EXPECT_EQ(metric(verdict, "registers").verdict, Verdict::pass);
    EXPECT_EQ(document.exit_code, 1);
}

TEST(Gate, EveryFailedMetricIsListedAndTheReasonCountsThem) {
    Pair pair;
    pair.now().metrics["gpu_time"] = series({1100});
    pair.now().metrics["registers"] = series({80}, "registers", "record");
    const VerdictDocument document = pair.judged();
    const CaseVerdict& verdict = only_case(document);
    EXPECT_EQ(metric(verdict, "gpu_time").verdict, Verdict::regressed);
    EXPECT_EQ(metric(verdict, "registers").verdict, Verdict::regressed);
    expect_sentence(metric(verdict, "registers").sentence);
    EXPECT_TRUE(verdict.reason.ends_with("(and 1 more)")) << verdict.reason;
}

TEST(Gate, AFasterKernelImproves) {
    Pair pair;
    pair.now().metrics["gpu_time"] = series({900});
    const VerdictDocument document = pair.judged();
    EXPECT_EQ(only_case(document).verdict, Verdict::improved);
    expect_sentence(only_case(document).reason);
    EXPECT_EQ(document.exit_code, 0);
}

TEST(Gate, ARegressionIsNotOutweighedByAnImprovement) {
    Pair pair;
    pair.now().metrics["gpu_time"] = series({500});
    pair.now().metrics["registers"] = series({65}, "registers", "record");
    EXPECT_EQ(only_case(pair.judged()).verdict, Verdict::regressed);
}

TEST(Gate, AMetricThatTheSuiteDoesNotGateIsNotJudged) {
    Pair pair;
    pair.then().metrics["spill_sectors"] = series({0}, "count", "counter");
    pair.now().metrics["spill_sectors"] = series({999}, "count", "counter");
    const VerdictDocument document = pair.judged();
    EXPECT_EQ(only_case(document).verdict, Verdict::pass);
    EXPECT_EQ(only_case(document).metrics.size(), 2U);
}

TEST(Gate, OfWhatIsNotJudgedTheBaselinesValueIsCarried) {
    using Values = std::map<std::string, double>;
    const auto counted = [](double value) { return series({value}, "count", "counter"); };
    Pair pair;
    pair.then().metrics["spill_sectors"] = counted(7);
    pair.now().metrics["spill_sectors"] = counted(999);
    pair.then().metrics["l2_hit_rate"] = series({40}, "%", "counter");
    pair.now().metrics["l2_hit_rate"] = series({50}, "%", "counter/other");
    pair.then().metrics["cycles"] = counted(5);
    EXPECT_EQ(only_case(pair.judged()).baseline_values, (Values{{"spill_sectors", 7}}));

    pair.now().metrics["spill_sectors"].unit = "bytes";
    EXPECT_TRUE(only_case(pair.judged()).baseline_values.empty());
    pair.now().metrics["spill_sectors"].unit = "count";
    Policy strict;
    strict.changed.driver = model::OnChange::refuse;
    EXPECT_FALSE(only_case(pair.judged(strict)).baseline_values.empty());
    pair.then().provenance.driver = "570.1";
    EXPECT_TRUE(only_case(pair.judged(strict)).baseline_values.empty());
}

TEST(Gate, WhatABaselinesValueConsistsOfIsCarriedWhereTheRunsIsOtherwise) {
    using Details = std::map<std::string, std::string>;
    Pair pair;
    pair.now().gates.push_back({"api_calls", {}, 0});
    pair.run.metric_definitions["api_calls"] = {"api_calls", "", "count", {}, {}, {}};
    for (const char* metric : {"api_calls", "syncs"}) {
        pair.then().metrics[metric] = series({1}, "count", "callbacks");
        pair.now().metrics[metric] = series({2}, "count", "callbacks");
        pair.then().metrics[metric].detail = "cudaMalloc 1";
        pair.now().metrics[metric].detail = "cudaMalloc 2";
    }
    EXPECT_EQ(only_case(pair.judged()).baseline_details,
              (Details{{"api_calls", "cudaMalloc 1"}, {"syncs", "cudaMalloc 1"}}));
    pair.now().metrics["syncs"].method = "other";
    pair.now().metrics["api_calls"].detail = "cudaMalloc 1";
    EXPECT_TRUE(only_case(pair.judged()).baseline_details.empty());
}

TEST(Gate, ATimingCarriesTheClocksThatItRestsOn) {
    Pair pair;
    pair.then().metrics["gpu_time"].batches[0].sm_clock_mhz = 1980;
    pair.now().metrics["gpu_time"].batches[0].sm_clock_mhz = 1755;
    const VerdictDocument document = pair.judged();
    const MetricVerdict& time = metric(only_case(document), "gpu_time");
    EXPECT_EQ(time.baseline_clock_mhz, 1980);
    EXPECT_EQ(time.measured_clock_mhz, 1755);
    EXPECT_EQ(metric(only_case(document), "registers").baseline_clock_mhz, std::nullopt);
    pair.now().metrics["gpu_time"].batches[0].sm_clock_mhz.reset();
    EXPECT_EQ(metric(only_case(pair.judged()), "gpu_time").measured_clock_mhz, std::nullopt);
}

TEST(Gate, WhatSpreadsCarriesItsBatches) {
    Pair pair;
    const auto processes = [](model::MetricSeries& series, std::vector<double> values) {
        series.batches.clear();
        for (const double value : values) series.batches.push_back({0, "board-a", 1, {value}});
    };
    processes(pair.then().metrics["gpu_time"], {1000, 1001, 999});
    processes(pair.now().metrics["gpu_time"], {1002, 1003});
    processes(pair.then().metrics["registers"], {64, 64, 64});
    const VerdictDocument document = pair.judged();
    const MetricVerdict& time = metric(only_case(document), "gpu_time");
    EXPECT_EQ(time.baseline_batches, (std::vector<double>{1000, 1001, 999}));
    EXPECT_EQ(time.measured_batches, (std::vector<double>{1002, 1003}));
    const MetricVerdict& registers = metric(only_case(document), "registers");
    EXPECT_TRUE(registers.baseline_batches.empty()) << "all are equal: nothing spreads";
    EXPECT_TRUE(registers.measured_batches.empty());
}

TEST(Gate, FromAZeroBaselineTheSentenceHasNoChange) {
    Pair pair;
    pair.now().gates = {{"spill_sectors", {}, 0}};
    pair.then().metrics["spill_sectors"] = series({0}, "count", "counter");
    pair.now().metrics["spill_sectors"] = series({128}, "count", "counter");
    const VerdictDocument document = pair.judged();
    const MetricVerdict spills = metric(only_case(document), "spill_sectors");
    expect_sentence(spills.sentence);
    EXPECT_EQ(spills.change, std::nullopt);
}

TEST(Gate, AMetricWithoutDirectionFailsBothWaysAndSaysSo) {
    for (const double measured : {1.4e9, 1.9e9}) {
        Pair pair;
        pair.now().gates = {{"sm_clock", {0.05, std::nullopt, 0}, 0}};
        pair.then().metrics["sm_clock"] = series({1.7e9}, "Hz", "counter");
        pair.now().metrics["sm_clock"] = series({measured}, "Hz", "counter");
        const VerdictDocument document = pair.judged();
        EXPECT_EQ(only_case(document).verdict, Verdict::regressed);
        EXPECT_TRUE(says(only_case(document).reason, "tolerance 5 %, in either direction"))
            << only_case(document).reason;
    }
}

TEST(Gate, AWrongResultIsIncorrectAndNoNumberCounts) {
    Pair pair;
    pair.now().status = CaseStatus::incorrect;
    pair.now().reason = "element 7 is 3, expected 4";
    const VerdictDocument document = pair.judged();
    EXPECT_EQ(only_case(document).verdict, Verdict::incorrect);
    EXPECT_EQ(only_case(document).reason, "element 7 is 3, expected 4");
    EXPECT_TRUE(only_case(document).metrics.empty());
    EXPECT_EQ(document.exit_code, 1);
}

TEST(Gate, NumbersOfAFailedVerificationDoNotPass) {
    Pair pair;
    pair.now().verification = model::Verification{false, 7, "element 7 is off"};
    const VerdictDocument document = pair.judged();
    EXPECT_EQ(only_case(document).verdict, Verdict::incorrect);
    expect_sentence(only_case(document).reason);
}

TEST(Gate, ACrashIsAnErrorWithItsLog) {
    Pair pair;
    pair.now().status = CaseStatus::error;
    pair.now().reason = "worker ended by signal 11";
    pair.now().log = "last words";
    const VerdictDocument document = pair.judged();
    EXPECT_EQ(only_case(document).verdict, Verdict::error);
    EXPECT_EQ(only_case(document).reason, "worker ended by signal 11");
    EXPECT_EQ(only_case(document).log, "last words");
    EXPECT_EQ(document.exit_code, 3);
}

TEST(Gate, ASkippedCasePassesBesideOneThatWasMeasured) {
    CaseResult skipped = measured_case(2);
    skipped.status = CaseStatus::skipped;
    skipped.reason = "needs compute capability 10.0";
    const model::Run run = run_of({measured_case(1), skipped});
    model::Baseline baseline = baseline_of(run);
    baseline.cases.erase("gemm/tiled[m=2]");
    const VerdictDocument document = judged(run, stored(baseline));
    EXPECT_EQ(document.suites[0].cases[1].verdict, Verdict::skipped);
    EXPECT_EQ(document.suites[0].cases[1].reason, "needs compute capability 10.0");
    EXPECT_TRUE(document.suites[0].cases[1].notes.empty());
    EXPECT_EQ(document.exit_code, 0);
}

TEST(Gate, ACaseOfTheBaselineThatCannotRunHereIsMissing) {
    for (const char* reason : {"not built: the CUDA module of plugin 'gemm' is missing",
                               "needs compute capability 10.0, the device has 9.0"}) {
        CaseResult skipped = measured_case(2);
        skipped.status = CaseStatus::skipped;
        skipped.reason = reason;
        const model::Run run = run_of({measured_case(1), skipped});
        const VerdictDocument document = judged(run, stored(baseline_of(run)));
        EXPECT_EQ(document.suites[0].cases[1].verdict, Verdict::missing);
        EXPECT_TRUE(says(document.suites[0].cases[1].reason, reason));
        EXPECT_TRUE(says(document.suites[0].cases[1].reason, "'skip'"));
        EXPECT_EQ(document.suites[0].cases[1].place.line, 12);
        EXPECT_EQ(document.exit_code, 1);
    }
}

TEST(Gate, ACaseThatTheSuiteItselfSkipsIsNotMissing) {
    CaseResult skipped = measured_case(2);
    skipped.status = CaseStatus::skipped;
    skipped.reason = "the suite skips it: no TMA here";
    skipped.skipped_by_suite = true;
    const model::Run run = run_of({measured_case(1), skipped});
    const VerdictDocument document = judged(run, stored(baseline_of(run)));
    EXPECT_EQ(document.suites[0].cases[1].verdict, Verdict::skipped);
    expect_sentence(document.suites[0].cases[1].reason);
    EXPECT_EQ(document.suites[0].cases[1].notes,
              std::vector<std::string>{"the baseline has this case, and the suite skips it"});
    EXPECT_EQ(document.exit_code, 0);
}

TEST(Gate, ARunThatOnlyVerifiedPassesNothing) {
    CaseResult wrong = measured_case(2);
    wrong.status = CaseStatus::incorrect;
    model::Run run = run_of({measured_case(1)});
    run.verify_only = true;
    VerdictDocument document = judged(run, stored(baseline_of(run)));
    EXPECT_TRUE(document.verify_only);
    EXPECT_EQ(only_case(document).verdict, Verdict::skipped);
    EXPECT_EQ(only_case(document).reason, "verified and not measured (--verify-only)");
    EXPECT_TRUE(says(document.suites[0].notes.back(), "nothing was measured"));
    EXPECT_EQ(document.exit_code, 0) << "what was asked for was done";

    run.suites[0].cases = {measured_case(1), wrong};
    EXPECT_EQ(judged(run).exit_code, 1);
    run.suites[0].cases = {measured_case(1)};
    run.suites[0].cases[0].status = CaseStatus::skipped;
    EXPECT_EQ(judged(run).exit_code, 2) << "nothing was verified either";

    CaseResult unchecked = measured_case(1);
    unchecked.command = {"./program"};
    unchecked.verification.reset();
    run.suites[0].cases = {unchecked};
    document = judged(run);
    EXPECT_TRUE(says(only_case(document).reason, "not verified: the suite states no 'check'"));
    EXPECT_EQ(document.exit_code, 2) << "there was nothing to verify it with";
}

TEST(Gate, WhatAnInterruptedRunDidNotReachIsSkippedWithoutRemark) {
    CaseResult unreached = measured_case(2);
    unreached.status = CaseStatus::skipped;
    model::Run run = run_of({measured_case(1), unreached});
    run.interrupted = true;
    const VerdictDocument document = judged(run, stored(baseline_of(run)));
    EXPECT_EQ(document.suites[0].cases[1].verdict, Verdict::skipped);
    EXPECT_TRUE(document.suites[0].cases[1].notes.empty());
    EXPECT_EQ(document.exit_code, 130);
}

TEST(Gate, WhereEveryCaseWasSkippedNothingPasses) {
    CaseResult skipped = measured_case();
    skipped.status = CaseStatus::skipped;
    const VerdictDocument document = judged(run_of({skipped}));
    EXPECT_EQ(document.exit_code, 2);
    EXPECT_TRUE(says(document.suites[0].notes.back(), "nothing was measured"));
}

TEST(Gate, WithoutABaselinePolicyDecides) {
    const model::Run run = run_of({measured_case()});
    const VerdictDocument lenient = judged(run);
    const CaseVerdict& verdict = only_case(lenient);
    EXPECT_EQ(verdict.verdict, Verdict::no_baseline);
    expect_sentence(verdict.reason);
    expect_sentence(metric(verdict, "gpu_time").sentence);
    EXPECT_EQ(metric(verdict, "gpu_time").measured, 1000);
    EXPECT_EQ(metric(verdict, "gpu_time").baseline, std::nullopt);
    EXPECT_EQ(lenient.exit_code, 0);
    EXPECT_EQ(lenient.suites[0].baseline_file, "");
    EXPECT_TRUE(says(lenient.suites[0].notes.at(0), "'nvidia-h100-80gb-hbm3'"));
    EXPECT_EQ(judged(run, {}, {true, false}).exit_code, 4);
}

TEST(Gate, ACaseOrMetricThatTheBaselineLacksHasNoBaseline) {
    const model::Run run = run_of({measured_case(1), measured_case(2)});
    model::Baseline baseline = baseline_of(run);
    baseline.cases.erase("gemm/tiled[m=2]");
    baseline.cases.at(first_id).metrics.erase("registers");
    const VerdictDocument document = judged(run, stored(baseline), {true, false});
    const CaseVerdict& first = document.suites[0].cases[0];
    EXPECT_EQ(metric(first, "gpu_time").verdict, Verdict::pass);
    EXPECT_EQ(metric(first, "registers").verdict, Verdict::no_baseline);
    EXPECT_EQ(first.verdict, Verdict::no_baseline);
    expect_sentence(first.reason);
    EXPECT_EQ(document.suites[0].cases[1].verdict, Verdict::no_baseline);
    EXPECT_EQ(document.exit_code, 4);
}

TEST(Gate, ARegressionWinsOverAMissingBaselineOfAnotherMetric) {
    Pair pair;
    pair.then().metrics.erase("registers");
    pair.now().metrics["gpu_time"] = series({1100});
    const VerdictDocument document = pair.judged({true, false});
    EXPECT_EQ(only_case(document).verdict, Verdict::regressed);
    EXPECT_EQ(document.exit_code, 1);
}

TEST(Gate, ValuesOfDifferentMethodsAreInvalidWhateverThePolicies) {
    Pair pair;
    pair.now().metrics["gpu_time"] = series({99999}, "ns", "activity/cold");
    const VerdictDocument document = pair.judged();
    EXPECT_EQ(document.exit_code, 3);
    EXPECT_EQ(pair.judged({.no_baseline_fails = true, .inconclusive_fails = true}).exit_code, 3);
    const CaseVerdict& verdict = only_case(document);
    const MetricVerdict time = metric(verdict, "gpu_time");
    EXPECT_EQ(time.verdict, Verdict::invalid);
    EXPECT_EQ(time.baseline, std::nullopt);
    EXPECT_EQ(time.change, std::nullopt);
    expect_sentence(time.sentence);
    EXPECT_EQ(verdict.reason, time.sentence);
    EXPECT_EQ(verdict.verdict, Verdict::invalid);
}

TEST(Gate, ATimeThatFallsToLessThanAThirdIsTooGoodToBeBelieved) {
    Pair pair;
    model::MetricDefinition& definition = pair.run.metric_definitions.at("gpu_time");
    model::Tolerance& tolerance = pair.now().gates.at(0).tolerance;
    Policy policy;
    const auto at = [&](double measured) {
        pair.now().metrics["gpu_time"] = series({measured});
        return metric(only_case(pair.judged(policy)), "gpu_time");
    };
    const auto too_good = [&](double measured) {
        const MetricVerdict verdict = at(measured);
        return verdict.verdict == Verdict::inconclusive && verdict.doubt == model::Doubt::too_good;
    };
    for (const double measured : {333.0, 2.0, 0.0}) EXPECT_TRUE(too_good(measured)) << measured;
    EXPECT_TRUE(says(at(2).sentence, "does it still do all of its work")) << at(2).sentence;
    EXPECT_EQ(at(334).verdict, Verdict::improved);
    EXPECT_EQ(pair.judged(policy).exit_code, 0);
    at(333);
    EXPECT_EQ(pair.judged(policy).exit_code, 0);
    policy.not_shown_fails = true;
    EXPECT_EQ(pair.judged(policy).exit_code, 4);
    policy.not_shown_fails = false;
    policy.inconclusive_fails = true;
    EXPECT_EQ(pair.judged(policy).exit_code, 4);

    policy.too_good = 100;
    EXPECT_FALSE(too_good(11));
    EXPECT_TRUE(too_good(9));
    policy.too_good = 3;
    tolerance.worse = 9;  // what may become ten times as slow may have been so
    EXPECT_FALSE(too_good(101));
    EXPECT_TRUE(too_good(99));
    tolerance = {0.03, std::nullopt, 800};
    EXPECT_FALSE(too_good(201)) << "within the tolerance";
    EXPECT_TRUE(too_good(199));
    tolerance = {0.03, std::nullopt, 0};
    definition.direction = model::Direction::higher;  // a rate
    EXPECT_TRUE(too_good(3001));
    EXPECT_EQ(at(2999).verdict, Verdict::improved);
    EXPECT_EQ(at(300).verdict, Verdict::regressed);
    definition.direction = model::Direction::none;
    EXPECT_EQ(at(300).verdict, Verdict::regressed);
    EXPECT_EQ(at(3001).verdict, Verdict::regressed);
}

TEST(Gate, ACountMayFallToNothing) {
    Pair pair;
    pair.now().metrics["registers"] = series({0}, "registers", "record");
    EXPECT_EQ(metric(only_case(pair.judged()), "registers").verdict, Verdict::improved);
}

TEST(Gate, ARateThatMayFallToNothingIsNotJudged) {
    Pair pair;
    pair.run.metric_definitions["rate"] =
        documents::definition("rate", "GB/s", model::MetricClass::timing, model::Direction::higher);
    pair.now().metrics["rate"] = series({0.0001}, "GB/s");
    pair.then().metrics["rate"] = series({100}, "GB/s");
    for (const model::Tolerance& all : {model::Tolerance{1, {}, 0}, model::Tolerance{0, {}, 100}}) {
        pair.now().gates = {{"rate", all, 0}};
        EXPECT_EQ(metric(only_case(pair.judged()), "rate").verdict, Verdict::invalid);
    }
    pair.now().gates = {{"rate", {0.99, {}, 0}, 0}};
    EXPECT_EQ(metric(only_case(pair.judged()), "rate").verdict, Verdict::regressed);
}

TEST(Gate, ANegativeAmountIsInvalidInTheRunAndInTheBaseline) {
    for (const char* name : {"gpu_time", "registers"}) {
        Pair pair;
        pair.now().metrics[name].batches[0].samples = {-1};
        EXPECT_EQ(metric(only_case(pair.judged()), name).verdict, Verdict::invalid) << name;
        EXPECT_TRUE(says(only_case(pair.judged()).reason, "is no amount"));
        EXPECT_EQ(pair.judged().exit_code, 3);
        pair = {};
        pair.then().metrics[name].batches[0].samples = {-1};
        EXPECT_EQ(metric(only_case(pair.judged()), name).verdict, Verdict::invalid) << name;
        EXPECT_TRUE(says(only_case(pair.judged()).reason, "in the baseline, -1"))
            << only_case(pair.judged()).reason;
    }
    Pair share;
    share.now().metrics["registers"] = series({-1}, "%", "record");
    share.then().metrics["registers"] = series({-1}, "%", "record");
    EXPECT_EQ(metric(only_case(share.judged()), "registers").verdict, Verdict::pass);
}

TEST(Gate, ValuesOfDifferentUnitsAreInvalid) {
    Pair pair;
    pair.then().metrics["gpu_time"] = series({1}, "us");
    const VerdictDocument document = pair.judged();
    EXPECT_EQ(metric(only_case(document), "gpu_time").verdict, Verdict::invalid);
    EXPECT_EQ(document.exit_code, 3);
    EXPECT_TRUE(
        says(only_case(document).reason, "its unit is 'us' in the baseline and 'ns' in this run"));
}

TEST(Gate, AMetricThatWasNotCollectedMakesItsCaseIncomplete) {
    Pair pair;
    pair.now().metrics.erase("registers");
    pair.now().not_collected = {{"registers", "no permission: allow counters"}};
    const VerdictDocument document = pair.judged();
    const CaseVerdict& verdict = only_case(document);
    EXPECT_EQ(verdict.verdict, Verdict::not_collected);
    expect_sentence(verdict.reason);
    EXPECT_EQ(verdict.metrics.size(), 2U) << "said once";
    EXPECT_EQ(metric(verdict, "gpu_time").verdict, Verdict::pass);
    EXPECT_EQ(document.exit_code, 3);
}

TEST(Gate, SoDoesOneThatIsOnlyForInformation) {
    Pair pair;
    pair.now().not_collected = {{"l2_hit_rate", "no permission: allow counters"}};
    const VerdictDocument document = pair.judged();
    EXPECT_EQ(only_case(document).verdict, Verdict::not_collected);
    EXPECT_EQ(metric(only_case(document), "l2_hit_rate").unit, "%");
    EXPECT_EQ(document.exit_code, 3);
}

TEST(Gate, AGatedMetricThatJustIsNotThereIsNotCollected) {
    Pair pair;
    pair.now().metrics.erase("gpu_time");
    const VerdictDocument document = pair.judged();
    EXPECT_EQ(metric(only_case(document), "gpu_time").verdict, Verdict::not_collected);
    EXPECT_EQ(document.exit_code, 3);
}

TEST(Gate, ARegressionWinsOverAMetricThatWasNotCollected) {
    Pair pair;
    pair.now().metrics["gpu_time"] = series({1100});
    pair.now().not_collected = {{"l2_hit_rate", "no permission"}};
    const VerdictDocument document = pair.judged();
    EXPECT_EQ(only_case(document).verdict, Verdict::regressed);
    EXPECT_EQ(document.exit_code, 1);
}

TEST(Gate, AMetricThatDoesNotApplyIsLeftAlone) {
    Pair pair;
    pair.now().metrics.erase("registers");
    pair.now().not_applicable = {"registers"};
    const VerdictDocument document = pair.judged();
    EXPECT_EQ(only_case(document).verdict, Verdict::pass);
    EXPECT_EQ(only_case(document).metrics.size(), 1U);
}

TEST(Gate, ACaseToWhichNoGatedMetricAppliesIsAnError) {
    Pair inapplicable;
    inapplicable.now().not_applicable = {"registers", "gpu_time"};
    Pair ungated;
    ungated.now().gates.clear();
    for (const Pair& pair : {inapplicable, ungated}) {
        const VerdictDocument document = pair.judged();
        EXPECT_EQ(only_case(document).verdict, Verdict::error);
        EXPECT_TRUE(says(only_case(document).reason, "no gated metric applies"));
        EXPECT_EQ(document.exit_code, 3);
    }
}

TEST(Gate, ANumberThatIsNoneIsInvalid) {
    Pair pair;
    pair.now().metrics["gpu_time"] = series({std::numeric_limits<double>::quiet_NaN()});
    const VerdictDocument document = pair.judged();
    EXPECT_EQ(only_case(document).verdict, Verdict::invalid);
    EXPECT_EQ(document.exit_code, 3);
}

TEST(Gate, HostileTextStaysOnOneLineOfASentence) {
    Pair pair;
    const std::string name = "evil\n\x1b[2Jmetric";
    pair.run.metric_definitions[name] =
        documents::definition(name, "ns\n", model::MetricClass::timing);
    pair.now().gates = {{name, {}, 0}};
    pair.now().metrics[name] = series({2}, "ns\n", "method\n");
    pair.then().metrics[name] = series({1}, "ns\n", "other\n");
    pair.then().provenance.driver = "1\n2";
    const VerdictDocument document = pair.judged();
    EXPECT_EQ(only_case(document).metrics[0].sentence.find_first_of("\n\x1b"), std::string::npos);
    for (const std::string& note : document.suites[0].notes) {
        EXPECT_EQ(note.find('\n'), std::string::npos);
    }
}

TEST(Gate, WhatAVerdictShowsIsWhatItRestsOn) {
    Pair pair;
    pair.now().metrics["gpu_time"].value = 5;  // edited by hand: the samples decide
    pair.then().metrics["gpu_time"].value = 7;
    const MetricVerdict time = metric(only_case(pair.judged()), "gpu_time");
    EXPECT_EQ(time.verdict, Verdict::pass);
    EXPECT_EQ(time.measured, 1000);
    EXPECT_EQ(time.baseline, 1000);
}

TEST(Gate, AProgramWithoutACheckIsJudgedAndTheVerdictSaysSo) {
    Pair pair;
    pair.now().verification.reset();
    EXPECT_TRUE(only_case(pair.judged()).notes.empty()) << "no program";
    pair.now().command = {"app"};
    ASSERT_EQ(only_case(pair.judged()).notes.size(), 1U);
    EXPECT_TRUE(says(only_case(pair.judged()).notes[0], "'check'"));
    EXPECT_EQ(only_case(pair.judged()).verdict, Verdict::pass);
    pair.now().verification = model::Verification{true, 0, ""};
    EXPECT_TRUE(only_case(pair.judged()).notes.empty());
}

TEST(Gate, ASourceWithoutACheckIsJudgedAndTheVerdictSaysSo) {
    Pair pair;
    pair.now().source = "k.cu";
    pair.now().verification.reset();
    ASSERT_EQ(only_case(pair.judged()).notes.size(), 1U);
    EXPECT_TRUE(says(only_case(pair.judged()).notes[0], "'check'"));
    EXPECT_EQ(only_case(pair.judged()).verdict, Verdict::pass);
    pair.now().verification = model::Verification{false, 0, "element 7"};
    EXPECT_NE(only_case(pair.judged()).verdict, Verdict::pass);
}

TEST(Gate, OnlyAProgramMayBeGatedByItsExpectationsAlone) {
    Pair pair;
    pair.now().gates.clear();
    EXPECT_EQ(only_case(pair.judged()).verdict, Verdict::error);
    pair.now().command = {"app"};
    EXPECT_EQ(only_case(pair.judged()).verdict, Verdict::pass);
    pair.now().gates = {{"gpu_time", {}, 0}};
    pair.now().not_applicable = {"gpu_time"};
    EXPECT_EQ(only_case(pair.judged()).verdict, Verdict::error);
}

TEST(Gate, ACaseSaysHowNearItsCeilingItIs) {
    Pair pair;
    pair.now().work = model::Work{0, 500, ""};
    EXPECT_FALSE(only_case(pair.judged()).ceiling.has_value());
    pair.run.environment.ceilings.copy_bytes_per_s = 1e9;
    ASSERT_TRUE(only_case(pair.judged()).ceiling.has_value());
    EXPECT_DOUBLE_EQ(only_case(pair.judged()).ceiling->share, 0.5);
}

TEST(Gate, ValuesThatNobodyJudgesAreCarriedWhereTheyCompare) {
    const auto carried = [](const std::string& name, double value, auto change) {
        Pair pair;
        const std::string unit = name == "gpu_span" ? "ns" : "count";
        pair.run.metric_definitions["gpu_span"] =
            documents::definition("gpu_span", "ns", model::MetricClass::timing);
        pair.then().metrics[name] = series({value}, unit, "x");
        pair.now().metrics[name] = series({1}, unit, "x");
        Policy policy;
        change(pair, policy);
        return only_case(pair.judged(policy)).baseline_values.contains(name);
    };
    const auto nothing = [](Pair&, Policy&) {};
    EXPECT_TRUE(carried("gpu_span", 7, nothing));
    EXPECT_TRUE(carried("spill_sectors", 7, nothing));
    EXPECT_FALSE(carried("spill_sectors", std::numeric_limits<double>::infinity(), nothing));
    const auto other_board = [](Pair& pair, Policy& policy) {
        pair.then().provenance.board = "board-b";
        policy.changed.board = model::OnChange::refuse;
    };
    EXPECT_FALSE(carried("gpu_span", 7, other_board)) << "it concerns times";
    EXPECT_TRUE(carried("spill_sectors", 7, other_board));
    EXPECT_FALSE(carried("spill_sectors", 7, [](Pair& pair, Policy&) {
        pair.run.metric_definitions.erase("spill_sectors");
    }));
}

/// Says of every comparison what it was made to say.
class FixedRule final : public Rule {
  public:
    explicit FixedRule(Judgement judgement) : judgement_(judgement) {}
    std::vector<Judgement> judge(std::span<const Comparison> comparisons) const override {
        return std::vector<Judgement>(comparisons.size(), judgement_);
    }

  private:
    Judgement judgement_;
};

TEST(Gate, ACaseIsFlaggedOnceWithItsFirstReason) {
    model::Run run = run_of({measured_case(1), measured_case(2), measured_case(3)});
    const model::Baseline baseline = baseline_of(run);
    run.suites[0].cases[1].status = CaseStatus::error;
    Judgement again;
    again.verdict = Verdict::regressed;
    again.measure_again = true;
    const auto found = flagged(run, stored(baseline), {}, FixedRule(again));
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].suite, 0U);
    EXPECT_EQ(found[0].index, 0U);
    EXPECT_EQ(found[1].index, 2U);
    again.measure_again = false;
    EXPECT_TRUE(flagged(run, stored(baseline), {}, FixedRule(again)).empty());
    again.measure_again = true;
    Policy without_rounds;
    without_rounds.rounds = 0;
    EXPECT_TRUE(flagged(run, stored(baseline), without_rounds, FixedRule(again)).empty());
    for (bool model::Run::*flag : {&model::Run::interrupted, &model::Run::verify_only}) {
        model::Run other = run;
        other.*flag = true;
        EXPECT_TRUE(flagged(other, stored(baseline), {}, FixedRule(again)).empty());
    }
}

TEST(Gate, ABaselineThatDisagreesWithItselfPassesNothing) {
    Judgement judgement;
    judgement.baseline = judgement.measured = 1000;
    judgement.baseline_disagrees = true;
    judgement.minimum_detectable_change = 0.02;
    const Pair pair;
    const auto judged_as = [&](Verdict verdict) {
        judgement.verdict = verdict;
        return metric(only_case(judge(pair.run, stored(pair.baseline), {}, FixedRule(judgement))),
                      "gpu_time");
    };
    EXPECT_EQ(judged_as(Verdict::pass).verdict, Verdict::inconclusive);
    EXPECT_TRUE(says(judged_as(Verdict::pass).sentence, "disagree"));
    EXPECT_EQ(judged_as(Verdict::improved).verdict, Verdict::inconclusive);
    EXPECT_EQ(judged_as(Verdict::regressed).verdict, Verdict::regressed);
    EXPECT_FALSE(says(judged_as(Verdict::regressed).sentence, "disagree"));
    EXPECT_EQ(judged_as(Verdict::pass).minimum_detectable_change, 0.02);
    EXPECT_EQ(judged_as(Verdict::pass).doubt, model::Doubt::baseline_disagrees);
}

TEST(Gate, ANoisierBaselineDoesNotMakeTheGateLessStrict) {
    Policy policy;
    policy.not_shown_fails = true;
    // With more than 16 of 20 the undisturbed ones are trimmed: the disturbed are the baseline.
    for (std::size_t disturbed = 0; disturbed <= 16; ++disturbed) {
        for (const std::size_t measured : {5, 8, 20}) {
            Pair pair;
            for (model::GateRule& gate : pair.now().gates) gate.tolerance.worse = 0.1;
            pair.then().metrics["gpu_time"] = processes(100000, 0.01, 20);
            for (std::size_t i = 0; i < disturbed; ++i) {
                pair.then().metrics["gpu_time"].batches[i].samples[0] *= 2.4;
            }
            pair.now().metrics["gpu_time"] = processes(150000, 0.01, measured);
            const int code =
                judge(pair.run, stored(pair.baseline), policy, BatchRule(policy)).exit_code;
            EXPECT_TRUE(code == 1 || code == 3 || code == 4)
                << disturbed << ", " << measured << ": " << code;
        }
    }
}

// ---- shown to be within the tolerance

/// A baseline of 20 processes and a run of five, which spread over this share of their time.
Pair spreading(double spread, double change = 0) {
    Pair pair;
    pair.then().metrics["gpu_time"] = processes(100000, spread, 20);
    pair.now().metrics["gpu_time"] = processes(100000 * (1 + change), spread, 5);
    return pair;
}

MetricVerdict time_of(const Pair& pair) {
    return metric(only_case(judge(pair.run, stored(pair.baseline), {}, BatchRule({}))), "gpu_time");
}

int exit_of(const Pair& pair, const Policy& policy) {
    return judge(pair.run, stored(pair.baseline), policy, BatchRule(policy)).exit_code;
}

TEST(Shown, ATimePassesIfItsIntervalLiesWithinTheTolerance) {
    const MetricVerdict narrow = time_of(spreading(0.01));
    EXPECT_EQ(narrow.verdict, Verdict::pass);
    EXPECT_EQ(narrow.doubt, model::Doubt::none);
    ASSERT_TRUE(narrow.interval);
    EXPECT_EQ(narrow.interval->level, 0.95);
    EXPECT_LT(narrow.interval->low, 0);
    EXPECT_GT(narrow.interval->high, 0);
    EXPECT_LT(narrow.interval->high, 0.03);
    EXPECT_TRUE(says(narrow.sentence, "95 % interval -")) << narrow.sentence;
}

TEST(Shown, WhatMayBeBeyondTheToleranceIsNotAPass) {
    for (const double change : {0.0, 0.02}) {
        const MetricVerdict wide = time_of(spreading(0.11, change));
        EXPECT_EQ(wide.verdict, Verdict::inconclusive) << change;
        EXPECT_EQ(wide.doubt, model::Doubt::not_shown);
        EXPECT_GT(wide.interval.value().high, 0.03);
        EXPECT_TRUE(says(wide.sentence, "not shown to be within the tolerance")) << wide.sentence;
    }
    Policy policy;
    EXPECT_EQ(exit_of(spreading(0.11), policy), 0);
    policy.inconclusive_fails = true;
    EXPECT_EQ(exit_of(spreading(0.11), policy), 0);
    policy.not_shown_fails = true;
    EXPECT_EQ(exit_of(spreading(0.11), policy), 4);
    EXPECT_EQ(exit_of(spreading(0.01), policy), 0);
}

TEST(Shown, ABetterTimeNeedNotBeShownAsMuch) {
    EXPECT_EQ(time_of(spreading(0.1, -0.2)).verdict, Verdict::improved);
    EXPECT_EQ(time_of(spreading(0.1, -0.05)).verdict, Verdict::pass)
        << "it may not have improved; that it got worse is excluded";
    EXPECT_EQ(time_of(spreading(0.11, -0.02)).verdict, Verdict::pass);
}

TEST(Shown, LessThanATickOfTheClockIsNotShown) {
    Pair pair;
    const auto doubt = [&](double time_ns) {
        pair.then().metrics["gpu_time"] = processes(time_ns, 0.001, 20);
        pair.now().metrics["gpu_time"] = processes(time_ns, 0.001, 5);
        return time_of(pair).doubt;
    };
    // The tolerance of 3 % is 30 and 33 ns, the tick 32 ns.
    EXPECT_EQ(doubt(1000), model::Doubt::not_shown);
    EXPECT_EQ(doubt(1110), model::Doubt::none);
}

TEST(Shown, OneProcessAndTooFewShowNothing) {
    const MetricVerdict one = time_of(Pair());
    EXPECT_EQ(one.doubt, model::Doubt::not_shown);
    EXPECT_TRUE(says(one.sentence, "one process")) << one.sentence;
    Pair few = spreading(0.001);
    few.then().metrics["gpu_time"].batches.resize(3);
    few.now().metrics["gpu_time"].batches.resize(3);
    EXPECT_EQ(time_of(few).doubt, model::Doubt::not_shown);
    EXPECT_FALSE(time_of(few).interval);
    EXPECT_TRUE(says(time_of(few).sentence, "too few processes")) << time_of(few).sentence;
}

TEST(Shown, TooFewProcessesDoNotLetAThousandfoldPass) {
    Pair pair = spreading(0.001, 999);
    EXPECT_EQ(time_of(pair).verdict, Verdict::regressed);
    pair.then().metrics["gpu_time"].batches.resize(2);
    pair.now().metrics["gpu_time"].batches.resize(2);
    EXPECT_EQ(time_of(pair).verdict, Verdict::invalid) << time_of(pair).sentence;
    EXPECT_TRUE(says(time_of(pair).sentence, "measure in more processes"));
    EXPECT_EQ(exit_of(pair, Policy()), 3);
}

TEST(Shown, AChangeFarBeyondTheToleranceFailsWithAnyNumberOfProcesses) {
    for (const double change : {0.05, 0.5, 8.0}) {
        for (std::size_t n = 1; n <= 12; ++n) {
            Pair pair;
            pair.then().metrics["gpu_time"] = processes(100000, 0.005, n);
            pair.now().metrics["gpu_time"] = processes(100000 * (1 + change), 0.005, n);
            const int code = exit_of(pair, {});
            EXPECT_TRUE(code == 1 || code == 3) << change << ", " << n << ": " << code;
            EXPECT_EQ(code == 1, n == 1 || n >= 7) << "the others are too few";
            const MetricVerdict verdict = time_of(pair);
            if (code != 3) continue;
            EXPECT_TRUE(says(verdict.sentence, change < 1 ? "(+" : "→ 900.0 µs"))
                << verdict.sentence;
            EXPECT_TRUE(says(verdict.sentence, "takes p ≤ 0.00095")) << verdict.sentence;
            EXPECT_TRUE(says(verdict.sentence, "8 on each side are enough")) << verdict.sentence;
        }
    }
    const MetricVerdict one = time_of([] {
        Pair pair;
        pair.now().metrics["gpu_time"] = series({1500});
        return pair;
    }());
    EXPECT_TRUE(says(one.sentence, "one process cannot tell a change from noise")) << one.sentence;
}

TEST(Shown, FarBeyondTheToleranceDoesNotPassForOneProcessThatIsNot) {
    Pair pair = spreading(0.005, 0.6);
    pair.now().metrics["gpu_time"].batches[2].samples = {100000};
    const MetricVerdict verdict = time_of(pair);
    EXPECT_EQ(verdict.verdict, Verdict::invalid) << verdict.sentence;
    EXPECT_TRUE(says(verdict.sentence, "not distinguishable from noise (p = ")) << verdict.sentence;
    // Where the baseline has such processes, too, the spread explains it.
    for (std::size_t i = 0; i < 10; ++i) {
        pair.then().metrics["gpu_time"].batches[2 * i].samples = {160000};
    }
    EXPECT_NE(time_of(pair).verdict, Verdict::invalid) << time_of(pair).sentence;
}

TEST(Shown, WhatIsBeyondTheToleranceDoesNotPassForTooFewProcesses) {
    // Of 6 and 5 processes no test reaches the level, though all of them are slower.
    Pair pair;
    const auto verdict_of = [&](double change, std::size_t baseline) {
        pair.then().metrics["gpu_time"] = processes(100000, 0.002, baseline);
        pair.now().metrics["gpu_time"] = processes(100000 * (1 + change), 0.002, 5);
        return time_of(pair);
    };
    const MetricVerdict twice = verdict_of(1, 6);
    EXPECT_EQ(twice.verdict, Verdict::invalid) << twice.sentence;
    EXPECT_TRUE(says(twice.sentence, "too few processes to judge it")) << twice.sentence;
    EXPECT_EQ(exit_of(pair, {}), 3);
    EXPECT_EQ(verdict_of(0.1, 6).verdict, Verdict::invalid);
    for (model::GateRule& gate : pair.now().gates) gate.tolerance.severity = model::Severity::warn;
    EXPECT_EQ(exit_of(pair, {}), 0) << "what only warns may stay undecided";
    for (model::GateRule& gate : pair.now().gates) gate.tolerance.severity.reset();
    EXPECT_EQ(verdict_of(1, 20).verdict, Verdict::regressed) << "enough can tell";
    EXPECT_EQ(verdict_of(0, 6).verdict, Verdict::pass);
    EXPECT_EQ(verdict_of(-0.5, 6).verdict, Verdict::improved);
    EXPECT_EQ(time_of(spreading(0.11)).verdict, Verdict::inconclusive) << "it may be within";
}

TEST(Gate, OtherInstancesThanTheBaselinesAreNoted) {
    Pair pair;
    const auto notes = [&] { return only_case(pair.judged()).notes; };
    pair.now().metrics["instances"] = series({25}, "count");
    EXPECT_TRUE(notes().empty()) << "the baseline is older than the metric";
    pair.then().metrics["instances"] = series({50}, "count");
    EXPECT_EQ(notes(), std::vector<std::string>{
                           "25 instances per process, the baseline has 50: values are per "
                           "instance"});
    pair.then().metrics["instances"].batches.push_back({1, "board-a", 1, {24}});
    EXPECT_TRUE(notes().empty()) << "they vary";
    pair.then().metrics["instances"] = series({25}, "count");
    EXPECT_TRUE(notes().empty());
}

TEST(Gate, ValuesOfAnyOtherMethodOrUnitAreInvalid) {
    Pair pair;
    const auto verdict_of = [&](const char* before, const char* after) {
        pair.then().metrics["gpu_time"].method = before;
        pair.now().metrics["gpu_time"].method = after;
        return time_of(pair).verdict;
    };
    EXPECT_EQ(verdict_of("activity/callbacks/8 processes", "activity/callbacks/7 processes"),
              Verdict::invalid);
    EXPECT_EQ(verdict_of("activity/callbacks/2 processes", "activity/callbacks"), Verdict::invalid)
        << "one may have vanished";
    EXPECT_EQ(verdict_of("activity/cold", "activity/hot"), Verdict::invalid);
    EXPECT_EQ(verdict_of("google-benchmark", "google-benchmark/debug-build"), Verdict::invalid);
    EXPECT_NE(verdict_of("nvbench", "nvbench"), Verdict::invalid);
    pair.then().metrics["gpu_time"].unit = "s";
    EXPECT_EQ(time_of(pair).verdict, Verdict::invalid);
}

TEST(Gate, AMetricThatAlsoOnlyWarnsIsInvalidWhereItCannotBeCompared) {
    Pair pair;
    for (model::GateRule& gate : pair.now().gates) gate.tolerance.severity = model::Severity::warn;
    pair.now().metrics["gpu_time"].method = "other";
    EXPECT_EQ(time_of(pair).verdict, Verdict::invalid);
    EXPECT_EQ(pair.judged().exit_code, 3);
}

TEST(Shown, UnchangedCodeNeedsNoTime) {
    Pair pair = spreading(0.11);
    model::Kernel kernel;
    kernel.name = "k";
    kernel.code = "c0de";
    kernel.arguments = "a1";
    pair.now().kernels = pair.then().kernels = {kernel};
    pair.now().host_code = pair.then().host_code = "0057";
    EXPECT_EQ(time_of(pair).verdict, Verdict::pass);
    EXPECT_TRUE(says(time_of(pair).sentence, "passed (shown by its code)"));
    pair.now().host_code = "0058";  // another kernel of the plugin changed
    EXPECT_EQ(time_of(pair).verdict, Verdict::pass);
    pair.now().kernels[0].arguments = "a2";
    EXPECT_EQ(time_of(pair).doubt, model::Doubt::not_shown);
    pair.now().kernels[0].arguments = "a1";
    pair.now().kernels[0].code = "0ther";
    EXPECT_EQ(time_of(pair).doubt, model::Doubt::not_shown);
}

TEST(Shown, TheSuiteSaysHowManyAreNotAndTheWorst) {
    const Pair pair = spreading(0.11);
    const VerdictDocument document = judge(pair.run, stored(pair.baseline), {}, BatchRule({}));
    const auto& notes = document.suites.at(0).notes;
    EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
        return says(note,
                    "gpu_time: in 1 case the change is not shown to be within the tolerance, "
                    "at worst -");
    }));
}

TEST(Shown, ADriftBetweenTheBaselinesRunsWidensTheInterval) {
    Pair pair = spreading(0.002);
    for (std::size_t i = 0; i < 20; ++i) {
        model::Batch& batch = pair.then().metrics["gpu_time"].batches[i];
        batch.run = static_cast<std::int64_t>(i / 4);
        batch.samples[0] += 2000 * static_cast<double>(i / 4);
    }
    EXPECT_EQ(time_of(pair).doubt, model::Doubt::not_shown) << time_of(pair).sentence;
}

}  // namespace gate_test
}  // namespace perfgate::gate

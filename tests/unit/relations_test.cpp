// SPDX-License-Identifier: Apache-2.0
// Relations judged on a run's values: which hold, what is said, and what was not measured.
#include "gate/relations.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gate/proof.hpp"
#include "median_rule.hpp"
#include "model/roofline.hpp"
#include "unit/gate_documents.hpp"
#include "unit/golden_sentence.hpp"

namespace perfgate::gate {
namespace relations_test {

using documents::measured_case;
using documents::run_of;
using documents::series;
using model::CaseResult;
using model::CaseStatus;
using model::Comparator;
using model::OperandMetric;
using model::Operator;
using model::Relation;
using model::RelationVerdict;
using model::Verdict;

CaseResult case_of(const std::string& variant, double gpu_time_ns) {
    CaseResult result = measured_case();
    result.spec.variant = variant;
    result.metrics["gpu_time"] = series({gpu_time_ns});
    return result;
}

/// gemm/fast.gpu_time <= 0.25 * gemm/slow.gpu_time.
Relation quarter() {
    Relation relation;
    relation.place = {"suites/s.yaml", 40};
    relation.left_text = "gemm/fast.gpu_time";
    relation.right_text = "0.25 * gemm/slow.gpu_time";
    relation.unit = "ns";
    relation.operands = {"gemm/fast", "gemm/slow"};
    relation.left = {OperandMetric{0, "gpu_time"}};
    relation.right = {0.25, OperandMetric{1, "gpu_time"}, Operator::multiply};
    relation.instances = {{"gemm/fast[m=1]", "gemm/slow[m=1]"}};
    return relation;
}

model::Run run_with(Relation relation, double fast_ns, double slow_ns) {
    model::Run run = run_of({case_of("fast", fast_ns), case_of("slow", slow_ns)});
    run.suites[0].relations = {std::move(relation)};
    return run;
}

RelationVerdict only_verdict(const model::Run& run) {
    const auto verdicts = judge_relations(run, run.suites[0]);
    EXPECT_EQ(verdicts.size(), 1U);
    return verdicts.at(0);
}

model::VerdictDocument judged(const model::Run& run) {
    return judge(run, {}, {}, MedianRule());
}

TEST(Relations, NothingHoldsOfWhatIsNoNumber) {
    for (const Comparator comparator :
         {Comparator::less, Comparator::less_equal, Comparator::greater, Comparator::greater_equal,
          Comparator::equal, Comparator::not_equal}) {
        EXPECT_FALSE(model::holds(std::nan(""), comparator, 1));
        EXPECT_FALSE(model::holds(1, comparator, std::nan("")));
    }
}

TEST(Relations, OneThatHoldsPassesWithBothValues) {
    const model::Run run = run_with(quarter(), 20'000, 100'000);
    const RelationVerdict verdict = only_verdict(run);
    EXPECT_EQ(verdict.verdict, Verdict::pass);
    EXPECT_EQ(verdict.relation, "gemm/fast.gpu_time <= 0.25 * gemm/slow.gpu_time");
    EXPECT_EQ(verdict.leading, "gemm/fast[m=1]");
    EXPECT_EQ(verdict.place, (model::SourcePlace{"suites/s.yaml", 40}));
    EXPECT_DOUBLE_EQ(verdict.left.value(), 20'000);
    EXPECT_DOUBLE_EQ(verdict.right.value(), 25'000);
    expect_sentence(verdict.sentence);
    EXPECT_EQ(judged(run).exit_code, 0);
}

TEST(Relations, ABrokenOneReadsLikeASentenceAndFailsTheRunWithoutABaseline) {
    const model::Run run = run_with(quarter(), 30'000, 100'000);
    const RelationVerdict verdict = only_verdict(run);
    EXPECT_EQ(verdict.verdict, Verdict::regressed);
    expect_sentence(verdict.sentence);
    const model::VerdictDocument document = judged(run);
    EXPECT_EQ(document.exit_code, 1);
    EXPECT_EQ(document.suites.at(0).relations, std::vector{verdict});
}

TEST(Relations, EveryComparisonComparesAsItIsWritten) {
    const auto verdict = [](Comparator comparator, double fast_ns) {
        Relation relation = quarter();
        relation.comparator = comparator;
        return only_verdict(run_with(relation, fast_ns, 80)).verdict == Verdict::pass;
    };
    // Left, against 20: below, equal, above.
    using Outcomes = std::vector<bool>;
    const auto outcomes = [&](Comparator comparator) {
        return Outcomes{verdict(comparator, 19), verdict(comparator, 20), verdict(comparator, 21)};
    };
    EXPECT_EQ(outcomes(Comparator::less), (Outcomes{true, false, false}));
    EXPECT_EQ(outcomes(Comparator::less_equal), (Outcomes{true, true, false}));
    EXPECT_EQ(outcomes(Comparator::greater), (Outcomes{false, false, true}));
    EXPECT_EQ(outcomes(Comparator::greater_equal), (Outcomes{false, true, true}));
    EXPECT_EQ(outcomes(Comparator::equal), (Outcomes{false, true, false}));
    EXPECT_EQ(outcomes(Comparator::not_equal), (Outcomes{true, false, true}));
}

TEST(Relations, ArithmeticIsDoneInBaseUnits) {
    // 64 registers / 32 ns.
    Relation relation = quarter();
    relation.comparator = Comparator::greater;
    relation.unit = "Hz";
    relation.right = {OperandMetric{1, "registers"}, OperandMetric{0, "gpu_time"},
                      Operator::divide};
    EXPECT_DOUBLE_EQ(only_verdict(run_with(relation, 32, 5)).right.value(), 2e9);
}

TEST(Relations, OneProcessThatDeviatesCountsForAnExactMetric) {
    Relation relation;
    relation.left_text = "gemm/fast.spill_sectors";
    relation.right_text = "10000";
    relation.unit = "count";
    relation.operands = {"gemm/fast"};
    relation.left = {OperandMetric{0, "spill_sectors"}};
    relation.right = {10'000.0};
    relation.instances = {{"gemm/fast[m=1]"}};
    model::Run run = run_with(relation, 100, 1000);
    model::MetricSeries& spills = run.suites[0].cases[0].metrics["spill_sectors"];
    spills = series({10'000}, "count", "m");
    for (int i = 0; i < 4; ++i) spills.batches.push_back(spills.batches.front());
    EXPECT_EQ(only_verdict(run).verdict, Verdict::pass);
    spills.batches[2].samples = {90'000};
    EXPECT_EQ(only_verdict(run).verdict, Verdict::regressed);
    EXPECT_EQ(only_verdict(run).left, 26'000) << "the mean of all";
    run.metric_definitions["spill_sectors"].metric_class = model::MetricClass::counter;
    EXPECT_EQ(only_verdict(run).verdict, Verdict::pass) << "an outlier of a counter is trimmed";
}

TEST(Relations, AConstantIsNotRepeated) {
    Relation relation = quarter();
    relation.right_text = "25us";
    relation.right = {25e-6};
    relation.operands = {"gemm/fast"};
    relation.instances = {{"gemm/fast[m=1]"}};
    expect_sentence(only_verdict(run_with(relation, 30'000, 1)).sentence);
}

// ---- what was not measured ----------------------------------------------------------------------

TEST(Relations, ABrokenOneEndsWithItsReason) {
    Relation relation = quarter();
    relation.reason = "slow is\nslow";
    EXPECT_TRUE(
        only_verdict(run_with(relation, 30'000, 40'000)).sentence.ends_with("; slow is?slow"));
    EXPECT_EQ(only_verdict(run_with(relation, 30'000, 400'000)).sentence.find("slow is"),
              std::string::npos);
}

TEST(Relations, WhatALoneMetricConsistsOfIsSaid) {
    model::Run run = run_with(quarter(), 30'000, 40'000);
    run.suites[0].cases[0].metrics["gpu_time"].detail = "cudaMalloc 2\n";
    EXPECT_NE(only_verdict(run).sentence.find("is 30.00 µs (cudaMalloc 2?) and should be"),
              std::string::npos)
        << only_verdict(run).sentence;
}

TEST(Relations, OverACaseThatFailedIsAnError) {
    constexpr std::pair<CaseStatus, const char*> statuses[] = {
        {CaseStatus::error, "had an error"},
        {CaseStatus::incorrect, "is incorrect"},
        {CaseStatus::invalid, "is invalid"}};
    for (const auto& [status, what] : statuses) {
        model::Run run = run_with(quarter(), 1, 1);
        run.suites[0].cases[1].status = status;
        run.suites[0].cases[1].reason = "why";
        const RelationVerdict verdict = only_verdict(run);
        EXPECT_EQ(verdict.verdict, Verdict::error);
        EXPECT_FALSE(verdict.left || verdict.right);
        EXPECT_NE(verdict.sentence.find(std::string("gemm/slow[m=1] was not measured: it ") + what),
                  std::string::npos)
            << verdict.sentence;
        EXPECT_NE(verdict.sentence.find(": why"), std::string::npos);
    }
}

TEST(Relations, OverAnUnmeasuredCaseAloneMakesTheExitCodeThree) {
    model::Run run = run_with(quarter(), 1, 1);
    run.suites[0].cases.pop_back();
    expect_sentence(only_verdict(run).sentence);
    EXPECT_EQ(judged(run).exit_code, 3);
}

TEST(Relations, OverAMetricThatWasNotCollectedIsAnError) {
    model::Run run = run_with(quarter(), 1, 1);
    run.suites[0].cases[0].metrics.erase("gpu_time");
    run.suites[0].cases[0].not_collected = {{"gpu_time", "no permission"}};
    const RelationVerdict verdict = only_verdict(run);
    EXPECT_EQ(verdict.verdict, Verdict::error);
    expect_sentence(verdict.sentence);
}

TEST(Relations, OverACaseThatWasSkippedIsSkippedForItsReason) {
    model::Run run = run_with(quarter(), 1, 1);
    run.suites[0].cases[0].status = CaseStatus::error;
    run.suites[0].cases[1].status = CaseStatus::skipped;
    run.suites[0].cases[1].reason = "needs compute capability 10.0, the device has 9.0";
    const RelationVerdict verdict = only_verdict(run);
    EXPECT_EQ(verdict.verdict, Verdict::skipped);
    expect_sentence(verdict.sentence);
}

TEST(Relations, OverAMetricThatTheChipDoesNotHaveIsSkipped) {
    model::Run run = run_with(quarter(), 1, 1);
    run.suites[0].cases[0].metrics.erase("gpu_time");
    run.suites[0].cases[0].not_applicable = {"gpu_time"};
    EXPECT_EQ(only_verdict(run).verdict, Verdict::skipped);
}

TEST(Relations, OfAPartialRunAreSkippedWhereACaseWasNotSelected) {
    model::Run run = run_with(quarter(), 1, 1);
    run.suites[0].partial = true;
    run.suites[0].cases.pop_back();
    const RelationVerdict verdict = only_verdict(run);
    EXPECT_EQ(verdict.verdict, Verdict::skipped);
    expect_sentence(verdict.sentence);
    run.suites[0].cases = {case_of("other", 1)};
    EXPECT_TRUE(judge_relations(run, run.suites[0]).empty());
}

TEST(Relations, AValueThatDoesNotExistIsAnError) {
    Relation relation = quarter();
    relation.right = {1.0, OperandMetric{1, "gpu_time"}, Operator::divide};
    expect_sentence(only_verdict(run_with(relation, 1, 0)).sentence);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(only_verdict(run_with(quarter(), nan, 1)).verdict, Verdict::error);
}

TEST(Relations, ADivisionByZeroOnEitherSideNeverPasses) {
    for (const bool on_the_left : {true, false}) {
        Relation relation = quarter();
        const model::PostfixExpression divided{1.0, OperandMetric{1, "gpu_time"}, Operator::divide};
        (on_the_left ? relation.left : relation.right) = divided;
        const RelationVerdict verdict = only_verdict(run_with(relation, 1, 0));
        EXPECT_EQ(verdict.verdict, Verdict::error);
        EXPECT_FALSE(verdict.left.has_value() || verdict.right.has_value());
        const std::string& bad = on_the_left ? relation.left_text : relation.right_text;
        EXPECT_NE(verdict.sentence.find(bad), std::string::npos) << verdict.sentence;
    }
}

TEST(Relations, OfARunThatOnlyVerifiedAreNotJudged) {
    model::Run run = run_with(quarter(), 30'000, 100'000);
    run.verify_only = true;
    EXPECT_TRUE(judge_relations(run, run.suites[0]).empty());
}

TEST(Relations, HostileTextStaysOnOneLine) {
    Relation relation = quarter();
    relation.left_text = "a\n\x1b[31mb";
    const RelationVerdict verdict = only_verdict(run_with(relation, 30'000, 100'000));
    EXPECT_EQ(verdict.sentence.find('\n'), std::string::npos);
    EXPECT_EQ(verdict.sentence.find('\x1b'), std::string::npos);
}

/// gemm/fast.hottest_kernel == *flash*, of a case with these kernels.
model::Run with_kernels(std::vector<std::pair<std::string, double>> kernels,
                        const std::string& pattern = "*flash*",
                        Comparator comparator = Comparator::equal) {
    Relation relation = quarter();
    relation.left_text = "gemm/fast.hottest_kernel";
    relation.right_text = pattern;
    relation.comparator = comparator;
    relation.unit = "";
    relation.operands = {"gemm/fast"};
    relation.left = {OperandMetric{0, "hottest_kernel"}};
    relation.right = {0.0};
    relation.instances = {{"gemm/fast[m=1]"}};
    model::Run run = run_with(relation, 1000, 1);
    for (const auto& [name, time_ns] : kernels) {
        model::Kernel& kernel = run.suites[0].cases[0].kernels.emplace_back();
        kernel.name = name;
        kernel.launches = 1;
        kernel.time_ns = time_ns;
    }
    return run;
}

TEST(Relations, TheHottestKernelHoldsOrIsBrokenByName) {
    // Two sizes of one kernel are one.
    const RelationVerdict holds =
        only_verdict(with_kernels({{"flash_fwd", 300}, {"gemm", 400}, {"flash_fwd", 300}}));
    EXPECT_EQ(holds.verdict, Verdict::pass);
    expect_sentence(holds.sentence);
    const RelationVerdict broken = only_verdict(with_kernels({{"flash_fwd", 100}, {"gemm", 300}}));
    EXPECT_EQ(broken.verdict, Verdict::regressed);
    expect_sentence(broken.sentence);
    EXPECT_FALSE(broken.left || broken.right);
    EXPECT_EQ(judged(with_kernels({{"gemm", 300}})).exit_code, 1);
    const auto other = [](const std::string& name) {
        return only_verdict(with_kernels({{name, 1}}, "*flash*", Comparator::not_equal)).verdict;
    };
    EXPECT_EQ(other("gemm"), Verdict::pass);
    EXPECT_EQ(other("flash_fwd"), Verdict::regressed);
}

TEST(Relations, AHottestKernelThatIsNotKnownIsAnError) {
    for (const auto comparator : {Comparator::equal, Comparator::not_equal}) {
        const RelationVerdict verdict = only_verdict(with_kernels({}, "*flash*", comparator));
        EXPECT_EQ(verdict.verdict, Verdict::error);
        expect_sentence(verdict.sentence);
    }
    // Of a plugin's case: a hint, not a time of the launches.
    EXPECT_EQ(only_verdict(with_kernels({{"flash_fwd", 0}})).verdict, Verdict::error);
}

TEST(Relations, ThatAnotherKernelIsTheHottestIsProved) {
    for (const model::Run& run :
         {with_kernels({{"flash_fwd", 1}}), with_kernels({{"gemm", 1}}, "g?mm"),
          with_kernels({{"gemm", 1}}, "*flash*", Comparator::not_equal)}) {
        const RelationProof proof = prove_relations(run);
        EXPECT_EQ(proof.relations, 1U);
        EXPECT_TRUE(proof.problems.empty());
    }
    for (const char* pattern : {"*", "?*"}) {
        EXPECT_EQ(prove_relations(with_kernels({{"gemm", 1}}, pattern)).problems.size(), 1U);
    }
}

/// gemm/fast.bound == memory, of a case that copies 800 bytes in so many ns, on a machine that
/// copies a byte in 1 ns.
model::Run bounded(double time_ns, Comparator comparator = Comparator::equal,
                   model::Bound bound = model::Bound::memory) {
    Relation relation = quarter();
    relation.left_text = "gemm/fast.bound";
    relation.right_text = model::bound_word(bound);
    relation.comparator = comparator;
    relation.unit = "";
    relation.operands = {"gemm/fast"};
    relation.left = {OperandMetric{0, "bound"}};
    relation.right = {static_cast<double>(bound)};
    relation.instances = {{"gemm/fast[m=1]"}};
    model::Run run = run_with(relation, time_ns, 1);
    run.environment.ceilings = {1e9, {{"bf16", 1e10}}, ""};
    run.suites[0].cases[0].work = model::Work{0, 800, ""};
    return run;
}

TEST(Relations, ABoundHoldsOrIsBrokenByName) {
    const RelationVerdict holds = only_verdict(bounded(1000));
    EXPECT_EQ(holds.verdict, Verdict::pass);
    expect_sentence(holds.sentence);
    const RelationVerdict broken = only_verdict(bounded(8000));
    EXPECT_EQ(broken.verdict, Verdict::regressed);
    expect_sentence(broken.sentence);
    EXPECT_EQ(judged(bounded(8000)).exit_code, 1);
    EXPECT_FALSE(broken.left || broken.right) << "a bound is no number";

    using model::Bound;
    const auto verdict = [](double time_ns, Comparator comparator, Bound bound) {
        return only_verdict(bounded(time_ns, comparator, bound)).verdict;
    };
    EXPECT_EQ(verdict(8000, Comparator::equal, Bound::neither), Verdict::pass);
    EXPECT_EQ(verdict(1000, Comparator::not_equal, Bound::memory), Verdict::regressed);
    EXPECT_EQ(verdict(1000, Comparator::not_equal, Bound::compute), Verdict::pass);
    EXPECT_EQ(verdict(1000, Comparator::equal, Bound::compute), Verdict::regressed);
}

TEST(Relations, ABoundThatIsNotKnownIsAnError) {
    const auto error_of = [](const model::Run& run) {
        const RelationVerdict verdict = only_verdict(run);
        EXPECT_EQ(verdict.verdict, Verdict::error) << verdict.sentence;
        return verdict.sentence;
    };
    model::Run run = bounded(1000);
    run.suites[0].cases[0].work.reset();
    expect_sentence(error_of(run));
    run = bounded(1000);
    run.environment.ceilings = {};
    expect_sentence(error_of(run));
    run = bounded(1000);
    run.suites[0].cases[0].metrics.clear();
    EXPECT_NE(error_of(run).find("neither gpu_time nor gpu_span"), std::string::npos);
    error_of(bounded(0));
    // A document that names no bound, or mixes it with numbers.
    run = bounded(1000);
    run.suites[0].relations[0].right = {17.0};
    error_of(run);
    run = bounded(1000);
    run.suites[0].relations[0].comparator = Comparator::less_equal;
    error_of(run);
    run = bounded(1000);
    run.suites[0].relations[0].right = {1.0, 1.0, Operator::multiply};
    error_of(run);
    run = bounded(1000);
    run.suites[0].cases[0].status = CaseStatus::skipped;
    EXPECT_EQ(only_verdict(run).verdict, Verdict::skipped);
}

TEST(Relations, ABoundIsProvedByItsTime) {
    for (const auto bound : {model::Bound::memory, model::Bound::neither}) {
        const double time_ns = bound == model::Bound::memory ? 1000 : 8000;
        const RelationProof proof = prove_relations(bounded(time_ns, Comparator::equal, bound));
        EXPECT_EQ(proof.relations, 1U);
        EXPECT_TRUE(proof.problems.empty()) << proof.problems.front();
    }
    // A copy never computes.
    const RelationProof never =
        prove_relations(bounded(1000, Comparator::not_equal, model::Bound::compute));
    EXPECT_EQ(never.problems.size(), 1U);
}

TEST(Ceilings, CasesAreHeldAgainstTheRunsOwn) {
    model::Run run = run_of({case_of("fast", 1000)});
    run.suites[0].cases[0].work = model::Work{0, 500};
    run.environment.ceilings.copy_bytes_per_s = 1e9;
    const auto ceiling = judged(run).suites.at(0).cases.at(0).ceiling;
    ASSERT_TRUE(ceiling.has_value());
    EXPECT_DOUBLE_EQ(ceiling->share, 0.5);
}

}  // namespace relations_test
}  // namespace perfgate::gate

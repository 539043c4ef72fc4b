// SPDX-License-Identifier: Apache-2.0
#include "gate/batch_rule.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gate/baseline_set.hpp"
#include "gate/rule.hpp"
#include "unit/gate_documents.hpp"
#include "unit/golden_sentence.hpp"

namespace perfgate::gate {
namespace paired_rule_test {

using model::Verdict;
using Values = std::vector<double>;

struct Pair {
    model::MetricDefinition definition =
        documents::definition("gpu_time", "ns", model::MetricClass::timing);
    model::MetricSeries base, head;
    double tolerance = 0.005;
};

void add(model::MetricSeries& series, const Values& values, std::int64_t round) {
    series.unit = "ns";
    series.method = "activity/cold";
    for (const double value : values) {
        model::Batch batch{static_cast<std::int64_t>(series.batches.size()), "b", 1, {value}};
        batch.round = round;
        series.batches.push_back(batch);
    }
    if (!values.empty()) series.value = values.front();
}

Pair pair_of(const Values& base, const Values& head, std::int64_t round = 0) {
    Pair pair;
    add(pair.base, base, round);
    add(pair.head, head, round);
    return pair;
}

std::vector<Judgement> judge_all(const std::vector<Pair>& pairs, const model::Policy& policy = {}) {
    std::vector<Comparison> comparisons;
    for (const Pair& pair : pairs) {
        comparisons.push_back(
            {&pair.definition, &pair.base, &pair.head, {pair.tolerance, std::nullopt, 0}, 0});
    }
    return PairedRule(policy).judge(comparisons);
}

Judgement judge_one(const Pair& pair) {
    return judge_all({pair}).front();
}

/// Times of a kernel of 100 µs under a drift that dwarfs the change, the head `slower` (a
/// fraction).
Pair drifting(std::mt19937& random, std::size_t processes, double slower, std::int64_t round = 0,
              double noise = 0.001) {
    std::normal_distribution<double> normal(0, noise * 100'000);
    Values base;
    Values head;
    for (std::size_t i = 0; i < processes; ++i) {
        const double drift = 100'000 * (1 + 0.01 * static_cast<double>(i));
        base.push_back(drift + normal(random));
        head.push_back(drift * (1 + slower) + normal(random));
    }
    return pair_of(base, head, round);
}

TEST(PairedRule, ARoundOfPairsDecidesAtItsLevel) {
    std::mt19937 random(4);
    const std::size_t round = round_size(1, Processes::paired);
    const Pair slower = drifting(random, round, 0.05, 1);
    EXPECT_EQ(judge_one(slower).verdict, Verdict::regressed) << "by the pairs' differences";
    EXPECT_NE(judge_one(drifting(random, round_size(1), 0.05, 1)).verdict, Verdict::regressed)
        << "eight never do";
    // Without a drift both sides are apart, which says more than the signs of thirteen pairs.
    Values base;
    Values head;
    for (std::size_t i = 0; i < round; ++i) {
        base.push_back(100'000 + 10 * static_cast<double>(i));
        head.push_back(105'000 + 10 * static_cast<double>((5 * i) % round));
    }
    const Pair apart = pair_of(base, head, 1);
    for (const std::size_t tests : {1, 300}) {
        EXPECT_EQ(judge_all(std::vector<Pair>(tests, apart)).front().verdict, Verdict::regressed)
            << tests;
    }
    EXPECT_EQ(judge_all(std::vector<Pair>(300, slower)).front().verdict, Verdict::inconclusive);
}

TEST(PairedRule, OnlyPairsOfTheFirstRoundCountAsThoseThatFlag) {
    const auto detected = [](std::size_t first, std::size_t again) {
        Pair pair = pair_of(Values(first, 1e5), Values(first, 1e5));
        const Pair more = pair_of(Values(again, 1e5), Values(again, 1e5), 1);
        for (std::size_t i = 0; i < again; ++i) {
            pair.base.batches.push_back(more.base.batches[i]);
            pair.head.batches.push_back(more.head.batches[i]);
            pair.head.batches.back().samples[0] += i % 2 == 0 ? 1e3 : -1e3;
        }
        return judge_one(pair).minimum_detectable_change.value();
    };
    EXPECT_GT(detected(2, 13), 1.1 * detected(13, 13)) << "two pairs flag less";
    EXPECT_NEAR(detected(2, 13), detected(2, 26), 0.1 * detected(2, 13));
}

TEST(PairedRule, WhatHitsBothAlikeFallsOut) {
    std::mt19937 random(1);
    const Judgement found = judge_one(drifting(random, 16, 0.02, 1));
    EXPECT_EQ(found.verdict, Verdict::regressed);
    EXPECT_EQ(found.basis, Basis::spread);
    EXPECT_NEAR(found.measured / found.baseline, 1.02, 0.002);
    ASSERT_TRUE(found.minimum_detectable_change);
    EXPECT_LT(*found.minimum_detectable_change, 0.02);

    EXPECT_EQ(judge_one(drifting(random, 16, 0, 1)).verdict, Verdict::pass);
    EXPECT_EQ(judge_one(drifting(random, 16, -0.02, 1)).verdict, Verdict::improved);
}

TEST(PairedRule, AFirstRoundAsksForMoreBeforeItConfirms) {
    std::mt19937 random(2);
    Pair pair = drifting(random, 5, 0.05);
    const Judgement first = judge_one(pair);
    EXPECT_EQ(first.verdict, Verdict::inconclusive) << "five pairs cannot confirm anything";
    EXPECT_TRUE(first.measure_again);

    // The batches that got it flagged do not decide.
    const Pair again = drifting(random, 8, 0, 1);
    for (const model::Batch& batch : again.base.batches) pair.base.batches.push_back(batch);
    for (const model::Batch& batch : again.head.batches) pair.head.batches.push_back(batch);
    const Judgement second = judge_one(pair);
    EXPECT_EQ(second.verdict, Verdict::pass);
    EXPECT_FALSE(second.measure_again);
}

TEST(PairedRule, APairOfWhichOneIsExcludedCountsForNothing) {
    Values base(10, 1000);
    Values head(10, 1000);
    for (std::size_t i = 0; i < base.size(); ++i) base[i] += static_cast<double>(i % 3);
    head = base;
    head[4] = 1e6;
    Pair pair = pair_of(base, head);
    pair.base.batches[4].excluded = "power brake";
    const Judgement found = judge_one(pair);
    EXPECT_EQ(found.verdict, Verdict::pass);
    EXPECT_DOUBLE_EQ(found.measured, found.baseline);
}

TEST(PairedRule, ASpreadOfZeroIsNotTakenForCertainty) {
    // Five pairs that agree to the digit by chance: within what is known of timings this is
    // nothing.
    const Pair pair = pair_of(Values(5, 1000), Values(5, 1006));
    EXPECT_NE(judge_one(pair).verdict, Verdict::regressed);
}

TEST(PairedRule, OneProcessEachIsLeftToTheTolerance) {
    EXPECT_EQ(judge_one(pair_of({1000}, {1004})).verdict, Verdict::pass);
    const Judgement slower = judge_one(pair_of({1000}, {1100}));
    EXPECT_EQ(slower.verdict, Verdict::regressed);
    EXPECT_EQ(slower.basis, Basis::one_process);
}

TEST(PairedRule, CountsAreComparedAsTheyStand) {
    Pair pair = pair_of({64}, {65});
    pair.definition = documents::definition("registers", "registers", model::MetricClass::exact);
    pair.tolerance = 0;
    const Judgement found = judge_one(pair);
    EXPECT_EQ(found.verdict, Verdict::regressed);
    EXPECT_EQ(found.basis, Basis::exact);
}

TEST(PairedRule, CountsThatTheBaseRepeatsAreComparedToTheDigit) {
    const auto counts = [](const Values& base, const Values& head) {
        Pair pair = pair_of(base, head);
        pair.definition = documents::definition("misses", "count", model::MetricClass::exact);
        pair.tolerance = 0;
        return judge_one(pair);
    };
    const Judgement more = counts(Values(5, 10'000), Values(5, 10'005));
    EXPECT_EQ(more.verdict, Verdict::regressed);
    EXPECT_EQ(more.basis, Basis::exact);
    EXPECT_EQ(counts(Values(5, 10'000), Values(5, 10'000)).verdict, Verdict::pass);
    EXPECT_EQ(counts(Values(3, 10'000), {10'000, 20'000, 10'000}).verdict, Verdict::regressed);
    EXPECT_EQ(counts({10'000, 10'010, 10'002}, {10'003, 10'011, 10'001}).basis, Basis::spread);
}

TEST(PairedRule, PairsAndWhatIsJudgedWithoutThemShareOneBudget) {
    std::mt19937 random(3);
    const Pair slower = drifting(random, 16, 0.02, 1);
    EXPECT_EQ(judge_one(slower).verdict, Verdict::regressed);
    // 1 / 2^16 is the least probability of 16 pairs: with 20 tests it is more than a share.
    std::vector<Pair> pairs(20, pair_of(Values{1000, 1001, 1002, 1003, 1004}, {1002}));
    pairs[0] = slower;
    EXPECT_EQ(judge_all(pairs)[0].verdict, Verdict::inconclusive);
    // And the others' level takes the pairs into account.
    pairs.assign(20, drifting(random, 16, 0, 1));
    Pair counter;
    for (int i = 0; i < 20; ++i) add(counter.base, {1000 + 0.25 * (i % 5)}, 0);
    add(counter.head, {1040}, 0);
    counter.definition = documents::definition("x", "ns", model::MetricClass::counter);
    const double alone = judge_one(counter).needed_probability;
    pairs.push_back(counter);
    EXPECT_LT(judge_all(pairs).back().needed_probability, alone);
}

TEST(PairedRule, ABaseOfZeroAndValuesThatAreNoNumbers) {
    EXPECT_EQ(judge_one(pair_of(Values(8, 0), Values(8, 0))).verdict, Verdict::pass);
    EXPECT_EQ(judge_one(pair_of(Values(12, 0), Values(12, 1e6))).verdict, Verdict::regressed);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(judge_one(pair_of({1, 2, 3}, {1, nan, 3})).verdict, Verdict::invalid);
}

/// The whole way of a suite that is judged as `ab` does: usual pairs, then rounds for flagged
/// cases. True where it fails.
bool suite_fails(std::mt19937& random, std::size_t cases, double slower, double noise,
                 double tolerance = 0.005) {
    const model::Policy policy;
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < cases; ++i) {
        pairs.push_back(drifting(random, 6, slower, 0, noise));
        pairs.back().tolerance = tolerance;
    }
    for (std::int64_t round = 1; round <= policy.rounds; ++round) {
        const std::vector<Judgement> judgements = judge_all(pairs, policy);
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            if (!judgements[i].measure_again) continue;
            const Pair more =
                drifting(random, round_size(round, Processes::paired), slower, round, noise);
            for (const model::Batch& batch : more.base.batches) {
                pairs[i].base.batches.push_back(batch);
            }
            for (const model::Batch& batch : more.head.batches) {
                pairs[i].head.batches.push_back(batch);
            }
        }
    }
    for (const Judgement& judgement : judge_all(pairs, policy)) {
        if (judgement.verdict == Verdict::regressed || judgement.beyond_spread) return true;
    }
    return false;
}

TEST(PairedRule, FalseAlarmsOfWholeSuitesStayWithinTheBudget) {
    // A noise of 1 % a process, far beyond the tolerance: flags come by the dozen. With a
    // budget of 0.1 % a failed suite in 300 is improbable, two would be a broken rule.
    std::mt19937 random(11);
    int failed = 0;
    for (int i = 0; i < 300; ++i) failed += suite_fails(random, 20, 0, 0.01) ? 1 : 0;
    EXPECT_LE(failed, 1);
}

TEST(PairedRule, MorePairsInTheFirstRoundDetectASmallerChange) {
    const auto detected = [](std::size_t processes) {
        Values base(processes, 100'000);
        Values head;
        for (std::size_t i = 0; i < processes; ++i)
            head.push_back(100'000 + (i % 2 == 0 ? 1e3 : -1e3));
        return judge_one(pair_of(base, head)).minimum_detectable_change.value();
    };
    EXPECT_LT(detected(16), 0.75 * detected(4)) << detected(16) << " " << detected(4);
}

TEST(PairedRule, AChangeAsLargeAsWhatItSeesIsFound) {
    std::mt19937 random(12);
    int found = 0;
    for (int i = 0; i < 200; ++i) found += suite_fails(random, 1, 0.012, 0.002) ? 1 : 0;
    EXPECT_GE(found, 180);
}

TEST(PairedRule, AChangeOfJustTheToleranceFailsNoMoreOftenThanNone) {
    // Half of these changes measure as more than the tolerance, and each is far from none: only
    // what lies beyond the tolerance may be tested.
    std::mt19937 random(13);
    int failed = 0;
    int found = 0;
    for (int i = 0; i < 300; ++i) {
        failed += suite_fails(random, 5, 0.04, 0.002, 0.04) ? 1 : 0;
        found += suite_fails(random, 1, 0.05, 0.002, 0.04) ? 1 : 0;
    }
    EXPECT_LE(failed, 1);
    EXPECT_GE(found, 290);
}

TEST(PairedRule, TooFewPairsThatAreAllFarBeyondTheToleranceAreBeyondTheSpread) {
    model::Policy policy;
    policy.rounds = 0;
    const auto judged = [&](const Values& head) {
        return judge_all({pair_of({100, 101, 99, 100}, head)}, policy).front();
    };
    const Judgement slower = judged({800, 808, 795, 801});
    EXPECT_TRUE(slower.beyond_spread);
    EXPECT_EQ(slower.verdict, Verdict::inconclusive);
    EXPECT_EQ(slower.enough_processes, 8U) << "1 of 12870, a quarter of the level";
    EXPECT_FALSE(judged({110, 100, 112, 95}).beyond_spread) << "noise";
    EXPECT_FALSE(judged({80, 81, 79, 80}).beyond_spread) << "faster";
    EXPECT_FALSE(judged({800, 808, 100, 801}).beyond_spread) << "one pair is not";
}

// ---- a run in the place of the baseline

TEST(BaseRun, IsABaselineOfWhatItMeasured) {
    model::Run base = documents::run_of({documents::measured_case(1), documents::measured_case(2)});
    base.suites[0].cases[0].kernels.resize(1);
    base.suites[0].cases[0].host_code = "0057";
    base.suites[0].cases[1].status = model::CaseStatus::error;
    const BaselineSet baselines = baselines_of(base, "base build-a");
    ASSERT_TRUE(baselines.contains("s"));
    const StoredBaseline& stored = baselines.at("s");
    EXPECT_EQ(stored.file, "base build-a");
    ASSERT_EQ(stored.baseline.cases.size(), 1U);
    const model::BaselineCase& kept = stored.baseline.cases.begin()->second;
    EXPECT_EQ(kept.metrics, base.suites[0].cases[0].metrics);
    EXPECT_EQ(kept.host_code, "0057");
    EXPECT_EQ(kept.kernels.size(), 1U);
}

TEST(BaseRun, ItsNotesAreThoseOfTheCaseToo) {
    using Notes = std::vector<std::string>;
    model::Run head = documents::run_of({documents::measured_case()});
    model::Run base = head;
    const auto notes = [&](const Notes& of_base, const Notes& of_head) {
        base.suites[0].cases[0].notes = of_base;
        head.suites[0].cases[0].notes = of_head;
        const model::Policy policy;
        return judge(head, baselines_of(base, "base"), policy, PairedRule(policy))
            .suites[0]
            .cases[0]
            .notes;
    };
    EXPECT_EQ(notes({"a debug build"}, {}), Notes{"in the base, a debug build"});
    EXPECT_EQ(notes({"a debug build"}, {"a debug build"}),
              Notes{"in base and head, a debug build"});
    EXPECT_EQ(notes({}, {"a debug build"}), Notes{"a debug build"});
}

TEST(BaseRun, SaysWhyACaseHasNothingToBeComparedWith) {
    const model::Run head =
        documents::run_of({documents::measured_case(1), documents::measured_case(2)});
    model::Run base = head;
    base.suites[0].cases[1].status = model::CaseStatus::skipped;
    base.suites[0].cases[1].reason = "it has no workload 'gemm'";
    const model::Policy policy;
    const model::VerdictDocument document =
        judge(head, baselines_of(base, "base"), policy, PairedRule(policy));
    EXPECT_EQ(document.suites[0].cases[0].doubt, model::Doubt::not_shown) << "one process each";
    EXPECT_EQ(document.suites[0].cases[1].verdict, Verdict::no_baseline);
    expect_sentence(document.suites[0].cases[1].reason);
    EXPECT_EQ(document.exit_code, 0);
}

TEST(BaseRun, WhatTheBaseFailedToMeasureIsAnError) {
    const model::Run head =
        documents::run_of({documents::measured_case(1), documents::measured_case(2)});
    const model::Policy policy;
    for (const auto& [status, verdict] :
         {std::pair(model::CaseStatus::error, Verdict::error),
          std::pair(model::CaseStatus::invalid, Verdict::error),
          std::pair(model::CaseStatus::incorrect, Verdict::no_baseline)}) {
        model::Run base = head;
        base.suites[0].cases[1].status = status;
        base.suites[0].cases[1].reason = "out of memory";
        const model::VerdictDocument document =
            judge(head, baselines_of(base, "base"), policy, PairedRule(policy));
        EXPECT_EQ(document.suites[0].cases[1].verdict, verdict);
        EXPECT_EQ(document.suites[0].cases[1].reason,
                  fmt::format("nothing to compare with: in the base this case is {}: out of memory",
                              to_text(status)));
        EXPECT_EQ(document.exit_code, verdict == Verdict::error ? 3 : 0);
    }
}

TEST(BaseRun, WhatTheBaseAloneCouldNotCollectIsNoPass) {
    const model::Run head = documents::run_of({documents::measured_case(1)});
    model::Run base = head;
    model::CaseResult& result = base.suites[0].cases[0];
    const std::string metric = result.gates.front().metric;
    result.metrics.erase(metric);
    result.not_collected = {{metric, "another process allocated memory"}};
    const model::Policy policy;
    const model::VerdictDocument document =
        judge(head, baselines_of(base, "base"), policy, PairedRule(policy));
    EXPECT_EQ(document.suites[0].cases[0].verdict, Verdict::not_collected);
    EXPECT_EQ(document.suites[0].cases[0].reason,
              metric + ": the base has no value: another process allocated memory");
    EXPECT_EQ(document.exit_code, 3);
}

}  // namespace paired_rule_test
}  // namespace perfgate::gate

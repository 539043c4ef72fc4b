// SPDX-License-Identifier: Apache-2.0
// Cases that only the baseline has, runs that came to no end, and several cases and suites.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "unit/gate_pair.hpp"
#include "unit/golden_sentence.hpp"

namespace perfgate::gate {
namespace gate_suites_test {

using namespace pairs;

struct Shrunk : Pair {
    Shrunk() { baseline.cases["gemm/naive[m=1]"] = then(); }
};

TEST(Gate, ACaseThatVanishedIsMissing) {
    const VerdictDocument document = Shrunk().judged();
    ASSERT_EQ(document.suites[0].cases.size(), 2U);
    const CaseVerdict& missing = document.suites[0].cases[1];
    EXPECT_EQ(missing.verdict, Verdict::missing);
    EXPECT_EQ(missing.id, "gemm/naive[m=1]");
    EXPECT_EQ(missing.workload, "gemm");
    EXPECT_EQ(missing.place.file, "suites/s.yaml");
    EXPECT_TRUE(says(missing.reason, "in the baseline and not in the run"));
    EXPECT_EQ(document.exit_code, 1);
}

TEST(Gate, WhatWasNotSelectedIsNotMissing) {
    Shrunk pair;
    pair.run.suites[0].partial = true;
    const VerdictDocument document = pair.judged();
    EXPECT_EQ(document.suites[0].cases.size(), 1U);
    EXPECT_EQ(document.exit_code, 0);
    EXPECT_TRUE(says(document.suites[0].notes.back(), "does not say how its cases were selected"));
}

/// Names of the missing cases of the first suite.
std::vector<std::string> missing(const VerdictDocument& document) {
    std::vector<std::string> ids;
    for (const CaseVerdict& verdict : document.suites[0].cases) {
        if (verdict.verdict == Verdict::missing) ids.push_back(verdict.id);
    }
    return ids;
}

using Ids = std::vector<std::string>;

TEST(Gate, ADeletedCaseThatTheFiltersSelectIsMissing) {
    Shrunk pair;
    pair.run.suites[0].partial = true;
    pair.run.selections = {{{"gemm/naive*", "x"}, {}}};
    EXPECT_EQ(missing(pair.judged()), Ids{"gemm/naive[m=1]"});
    EXPECT_EQ(pair.judged().exit_code, 1);
    pair.run.selections = {{{"gemm/tiled*"}, {}}};
    EXPECT_EQ(missing(pair.judged()), Ids{});
    EXPECT_TRUE(pair.judged().suites[0].notes.empty()) << "the selection does not cover it";
    pair.run.selections = {{{"gemm/*"}, {}}, {{"*tiled*"}, {}}};
    EXPECT_EQ(missing(pair.judged()), Ids{}) << "selected from what was selected";
}

TEST(Gate, ADeletedCaseThatTheTagsSelectIsMissing) {
    Shrunk pair;
    pair.run.suites[0].partial = true;
    pair.run.selections = {{{}, {"nightly"}}};
    pair.baseline.cases["gemm/naive[m=1]"].tags = Ids{"large", "nightly"};
    EXPECT_EQ(missing(pair.judged()), Ids{"gemm/naive[m=1]"});
    pair.baseline.cases["gemm/naive[m=1]"].tags = Ids{"large"};
    EXPECT_EQ(missing(pair.judged()), Ids{});
    EXPECT_TRUE(pair.judged().suites[0].notes.empty());
}

TEST(Gate, WhereTheBaselineHasNoTagsARunWithTagsSaysWhatItCouldNotJudge) {
    Shrunk pair;
    pair.run.suites[0].partial = true;
    pair.run.selections = {{{}, {"nightly"}}};
    EXPECT_EQ(missing(pair.judged()), Ids{});
    ASSERT_FALSE(pair.judged().suites[0].notes.empty());
    expect_sentence(pair.judged().suites[0].notes.back());
    pair.run.selections = {{{"gemm/tiled*"}, {"nightly"}}};
    EXPECT_TRUE(pair.judged().suites[0].notes.empty()) << "the filter rules it out";
    pair.run.selections = {{{}, {"nightly"}}};
    pair.run.suites[0].partial = false;
    EXPECT_EQ(missing(pair.judged()), Ids{"gemm/naive[m=1]"})
        << "the tags left nothing out: the suite no longer has it";
}

TEST(Gate, AShardMissesWhatNoShardHas) {
    Shrunk pair;
    pair.baseline.cases["gemm/other[m=1]"] = pair.then();
    pair.run.suites[0].partial = true;
    pair.run.shard = model::Shard{1, 2, {{"s", false, {first_id, "gemm/other[m=1]"}}}};
    EXPECT_EQ(missing(pair.judged()), Ids{"gemm/naive[m=1]"});
    pair.run.shard->whole[0].partial = true;
    pair.run.selections = {{{"gemm/other*", "gemm/tiled*"}, {}}};
    EXPECT_EQ(missing(pair.judged()), Ids{});
}

/// A run of one suite, beside whose baseline there is one of another.
struct NotGiven : Pair {
    NotGiven() { policy.complete = true; }

    VerdictDocument judged() const {
        BaselineSet baselines = stored(baseline);
        StoredBaseline other = baselines.begin()->second;
        other.file = "baselines/d/other.json";
        other.baseline.suite = "other";
        baselines.emplace("other", other);
        return pairs::judged(run, baselines, policy);
    }

    Policy policy;
};

TEST(Gate, ASuiteThatWasNotGivenIsMissingIfTheRunIsToBeComplete) {
    NotGiven pair;
    const VerdictDocument document = pair.judged();
    ASSERT_EQ(document.suites.size(), 2U);
    EXPECT_EQ(document.suites[1].name, "other");
    EXPECT_EQ(document.suites[1].baseline_file, "baselines/d/other.json");
    const CaseVerdict& missing = document.suites[1].cases.at(0);
    EXPECT_EQ(missing.id, first_id);
    EXPECT_EQ(missing.workload, "gemm");
    EXPECT_EQ(missing.verdict, Verdict::missing);
    EXPECT_TRUE(says(missing.reason, "which was not given"));
    EXPECT_EQ(document.suites[0].cases.at(0).verdict, Verdict::pass);
    EXPECT_EQ(document.exit_code, 1);
    pair.policy.complete = false;
    EXPECT_EQ(pair.judged().suites.size(), 1U);
    EXPECT_EQ(pair.judged().exit_code, 0);
}

TEST(Gate, APartOfARunNeedNotHaveEverySuite) {
    const auto suites = [](auto edit) {
        NotGiven pair;
        edit(pair.run);
        return pair.judged().suites.size();
    };
    EXPECT_EQ(suites([](model::Run&) {}), 2U);
    EXPECT_EQ(suites([](model::Run& run) { run.selections = {{{"gemm/*"}, {}}}; }), 1U);
    EXPECT_EQ(suites([](model::Run& run) { run.suites[0].partial = true; }), 1U);
    EXPECT_EQ(suites([](model::Run& run) { run.verify_only = true; }), 1U);
    EXPECT_EQ(suites([](model::Run& run) { run.interrupted = true; }), 1U);
    EXPECT_EQ(suites([](model::Run& run) {
                  run.shard = model::Shard{1, 2, {{"s", false, {first_id}}}};
              }),
              1U);
}

TEST(Gate, AnInterruptedRunExits130AndMissesNothing) {
    Shrunk pair;
    pair.run.interrupted = true;
    pair.now().metrics["gpu_time"] = series({1100});
    const VerdictDocument document = pair.judged();
    ASSERT_EQ(document.suites[0].cases.size(), 1U);
    EXPECT_EQ(document.suites[0].cases[0].verdict, Verdict::regressed) << "what is known is said";
    EXPECT_TRUE(document.interrupted);
    EXPECT_EQ(document.exit_code, 130);
    EXPECT_TRUE(says(document.suites[0].notes.back(), "interrupted"));
}

TEST(Gate, ARunInterruptedBeforeItsFirstCaseExits130) {
    model::Run run = run_of({});
    run.interrupted = true;
    EXPECT_EQ(judged(run).exit_code, 130);
}

TEST(Gate, AnEmptySelectionIsRefused) {
    EXPECT_TRUE(says(error_of(run_of({}), {}), "nothing was measured"));
    model::Run no_suites = run_of({});
    no_suites.suites.clear();
    EXPECT_TRUE(says(error_of(no_suites, {}), "nothing was measured"));
}

TEST(Gate, TheWorstCaseDecidesTheExitCode) {
    CaseResult crashed = measured_case(2);
    crashed.status = CaseStatus::error;
    const model::Run run = run_of({measured_case(1), crashed, measured_case(3)});
    model::Baseline baseline = baseline_of(run);
    baseline.cases.erase("gemm/tiled[m=3]");
    EXPECT_EQ(judged(run, stored(baseline), {true, false}).exit_code, 3) << "3 wins over 4";
    baseline.cases.at(first_id).metrics["gpu_time"] = series({500});
    EXPECT_EQ(judged(run, stored(baseline), {true, false}).exit_code, 1) << "1 wins over 3";
}

TEST(Gate, EachSuiteIsJudgedByItsOwnBaseline) {
    model::Run run = run_of({measured_case()});
    run.suites.push_back(run.suites[0]);
    run.suites[1].name = "t";
    BaselineSet baselines = stored(baseline_of(run));
    baselines["t"] = {"baselines/d/t.json", baseline_of(run)};
    baselines["t"].baseline.suite = "t";
    baselines["t"].baseline.cases.at(first_id).metrics["gpu_time"] = series({500});
    const VerdictDocument document = judged(run, baselines);
    EXPECT_EQ(document.suites[0].cases[0].verdict, Verdict::pass);
    EXPECT_EQ(document.suites[1].cases[0].verdict, Verdict::regressed);
}

/// Passes everything, and remembers how it was asked.
class CountingRule final : public Rule {
  public:
    std::vector<Judgement> judge(std::span<const Comparison> comparisons) const override {
        calls.push_back(comparisons.size());
        return std::vector<Judgement>(comparisons.size(), Judgement{Verdict::inconclusive, 1, 2});
    }
    mutable std::vector<std::size_t> calls;
};

TEST(Gate, ARuleSeesAllComparisonsOfTheRunAtOnce) {
    model::Run run = run_of({measured_case(1), measured_case(2)});
    run.suites.push_back(run.suites[0]);
    run.suites[1].name = "t";
    BaselineSet baselines = stored(baseline_of(run));
    baselines["t"] = baselines["s"];
    baselines["t"].baseline.suite = "t";
    const CountingRule rule;
    const VerdictDocument document = judge(run, baselines, {false, true}, rule);
    EXPECT_EQ(rule.calls, std::vector<std::size_t>{8});
    EXPECT_EQ(document.exit_code, 4);
    EXPECT_EQ(judge(run, baselines, {false, false}, rule).exit_code, 0);
    expect_sentence(document.suites[1].cases[1].reason);
}

TEST(Gate, OfManyCasesThatAreNotJudgedTenAreNamed) {
    const auto note = [](int absent) {
        Pair pair;
        pair.run.suites[0].partial = true;
        pair.run.selections = {{{}, {"nightly"}}};
        for (int i = 0; i < absent; ++i) {
            pair.baseline.cases["w/v" + std::to_string(100 + i)] = pair.then();
        }
        const std::vector<std::string> notes = pair.judged().suites[0].notes;
        return notes.empty() ? std::string() : notes.back();
    };
    EXPECT_EQ(note(0), "");
    EXPECT_TRUE(says(note(2), "2 cases of the baseline are not"));
    EXPECT_TRUE(says(note(2), "(w/v100, w/v101)"));
    EXPECT_TRUE(says(note(10), "w/v109)"));
    EXPECT_TRUE(says(note(11), "w/v109 and 1 more)"));
}

TEST(Gate, ANoteOfEveryComparedCaseIsTheSuitesWhateverTheOthersAre) {
    model::Run run = run_of({measured_case(1), measured_case(2), measured_case(3)});
    model::Baseline baseline = baseline_of(run);
    run.environment.driver = "590.2";
    run.suites[0].cases[0].status = CaseStatus::error;
    baseline.cases.erase("gemm/tiled[m=3]");
    const VerdictDocument document = judged(run, stored(baseline));
    ASSERT_EQ(document.suites[0].notes.size(), 1U);
    EXPECT_TRUE(says(document.suites[0].notes[0], "driver changed"));
    for (const CaseVerdict& verdict : document.suites[0].cases) {
        EXPECT_TRUE(verdict.notes.empty()) << verdict.id;
    }
}

TEST(Gate, TheWorstMetricIsTheCasesReasonAndOthersAsBadAreCounted) {
    Pair pair;
    pair.now().gates.push_back({"spill_sectors", {}, 0});
    pair.then().metrics["spill_sectors"] = series({5}, "count", "counter");
    pair.now().metrics["spill_sectors"] = series({9}, "count", "counter");
    EXPECT_TRUE(only_case(pair.judged()).reason.starts_with("spill_sectors regressed"));
    EXPECT_FALSE(says(only_case(pair.judged()).reason, "more)"));
    pair.now().metrics["registers"] = series({65}, "registers", "record");
    EXPECT_TRUE(only_case(pair.judged()).reason.starts_with("registers regressed"));
    EXPECT_TRUE(only_case(pair.judged()).reason.ends_with("(and 1 more)"));
    pair.now().metrics["gpu_time"] = series({1100});
    EXPECT_TRUE(only_case(pair.judged()).reason.ends_with("(and 2 more)"));
}

}  // namespace gate_suites_test
}  // namespace perfgate::gate

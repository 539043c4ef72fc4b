// SPDX-License-Identifier: Apache-2.0
#include "model/verdict.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace perfgate::model {
namespace {

constexpr Policy lenient{false, false};
constexpr Policy strict{true, true};

struct TableRow {
    Verdict verdict;
    const char* text;
    int lenient_code;
    Outcome lenient_outcome;
    int strict_code;
    Outcome strict_outcome;
};

const std::vector<TableRow> table = {
    {Verdict::pass, "pass", 0, Outcome::pass, 0, Outcome::pass},
    {Verdict::improved, "improved", 0, Outcome::pass, 0, Outcome::pass},
    {Verdict::skipped, "skipped", 0, Outcome::skipped, 0, Outcome::skipped},
    {Verdict::acknowledged, "acknowledged", 0, Outcome::skipped, 0, Outcome::skipped},
    {Verdict::no_baseline, "no_baseline", 0, Outcome::skipped, 4, Outcome::failure},
    {Verdict::inconclusive, "inconclusive", 0, Outcome::skipped, 4, Outcome::failure},
    {Verdict::invalid, "invalid", 3, Outcome::error, 3, Outcome::error},
    {Verdict::not_collected, "not_collected", 3, Outcome::error, 3, Outcome::error},
    {Verdict::error, "error", 3, Outcome::error, 3, Outcome::error},
    {Verdict::missing, "missing", 1, Outcome::failure, 1, Outcome::failure},
    {Verdict::regressed, "regressed", 1, Outcome::failure, 1, Outcome::failure},
    {Verdict::incorrect, "incorrect", 1, Outcome::failure, 1, Outcome::failure},
};

class VerdictTable : public testing::TestWithParam<TableRow> {};

TEST_P(VerdictTable, TellsCiWhatTheDesignSays) {
    const TableRow& row = GetParam();
    EXPECT_EQ(to_text(row.verdict), row.text);
    EXPECT_EQ(exit_code(row.verdict, lenient), row.lenient_code);
    EXPECT_EQ(outcome_of(row.verdict, lenient), row.lenient_outcome);
    EXPECT_EQ(exit_code(row.verdict, strict), row.strict_code);
    EXPECT_EQ(outcome_of(row.verdict, strict), row.strict_outcome);
}

INSTANTIATE_TEST_SUITE_P(Rows, VerdictTable, testing::ValuesIn(table),
                         [](const auto& row) { return std::string(row.param.text); });

TEST(Verdict, PoliciesAreIndependent) {
    EXPECT_EQ(exit_code(Verdict::no_baseline, {true, false}), 4);
    EXPECT_EQ(exit_code(Verdict::inconclusive, {true, false}), 0);
    EXPECT_EQ(outcome_of(Verdict::inconclusive, {false, true}), Outcome::failure);
    EXPECT_EQ(outcome_of(Verdict::no_baseline, {false, true}), Outcome::skipped);
}

TEST(Verdict, EachDoubtHasItsPolicy) {
    Policy policy;
    const auto code = [&](Doubt doubt) {
        CaseVerdict verdict;
        verdict.verdict = Verdict::inconclusive;
        verdict.doubt = doubt;
        return exit_code(verdict, policy);
    };
    EXPECT_EQ(code(Doubt::not_shown), 0);
    EXPECT_EQ(code(Doubt::unclear), 0);
    EXPECT_EQ(code(Doubt::other_work), 4) << "whatever the policy says";
    policy.not_shown_fails = true;
    EXPECT_EQ(code(Doubt::not_shown), 4);
    for (const Doubt doubt : {Doubt::unclear, Doubt::baseline_disagrees, Doubt::clock_hides,
                              Doubt::nothing_launched_changed, Doubt::too_good}) {
        EXPECT_EQ(code(doubt), 4) << to_text(doubt) << ": nor is it shown";
    }
    for (const Doubt doubt : {Doubt::none, Doubt::clock, Doubt::nothing_changed}) {
        EXPECT_EQ(code(doubt), 0) << to_text(doubt) << ": the change under review is not the cause";
    }
    EXPECT_EQ(code(Doubt::unaccepted), 0) << "it is faster";
    policy.improved_fails = true;
    EXPECT_EQ(code(Doubt::unaccepted), 4);
    policy.not_shown_fails = false;
    EXPECT_EQ(code(Doubt::unaccepted), 4);
    policy.improved_fails = false;
    policy.inconclusive_fails = true;
    EXPECT_EQ(code(Doubt::not_shown), 0);
    for (const Doubt doubt :
         {Doubt::none, Doubt::unclear, Doubt::baseline_disagrees, Doubt::clock, Doubt::clock_hides,
          Doubt::nothing_changed, Doubt::nothing_launched_changed, Doubt::too_good}) {
        EXPECT_EQ(code(doubt), 4) << to_text(doubt);
    }
}

TEST(Verdict, ACaseFailsForAnyOfItsMetricsThatThePolicyFails) {
    Policy policy;
    policy.not_shown_fails = true;
    CaseVerdict verdict;
    verdict.verdict = Verdict::inconclusive;
    verdict.doubt = Doubt::clock;  // explains more than the other
    verdict.metrics.resize(2);
    for (MetricVerdict& metric : verdict.metrics) metric.verdict = Verdict::inconclusive;
    verdict.metrics[0].doubt = Doubt::clock;
    verdict.metrics[1].doubt = Doubt::clock;
    EXPECT_EQ(outcome_of(verdict, policy), Outcome::skipped);
    verdict.metrics[1].doubt = Doubt::not_shown;
    EXPECT_EQ(outcome_of(verdict, policy), Outcome::failure);
    EXPECT_EQ(outcome_of(verdict.metrics[0], policy), Outcome::skipped);
    EXPECT_EQ(exit_code(verdict, policy), 4);
    verdict.metrics[1].doubt = Doubt::other_work;
    EXPECT_EQ(exit_code(verdict, Policy{}), 4);
    EXPECT_EQ(outcome_of(verdict.metrics[1], Policy{}), Outcome::failure);
    verdict.verdict = Verdict::pass;
    EXPECT_EQ(exit_code(verdict, policy), 0);
}

TEST(Verdict, SeverityGrowsDownTheTable) {
    for (std::size_t i = 1; i < table.size(); ++i) {
        EXPECT_LT(severity(table[i - 1].verdict), severity(table[i].verdict));
    }
}

TEST(Verdict, AFailureOutlivesEveryOtherOutcomeOfItsCase) {
    // The worst verdict stands for the case, so its exit code must never hide a worse one.
    for (const TableRow& worse : table) {
        for (const TableRow& better : table) {
            if (severity(better.verdict) > severity(worse.verdict)) continue;
            const int both = combine_exit_codes(exit_code(better.verdict, strict),
                                                exit_code(worse.verdict, strict));
            EXPECT_EQ(both, exit_code(worse.verdict, strict)) << better.text << ' ' << worse.text;
        }
    }
}

TEST(ExitCode, FollowsThePrecedence) {
    const std::vector<int> strongest_first = {130, 2, 1, 3, 4, 0};
    for (std::size_t strong = 0; strong < strongest_first.size(); ++strong) {
        for (std::size_t weak = strong; weak < strongest_first.size(); ++weak) {
            const int expected = strongest_first[strong];
            EXPECT_EQ(combine_exit_codes(expected, strongest_first[weak]), expected);
            EXPECT_EQ(combine_exit_codes(strongest_first[weak], expected), expected);
        }
    }
}

TEST(IsWorse, HoldsForRegressedAndWarnedAlone) {
    for (const TableRow& row : table) {
        EXPECT_EQ(is_worse(row.verdict), row.verdict == Verdict::regressed) << row.text;
    }
    EXPECT_TRUE(is_worse(Verdict::warned));
}

TEST(FindCase, NeedsSuiteAndId) {
    VerdictDocument document;
    document.suites.resize(2);
    document.suites[0].name = "a";
    document.suites[1].name = "b";
    for (SuiteVerdict& suite : document.suites) suite.cases.emplace_back().id = "w/" + suite.name;
    EXPECT_EQ(find_case(document, "b", "w/b"), &document.suites[1].cases[0]);
    EXPECT_EQ(find_case(document, "b", "w/a"), nullptr);
    EXPECT_EQ(find_case(document, "c", "w/a"), nullptr);
}

TEST(CountVerdicts, CountsCasesOverAllSuites) {
    VerdictDocument document;
    EXPECT_TRUE(count_verdicts(document).empty());
    document.suites.resize(2);
    document.suites[0].cases.resize(3);
    document.suites[0].cases[1].verdict = Verdict::regressed;
    document.suites[1].cases.resize(1);
    document.suites[1].cases[0].verdict = Verdict::regressed;
    EXPECT_EQ(count_verdicts(document),
              (std::map<Verdict, std::int64_t>{{Verdict::pass, 2}, {Verdict::regressed, 2}}));
}

}  // namespace
}  // namespace perfgate::model

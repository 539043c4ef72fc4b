// SPDX-License-Identifier: Apache-2.0
// The sentence at the top, and the groups below it.
#include "explain/explain.hpp"

#include <gtest/gtest.h>

namespace perfgate::explain {
namespace {

using model::CaseVerdict;
using model::Effect;
using model::Verdict;

/// Cases of one suite, each of a kernel.
class Suite {
  public:
    Suite() {
        run_.suites.emplace_back();
        document_.suites.emplace_back().name = "s";
    }

    CaseVerdict& add(Verdict verdict, const std::string& kernel = "k") {
        model::CaseResult& result = run_.suites[0].cases.emplace_back();
        result.kernels.emplace_back().name = kernel;
        CaseVerdict& made = document_.suites[0].cases.emplace_back();
        made.id = "case" + std::to_string(run_.suites[0].cases.size());
        made.verdict = verdict;
        made.reason = "a reason";
        return made;
    }

    /// One metric decides it.
    CaseVerdict& add(Verdict verdict, const std::string& kernel, const std::string& metric,
                     const std::string& unit, double before, double after) {
        CaseVerdict& made = add(verdict, kernel);
        model::MetricVerdict& judged = made.metrics.emplace_back();
        judged.metric = metric;
        judged.unit = unit;
        judged.verdict = verdict;
        judged.baseline = before;
        judged.measured = after;
        if (before != 0) judged.change = (after - before) / before;
        return made;
    }

    CaseVerdict& slower(const std::string& kernel, double after, const std::string& brief) {
        CaseVerdict& made = add(Verdict::regressed, kernel, "gpu_time", "ns", 1000, after);
        made.why = {{brief.substr(0, brief.find(' ')), brief + " …", {}, brief}};
        return made;
    }

    std::string sentence() {
        group_cases(run_, document_);
        write_headlines(document_);
        return document_.summary;
    }

    model::VerdictDocument& document() { return document_; }
    const std::vector<model::CaseGroup>& groups() const { return document_.suites[0].groups; }

  private:
    model::Run run_;
    model::VerdictDocument document_;
};

TEST(Headline, SaysWhatUsersFeelFirstAndWhy) {
    Suite suite;
    for (const double after : {1100.0, 1278.0, 1050.0}) {
        suite.slower("void softmax_online_block<float>(int)", after,
                     "registers (38 → 102), so that fewer warps fit");
    }
    for (const double after : {1006.0, 1029.0}) {
        suite.add(Verdict::regressed, "k" + std::to_string(after), "instructions", "count", 1000,
                  after);
    }
    EXPECT_EQ(suite.sentence(),
              "3 cases slower by up to 27.8 %: registers (38 → 102), so that fewer warps fit, in "
              "softmax_online_block; 2 more execute 0.6 to 2.9 % more instructions.");
    ASSERT_EQ(suite.groups().size(), 3U) << "counters of two kernels";
    EXPECT_EQ(suite.groups()[0].effect, Effect::slower);
    EXPECT_EQ(suite.groups()[0].cases, (std::vector<std::int64_t>{1, 0, 2})) << "worst first";
    EXPECT_EQ(suite.groups()[1].effect, Effect::counter);
    EXPECT_EQ(suite.groups()[1].sentence, "instructions +2.9 %, in k1029.000000");
}

TEST(Headline, NamesTheWorstCauseAndCountsTheOthers) {
    Suite suite;
    suite.slower("a", 1100, "spills (1 → 2)");
    suite.slower("b", 1500, "loads (4 → 8)");
    suite.slower("b", 1200, "spills (1 → 2)");
    EXPECT_EQ(suite.sentence(),
              "3 cases slower by up to 50.0 %: loads (4 → 8), in b, and 2 other causes.");
}

TEST(Headline, PutsWrongResultsFirstAndImprovementsLast) {
    Suite suite;
    suite.add(Verdict::improved, "k", "gpu_time", "ns", 1000, 900);
    suite.add(Verdict::no_baseline);
    suite.slower("k", 1100, "spills (1 → 2)");
    suite.add(Verdict::missing);
    suite.add(Verdict::incorrect);
    EXPECT_EQ(suite.sentence(),
              "1 case computes a wrong result; 1 more slower by 10.0 %: spills (1 → 2), in k; 1 "
              "more is missing; 1 more has no baseline; 1 more better by 10.0 %.");
}

TEST(Headline, DoesNotCountWhatStandsForTheCasesOfABenchmarkBesideThese) {
    Suite suite;
    const auto failed = [&](const std::string& id) {
        CaseVerdict& made = suite.add(Verdict::error);
        made.workload = id.substr(0, id.find('/'));
        made.id = id;
    };
    failed("b/*");
    EXPECT_EQ(suite.sentence().find("1 case failed to run"), 0U) << suite.sentence();
    failed("b/a");
    failed("b/c");
    EXPECT_EQ(suite.sentence().find("2 cases failed to run"), 0U) << suite.sentence();
    failed("other/*");
    EXPECT_EQ(suite.sentence().find("3 cases failed to run"), 0U) << suite.sentence();
}

TEST(Headline, SharesChangeByPointsAndWarningsAreNamed) {
    Suite suite;
    suite.add(Verdict::warned, "k", "idle_share", "%", 10, 17.5);
    EXPECT_EQ(suite.sentence(), "1 case draws a warning (has 7.5 points more idle_share).");
    EXPECT_EQ(suite.groups()[0].sentence, "idle_share +7.5 points, in k");
}

TEST(Headline, OfARunWithoutFindingsCountsWhatPassed) {
    Suite suite;
    suite.add(Verdict::pass);
    suite.add(Verdict::pass);
    suite.add(Verdict::skipped);
    CaseVerdict& doubted = suite.add(Verdict::inconclusive);
    doubted.doubt = model::Doubt::not_shown;
    EXPECT_EQ(suite.sentence(),
              "2 cases passed; 1 is not shown to be within its tolerance; 1 skipped.");
    EXPECT_TRUE(suite.groups().empty());
    suite.document().policy.not_shown_fails = true;
    EXPECT_EQ(suite.sentence(), "1 case is not shown to be within its tolerance.")
        << "where the policy fails it";
    suite.add(Verdict::inconclusive).doubt = model::Doubt::unclear;
    EXPECT_EQ(suite.sentence(), "2 cases are inconclusive (1 not shown).");
}

TEST(Headline, SaysWhatWasNotDone) {
    Suite suite;
    suite.add(Verdict::skipped);
    suite.document().exit_code = 2;
    EXPECT_EQ(suite.sentence(), "Nothing was measured: 1 case skipped.");
    suite.document().exit_code = 130;
    suite.document().interrupted = true;
    EXPECT_EQ(suite.sentence(), "Interrupted: 1 case skipped.");
}

TEST(Groups, OfDoubtfulCasesSayTheDoubtAlthoughTheCauseIsUnknown) {
    Suite suite;
    for (const double after : {990.0, 1010.0}) {
        CaseVerdict& made = suite.add(Verdict::inconclusive, "k" + std::to_string(after),
                                      "gpu_span", "ns", 1000, after);
        made.doubt = model::Doubt::slow_processes;
        made.metrics[0].sentence = "1 of 13 processes is slower";
        made.why = {{"unexplained", "unexplained: …", {}, "unexplained: no counter moved with it"}};
    }
    suite.sentence();
    ASSERT_EQ(suite.groups().size(), 1U);
    EXPECT_EQ(suite.groups()[0].effect, Effect::unclear);
    EXPECT_EQ(suite.groups()[0].sentence, "1 of 13 processes is slower");
    EXPECT_EQ(suite.groups()[0].cases.size(), 2U);
}

TEST(Groups, ReasonsInWordsAreSharedAndNoCaseIsLost) {
    Suite suite;
    for (int i = 0; i < 3; ++i) suite.add(Verdict::error);
    suite.add(Verdict::error).reason = "another";
    suite.sentence();
    ASSERT_EQ(suite.groups().size(), 2U);
    EXPECT_EQ(suite.groups()[0].cases.size(), 3U);
    EXPECT_EQ(suite.groups()[0].sentence, "a reason");
    EXPECT_EQ(suite.groups()[1].sentence, "another");
}

}  // namespace
}  // namespace perfgate::explain

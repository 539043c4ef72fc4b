// SPDX-License-Identifier: Apache-2.0
#include "report/joined.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report_fixture.hpp"

namespace perfgate::report {
namespace {

TEST(Joined, EveryVerdictFindsItsResult) {
    const Documents documents = every_verdict();
    for (const JoinedSuite& suite : join(documents.verdict, documents.run)) {
        for (const JoinedCase& joined : suite.cases) {
            if (joined.verdict->verdict == model::Verdict::missing) {
                EXPECT_EQ(joined.result, nullptr);
            } else {
                ASSERT_NE(joined.result, nullptr) << joined.verdict->id;
                EXPECT_EQ(model::case_id(joined.result->spec), joined.verdict->id);
            }
        }
    }
}

TEST(Joined, TheOrderOfCasesAndSuitesDoesNotMatter) {
    Documents documents = every_verdict();
    std::reverse(documents.run.suites.begin(), documents.run.suites.end());
    for (model::SuiteResult& suite : documents.run.suites) {
        std::reverse(suite.cases.begin(), suite.cases.end());
    }
    std::size_t found = 0;
    for (const JoinedSuite& suite : join(documents.verdict, documents.run)) {
        for (const JoinedCase& joined : suite.cases) {
            if (joined.result == nullptr) continue;
            EXPECT_EQ(model::case_id(joined.result->spec), joined.verdict->id);
            ++found;
        }
    }
    EXPECT_EQ(found, 14U);
}

TEST(Joined, SuitesOfOneNameKeepTheirOwnResults) {
    Documents documents = first_run();
    documents.run.suites.push_back(documents.run.suites[0]);
    documents.verdict.suites.push_back(documents.verdict.suites[0]);
    const std::vector<JoinedSuite> suites = join(documents.verdict, documents.run);
    EXPECT_EQ(suites[0].cases[0].result, &documents.run.suites[0].cases[0]);
    EXPECT_EQ(suites[1].cases[0].result, &documents.run.suites[1].cases[0]);
}

TEST(Joined, MetricRowsAreTheUnionOfBothSides) {
    model::CaseResult result;
    result.metrics["measured"] = {"ns", 2.5, "activity/cold", {}};
    result.metrics["both"] = {"bytes", 3.5, "counter/cold", {}};
    result.not_collected = {{"lost", "no permission"}};
    model::CaseVerdict verdict;
    verdict.metrics.resize(2);
    verdict.metrics[0].metric = "both";
    verdict.metrics[0].baseline = 3.0;
    verdict.metrics[1].metric = "baseline_only";
    verdict.metrics[1].unit = "Hz";

    const std::vector<MetricRow> rows = metric_rows({&verdict, &result});
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[0].metric, "baseline_only");
    EXPECT_EQ(rows[0].unit, "Hz");
    EXPECT_EQ(rows[0].measured(), std::nullopt);
    EXPECT_EQ(rows[1].metric, "both");
    EXPECT_EQ(rows[1].measured(), 3.5);
    EXPECT_EQ(rows[1].verdict, &verdict.metrics[0]);
    EXPECT_EQ(rows[2].metric, "lost");
    EXPECT_EQ(rows[2].not_collected, &result.not_collected[0]);
    EXPECT_EQ(rows[3].metric, "measured");
    EXPECT_EQ(rows[3].verdict, nullptr);
}

TEST(Joined, AMetricToldTwiceIsOneRow) {
    model::CaseResult result;
    result.metrics["b"] = {"", 2.5, "activity/cold", {}};
    result.not_collected = {{"c", "first"}, {"a", "only"}, {"c", "second"}};
    model::CaseVerdict verdict;
    verdict.metrics.resize(3);
    verdict.metrics[0].metric = "c";
    verdict.metrics[1].metric = verdict.metrics[2].metric = "b";
    verdict.metrics[1].unit = "ns";
    verdict.metrics[2].unit = "bytes";

    const std::vector<MetricRow> rows = metric_rows({&verdict, &result});
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].metric, "a");
    EXPECT_EQ(rows[0].not_collected, &result.not_collected[1]);
    EXPECT_EQ(rows[1].metric, "b");
    EXPECT_EQ(rows[1].unit, "ns");
    EXPECT_EQ(rows[1].verdict, &verdict.metrics[2]);
    EXPECT_EQ(rows[1].measured(), 2.5);
    EXPECT_EQ(rows[2].metric, "c");
    EXPECT_EQ(rows[2].verdict, &verdict.metrics[0]);
    EXPECT_EQ(rows[2].not_collected, &result.not_collected[2]);
}

}  // namespace
}  // namespace perfgate::report

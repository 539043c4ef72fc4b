// SPDX-License-Identifier: Apache-2.0
// Every format against its golden files. PERFGATE_UPDATE_GOLDEN=1 writes them anew: read the diff
// before committing it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "report/explanations.hpp"
#include "report/formats.hpp"
#include "report/html.hpp"
#include "report_fixture.hpp"

namespace perfgate::report {
namespace {

std::string written(std::string_view format, const Documents& documents,
                    const Options& options = {}) {
    return find_format(format)->write(documents.verdict, documents.run, options);
}

void expect_golden(const std::string& text, const std::string& name) {
    const std::string path = std::string(PERFGATE_TEST_DATA_DIR) + "/golden/" + name;
    if (std::getenv("PERFGATE_UPDATE_GOLDEN") != nullptr) {
        std::ofstream(path, std::ios::binary) << text;
    }
    std::ifstream file(path, std::ios::binary);
    ASSERT_TRUE(file) << path << " is missing; PERFGATE_UPDATE_GOLDEN=1 writes it";
    std::stringstream golden;
    golden << file.rdbuf();
    EXPECT_EQ(text, golden.str()) << path;
}

TEST(ReportGolden, ConsoleOfEveryVerdict) {
    expect_golden(written("console", every_verdict()), "report.console.txt");
}

TEST(ReportGolden, ConsoleInColourOnANarrowTerminal) {
    Options options;
    options.color = true;
    options.width = 80;
    expect_golden(written("console", every_verdict(), options), "report.console.narrow.txt");
}

TEST(ReportGolden, ConsoleListsAllWhenAsked) {
    Options options;
    options.list_all = true;
    expect_golden(written("console", every_verdict(), options), "report.console.all.txt");
}

TEST(ReportGolden, ConsoleOfAFirstRunShowsNumbers) {
    expect_golden(written("console", first_run()), "first_run.console.txt");
}

TEST(ReportGolden, JunitForGithub) {
    expect_golden(written("junit", every_verdict()), "report.github.junit.xml");
}

TEST(ReportGolden, JunitStrict) {
    Options options;
    options.junit_profile = JunitProfile::strict;
    expect_golden(written("junit", every_verdict(), options), "report.strict.junit.xml");
}

TEST(ReportGolden, JunitWherePolicyFailsWhatHasNoBaseline) {
    Documents documents = first_run();
    documents.verdict.policy.no_baseline_fails = true;
    documents.verdict.exit_code = 4;
    expect_golden(written("junit", documents), "first_run.github.junit.xml");
}

TEST(ReportGolden, Markdown) {
    expect_golden(written("markdown", every_verdict()), "report.markdown.md");
}

TEST(ReportGolden, MarkdownOfAFirstRun) {
    expect_golden(written("markdown", first_run()), "first_run.markdown.md");
}

TEST(ReportGolden, Annotations) {
    expect_golden(written("annotations", every_verdict()), "report.annotations.txt");
}

TEST(ReportGolden, AnnotationsOfAFirstRun) {
    expect_golden(written("annotations", first_run()), "first_run.annotations.txt");
}

TEST(ReportGolden, Explanations) {
    Documents documents = every_verdict();
    expect_golden(write_explanations(documents.verdict, {}), "report.explanations.txt");
}

TEST(ReportGolden, Csv) {
    expect_golden(written("csv", every_verdict()), "report.csv");
}

TEST(ReportGolden, ForGithubActionBenchmark) {
    Documents documents = every_verdict();
    for (const model::SuiteVerdict& suite : documents.verdict.suites) {
        for (const model::CaseVerdict& verdict : suite.cases) {
            for (const model::MetricVerdict& metric : verdict.metrics) {
                documents.run.metric_definitions[metric.metric].direction =
                    metric.unit == "%" ? model::Direction::higher : model::Direction::lower;
            }
        }
    }
    expect_golden(written("smaller-is-better", documents), "report.smaller.json");
    expect_golden(written("bigger-is-better", documents), "report.bigger.json");
}

/// What the page shows, on more than its one line.
std::string readable(const std::string& data) {
    return nlohmann::ordered_json::parse(data).dump(1, ' ') + '\n';
}

TEST(ReportGolden, DataOfThePage) {
    const Documents documents = every_verdict();
    expect_golden(readable(html_data(documents.verdict, documents.run)), "report.html.json");
}

TEST(ReportGolden, DataOfThePageOfAFirstRun) {
    const Documents documents = first_run();
    expect_golden(readable(html_data(documents.verdict, documents.run)), "first_run.html.json");
}

TEST(ReportGolden, Json) {
    expect_golden(written("json", every_verdict()), "report.verdict.json");
}

TEST(ReportGolden, JsonOfAFirstRun) {
    Documents documents = first_run();
    documents.verdict.policy.no_baseline_fails = true;
    documents.verdict.exit_code = 4;
    expect_golden(written("json", documents), "first_run.verdict.json");
}

}  // namespace
}  // namespace perfgate::report

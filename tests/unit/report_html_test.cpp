// SPDX-License-Identifier: Apache-2.0
#include "report/html.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "report/code_page.hpp"
#include "report/formats.hpp"
#include "report_fixture.hpp"
#include "report_hostile.hpp"
#include "util/error.hpp"

namespace perfgate::report {
namespace {

using nlohmann::json;

json data_of(const Documents& documents) {
    return json::parse(html_data(documents.verdict, documents.run));
}

std::string page_of(const Documents& documents) {
    return find_format("html")->write(documents.verdict, documents.run, {});
}

/// One measured case and its verdict.
Documents one_case() {
    Documents documents = many_cases(1, 2);
    documents.run.metric_definitions["gpu_time"].metric_class = model::MetricClass::timing;
    return documents;
}

model::CaseVerdict& verdict_in(Documents& documents) {
    return documents.verdict.suites[0].cases[0];
}

model::CaseResult& result_in(Documents& documents) {
    return documents.run.suites[0].cases[0];
}

TEST(ReportHtml, ThePageHoldsTheDataOnce) {
    if (!has_html_page()) GTEST_SKIP() << no_html_page;
    const Documents documents = every_verdict();
    const std::string page = page_of(documents);
    const std::string data = html_data(documents.verdict, documents.run);
    const std::size_t place = page.find(data);
    ASSERT_NE(place, std::string::npos);
    EXPECT_EQ(page.find(data, place + 1), std::string::npos);
    EXPECT_EQ(page.find("@PERFGATE_DATA@"), std::string::npos);
    EXPECT_EQ(page.compare(place + data.size(), 9, "</script>"), 0);
}

TEST(ReportHtml, MachineCodeIsShownOfACaseThatItExplains) {
    Documents documents = one_case();
    CodeViews code;
    page::CodeKernel kernel;
    kernel.name = "blend</script>";
    kernel.compared = true;
    kernel.lines.push_back({"blend.cu:5", {}, "x = y;", 1, 4, 10, 60, {{"waiting", 5, 50}}});
    code.cases[{documents.verdict.suites[0].name, verdict_in(documents).id}] = {kernel};
    Options options;
    options.code = &code;
    const auto shown = [&] {
        return json::parse(html_data(documents.verdict, documents.run, options))["cases"][0];
    };
    EXPECT_FALSE(shown().contains("machine_code"));
    verdict_in(documents).why = {{"machine_code", "machine code: LDG.E 0 → 4"}};
    EXPECT_EQ(shown()["machine_code"][0]["lines"][0]["stalls"][0]["after"], 50);
    EXPECT_EQ(html_data(documents.verdict, documents.run, options).find("</script"),
              std::string::npos);
}

TEST(ReportHtml, ThePageLoadsNothing) {
    if (!has_html_page()) GTEST_SKIP() << no_html_page;
    const std::string page(report_page());
    EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
    EXPECT_NE(page.find("script-src 'sha256-"), std::string::npos);
    for (const char* loading : {"<script src", "<link rel=\"stylesheet\"", "@import", "<img"}) {
        EXPECT_EQ(page.find(loading), std::string::npos) << loading;
    }
}

TEST(ReportHtml, ThePageOfAProfileHoldsItsDataAndLoadsNothing) {
    if (!has_html_page()) GTEST_SKIP() << no_html_page;
    const std::string page = fill_page(profile_page(), R"({"texts":["</script><!-- &"]})");
    EXPECT_NE(page.find(R"({"texts":["\u003c/script\u003e\u003c!--\u2028\u0026"]}</script>)"),
              std::string::npos);
    EXPECT_EQ(page.find("@PERFGATE_DATA@"), std::string::npos);
    EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
    EXPECT_NE(page.find("script-src 'sha256-"), std::string::npos);
    for (const char* loading : {"<script src", "<link rel=\"stylesheet\"", "@import", "<img"}) {
        EXPECT_EQ(page.find(loading), std::string::npos) << loading;
    }
}

TEST(ReportHtml, AnEmptyPageIsRefused) {
    EXPECT_THROW(fill_page("", "{}"), util::InputError);
}

TEST(ReportHtml, ABuildWithoutThePageSaysWhatItNeeds) {
    if (has_html_page()) GTEST_SKIP() << "this build has the page";
    try {
        page_of(every_verdict());
        FAIL() << "there is no page to write";
    } catch (const util::InputError& error) {
        EXPECT_STREQ(error.what(), no_html_page);
    }
}

TEST(ReportHtml, NoTextCanEndTheElementThatHoldsIt) {
    std::vector<std::string> texts = hostile_texts();
    texts.emplace_back("</script><script>x</script>");
    texts.emplace_back("<!--<script>");
    texts.emplace_back("line\u2028and\u2029paragraph");
    for (const std::string& text : texts) {
        const Documents documents = hostile(text);
        const std::string data = html_data(documents.verdict, documents.run);
        EXPECT_EQ(data.find_first_of("<>&"), std::string::npos) << text.substr(0, 100);
        EXPECT_EQ(data.find("\u2028"), std::string::npos);
        EXPECT_EQ(data.find("\u2029"), std::string::npos);
        EXPECT_NO_THROW(data_of(documents)) << text.substr(0, 100);
    }
}

TEST(ReportHtml, WhatIsEscapedReadsBackAsItWas) {
    const json data = data_of(hostile("</script> & <b>\"1\" 寸法 🚀</b>"));
    EXPECT_EQ(data["cases"][0]["id"], "</script> & <b>\"1\" 寸法 🚀</b>");
    EXPECT_EQ(data["suites"][0]["name"], "</script> & <b>\"1\" 寸法 🚀</b>");
}

TEST(ReportHtml, NothingReversesTheWordsAround) {
    const std::string data = html_data(hostile("a\u202eb\u2066c").verdict, {});
    EXPECT_EQ(data.find("\u202e"), std::string::npos);
    EXPECT_EQ(data.find("\u2066"), std::string::npos);
}

TEST(ReportHtml, ReasonsAndExplanationAreTheOnesOfTheOtherReports) {
    const json data = data_of(every_verdict());
    for (const json& of : data["cases"]) {
        if (of["id"] != "gemm/tiled[dtype=f32,k=2048,m=2048,n=2048]") continue;
        EXPECT_EQ(of["reasons"][0],
                  "gpu_time regressed: 400.0 µs → 444.4 µs (+11.1 %), tolerance 3 %");
        EXPECT_EQ(of["reasons"].size(), 2);
        EXPECT_EQ(of["why"][0].get<std::string>().substr(0, 15), "more registers,");
        return;
    }
    FAIL() << "the case is not there";
}

TEST(ReportHtml, TheFirstScreenSaysWhatIsComparedAndWhatToDo) {
    Documents documents = every_verdict();
    documents.run.pull_request = "https://h.example/o/r/pull/12";
    for (model::CaseVerdict& verdict : documents.verdict.suites[0].cases) {
        verdict.baseline_revision = "4f2a9c1";
        verdict.baseline_recorded_at = "2026-11-20T10:00:00Z";
    }
    Options options;
    options.commands.run_file = "out/run.json";
    const json data = json::parse(html_data(documents.verdict, documents.run, options));
    std::map<std::string, std::string> facts;
    for (const json& fact : data["facts"]) facts[fact[0]] = fact[1];
    EXPECT_EQ(facts["pull request"], "https://h.example/o/r/pull/12");
    EXPECT_EQ(facts["revision"], "4f2a9c1");
    EXPECT_EQ(facts["compared with"], "other machine code of the same commit, of 2026-11-20");
    ASSERT_EQ(data["commands"].size(), 4U);
    EXPECT_EQ(data["commands"][0]["purpose"], "run again");
    EXPECT_EQ(data["commands"][1]["purpose"], "decide by ab");
    EXPECT_TRUE(data["commands"][3]["line"].get<std::string>().starts_with(
        "perfgate baseline accept out/run.json --filter "));
}

TEST(ReportHtml, ALongCommandIsWhole) {
    Documents documents = many_cases(60, 1);
    for (model::CaseVerdict& verdict : documents.verdict.suites[0].cases) {
        verdict.verdict = verdict.metrics[0].verdict = model::Verdict::regressed;
        verdict.id += std::string(100, 'x');
    }
    Options options;
    options.commands.run_file = "run.json";
    const json data = json::parse(html_data(documents.verdict, documents.run, options));
    const auto line = data["commands"].back()["line"].get<std::string>();
    EXPECT_GT(line.size(), 6000U);  // more than other texts may have
    EXPECT_TRUE(line.ends_with("--reason 'WHY'"));
}

TEST(ReportHtml, ANoteOfSeveralSuitesIsThereOnce) {
    Documents documents = every_verdict();
    documents.verdict.suites[1].notes = documents.verdict.suites[0].notes;
    const std::string note = documents.verdict.suites[0].notes.at(0);
    EXPECT_EQ(data_of(documents)["notes"], json::parse(R"([{"text": ")" + note + "\"}]"));
    documents.verdict.suites[1].notes = {"another"};
    const json data = data_of(documents);
    EXPECT_EQ(data["notes"][0]["suites"], json({"gemm"}));
    EXPECT_EQ(data["notes"][1]["suites"], json({"transpose"}));
}

TEST(ReportHtml, AValueIsTheOneThatWasJudged) {
    Documents documents = one_case();
    verdict_in(documents).metrics[0].baseline = 7;
    verdict_in(documents).metrics[0].measured = 8;
    const json data = data_of(documents);
    const json& values = data["cases"][0]["values"];
    ASSERT_EQ(values.size(), 2);
    const json& value = values[0];
    EXPECT_EQ(data["metrics"][value[0].get<std::size_t>()]["name"], "gpu_time");
    EXPECT_EQ(value[1], 7);
    EXPECT_EQ(value[2], 8);
    EXPECT_EQ(value[3], "7.000 ns");
    EXPECT_EQ(value[4], "8.000 ns");
    EXPECT_EQ(value[5], "+14.3 %");
    EXPECT_EQ(data["verdicts"][value[6].get<std::size_t>()]["name"], "pass");
    EXPECT_EQ(data["texts"][value[7].get<std::size_t>()], "3 %");
}

TEST(ReportHtml, AValueThatIsNotShownHasAVerdictOfItsOwn) {
    Documents documents = one_case();
    verdict_in(documents).metrics[0].verdict = model::Verdict::inconclusive;
    verdict_in(documents).metrics[0].doubt = model::Doubt::not_shown;
    const json data = data_of(documents);
    const json& verdict = data["cases"][0]["values"][0][6];
    EXPECT_EQ(data["verdicts"].at(verdict.get<std::size_t>())["name"], "not_shown");
}

TEST(ReportHtml, WhatNobodyJudgedHasBothSidesAndNoVerdict) {
    Documents documents = one_case();
    const std::string other = verdict_in(documents).metrics[1].metric;
    verdict_in(documents).metrics.pop_back();
    verdict_in(documents).baseline_values[other] = 5;
    const json data = data_of(documents);
    const json& values = data["cases"][0]["values"];
    ASSERT_EQ(values.size(), 2);
    EXPECT_EQ(values[1][1], 5);
    EXPECT_EQ(values[1].size(), 6) << "no verdict and nothing behind it";
}

TEST(ReportHtml, ANumberThatIsNoneIsNull) {
    Documents documents = one_case();
    verdict_in(documents).metrics[0].baseline = std::nullopt;
    const json data = data_of(documents);
    EXPECT_TRUE(data["cases"][0]["values"][0][1].is_null());
}

TEST(ReportHtml, BatchesAreThoseOfTheJudgement) {
    Documents documents = one_case();
    verdict_in(documents).metrics[0].baseline_batches = {1, 2, 3};
    verdict_in(documents).metrics[0].measured_batches = {4, 5};
    const json data = data_of(documents);
    const json& spread = data["cases"][0]["spreads"][0];
    EXPECT_EQ(spread[1], json({1, 2, 3}));
    EXPECT_EQ(spread[2], json({4, 5}));
}

TEST(ReportHtml, NumbersHaveTheDigitsThatAChartShows) {
    Documents documents = one_case();
    model::MetricVerdict& verdict = verdict_in(documents).metrics[0];
    verdict.baseline = 133087.99266815186;
    verdict.measured = 0.40839727178062013;
    verdict.baseline_batches = {123456789, 12345678.9, -1e-300 / 3, 0, -133087.99266815186};
    const json data = data_of(documents);
    const json& made = data["cases"][0];
    EXPECT_EQ(made["values"][0][1], 133088);
    EXPECT_EQ(made["values"][0][2], 0.4083973);
    EXPECT_EQ(made["spreads"][0][1], json({123456789, 12345679, -3.333333e-301, 0, -133088}));
}

TEST(ReportHtml, OfManySamplesFewAreShownFromTheLeastToTheLargest) {
    Documents documents = one_case();
    std::vector<double> samples(1001);
    std::iota(samples.rbegin(), samples.rend(), 0.0);
    result_in(documents).metrics["gpu_time"].batches = {{0, "b", 1, samples}};
    const auto shown = [&] { return data_of(documents)["cases"][0]["spreads"][0][3][0]; };
    EXPECT_EQ(shown()[2], 1001) << "how many there were";
    EXPECT_EQ(shown()[3], json({0, 250, 500, 750, 1000})) << "of a case that passes: quartiles";
    verdict_in(documents).verdict = model::Verdict::regressed;
    EXPECT_EQ(shown()[3].size(), 33) << "of one that somebody looks at";
    EXPECT_EQ(shown()[3].front(), 0);
    EXPECT_EQ(shown()[3].back(), 1000);
}

TEST(ReportHtml, WhyABatchDoesNotCountIsTold) {
    Documents documents = one_case();
    result_in(documents).metrics["gpu_time"].batches = {{0, "b", 1, {1, 2}, 0, "power brake"}};
    const json data = data_of(documents);
    const json& batch = data["cases"][0]["spreads"][0][3][0];
    EXPECT_EQ(data["texts"][batch[5].get<std::size_t>()], "power brake");
}

TEST(ReportHtml, KernelsOfAProgramHaveTheirLaunchesAndTime) {
    Documents documents = one_case();
    model::Kernel kernel;
    kernel.name = "gemm";
    result_in(documents).kernels = {kernel};
    EXPECT_EQ(data_of(documents)["cases"][0]["kernels"][0].size(), 7U);
    kernel.launches = 2.5;
    kernel.time_ns = 1000;
    result_in(documents).kernels = {kernel};
    const json shown = data_of(documents)["cases"][0]["kernels"][0];
    ASSERT_EQ(shown.size(), 18U);
    EXPECT_EQ(shown[16], 2.5);
    EXPECT_EQ(shown[17], 1000);
}

TEST(ReportHtml, ThePolicySaysWhatAVerdictIsWorth) {
    Documents documents = first_run();
    const auto outcome = [&] {
        const json data = data_of(documents);
        for (const json& verdict : data["verdicts"]) {
            if (verdict["name"] == "no_baseline") return verdict["outcome"].get<std::string>();
        }
        return std::string();
    };
    EXPECT_EQ(outcome(), "skipped");
    documents.verdict.policy.no_baseline_fails = true;
    EXPECT_EQ(outcome(), "failure");
}

}  // namespace
}  // namespace perfgate::report

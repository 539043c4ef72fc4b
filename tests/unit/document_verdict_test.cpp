// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "awkward_values.hpp"
#include "document/run.hpp"
#include "model/verdict.hpp"
#include "util/error.hpp"

namespace perfgate::document {
namespace document_verdict_test {

using namespace model;

VerdictDocument awkward_document(unsigned seed) {
    test::AwkwardValues any(seed);
    const auto verdict = [&] { return static_cast<Verdict>(any.below(12)); };
    VerdictDocument document;
    document.tool_version = any.text();
    document.started_at = any.text();
    document.wall_s = any.positive();
    document.interrupted = any.coin();
    document.backend = any.text();
    document.environment = any.environment();
    const auto on_change = [&] { return static_cast<OnChange>(any.below(3)); };
    document.policy = {any.coin(),
                       any.coin(),
                       0.001 * static_cast<double>(1 + any.below(900)),
                       static_cast<std::int64_t>(any.below(11)),
                       static_cast<std::int64_t>(any.below(400)),
                       {on_change(), on_change(), on_change(), on_change(), on_change()}};
    document.exit_code = static_cast<int>(any.below(131));
    document.suites = any.list([&] {
        return SuiteVerdict{
            any.text(),
            any.text(),
            any.text(),
            any.texts(),
            any.list([&] {
                return CaseVerdict{any.text(),
                                   any.text(),
                                   {any.text(), any.count()},
                                   verdict(),
                                   any.text(),
                                   any.text(),
                                   any.positive(),
                                   any.list([&] {
                                       return MetricVerdict{any.text(),
                                                            any.text(),
                                                            verdict(),
                                                            any.maybe_number(),
                                                            any.maybe_number(),
                                                            any.maybe_number(),
                                                            any.text(),
                                                            any.text(),
                                                            any.maybe_number(),
                                                            any.maybe_number(),
                                                            any.maybe_number(),
                                                            any.list([&] { return any.number(); }),
                                                            any.list([&] { return any.number(); })};
                                   }),
                                   any.texts(),
                                   {},
                                   {{any.text(), any.number()}, {"m", any.number()}},
                                   {{any.text(), any.text()}},
                                   any.list([&] {
                                       model::Kernel kernel;
                                       kernel.name = any.text();
                                       kernel.launches = any.positive();
                                       kernel.time_ns = any.positive();
                                       return kernel;
                                   }),
                                   any.list([&] {
                                       return Cause{any.text(), any.text(), any.list([&] {
                                                        return Figure{any.text(), any.text(),
                                                                      any.number(), any.number(),
                                                                      any.text()};
                                                    })};
                                   }),
                                   static_cast<CodeChange>(any.below(4))};
            }),
            any.list([&] {
                return RelationVerdict{any.text(),         any.text(), {any.text(), any.count()},
                                       verdict(),          any.text(), any.maybe_number(),
                                       any.maybe_number(), any.text()};
            })};
    });
    document.verify_only = any.coin();
    for (SuiteVerdict& suite : document.suites) {
        for (CaseVerdict& result : suite.cases) {
            if (any.coin()) {
                result.ceiling =
                    CeilingShare{static_cast<Bound>(any.below(3)), any.text(), any.positive()};
            }
        }
    }
    return document;
}

std::string parse_message(std::string_view json) {
    try {
        parse_verdict(json, "verdict.json");
    } catch (const util::InputError& error) {
        return error.what();
    }
    return "(no error)";
}

TEST(VerdictJson, RoundTripsAwkwardValues) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const VerdictDocument document = awkward_document(seed);
        const std::string text = write_verdict(document);
        const VerdictDocument back = parse_verdict(text, "verdict.json");
        ASSERT_EQ(back, document) << text;
        ASSERT_EQ(write_verdict(back), text);
    }
}

TEST(VerdictJson, LayoutPutsAMetricOnALine) {
    VerdictDocument document;
    document.tool_version = "0.1.0";
    document.backend = "cuda";
    document.exit_code = 1;
    document.suites.resize(1);
    document.suites[0].name = "gemm";
    CaseVerdict& result = document.suites[0].cases.emplace_back();
    result.workload = "gemm";
    result.id = "gemm/tiled";
    result.verdict = Verdict::regressed;
    result.metrics = {{"gpu_time", "ns", Verdict::regressed, 100, 110, 0.1, "3 %", "slower"},
                      {"cycles", "count", Verdict::pass, {}, 5, {}, "", ""}};
    const std::string text = write_verdict(document);
    EXPECT_NE(
        text.find("          \"metrics\": [\n"
                  "            {\"metric\":\"gpu_time\",\"unit\":\"ns\",\"verdict\":\"regressed\","
                  "\"baseline\":100,\"measured\":110,\"change\":0.1,\"tolerance\":\"3 %\","
                  "\"sentence\":\"slower\"},\n"
                  "            {\"metric\":\"cycles\",\"unit\":\"count\",\"verdict\":\"pass\","
                  "\"measured\":5}\n"
                  "          ]\n"),
        std::string::npos)
        << text;
}

TEST(VerdictJson, ADocumentFromBeforeExplanationsHasNone) {
    VerdictDocument document;
    document.suites.resize(1);
    document.suites[0].cases.resize(1);
    const std::string text = write_verdict(document);
    EXPECT_EQ(text.find("why"), std::string::npos);
    EXPECT_EQ(text.find("baseline_values"), std::string::npos);
    EXPECT_EQ(text.find("baseline_details"), std::string::npos);
    EXPECT_EQ(parse_verdict(text, "verdict.json"), document);
}

TEST(VerdictJson, TheMinimumDetectableChangeHasItsOldKeyInOlderVersions) {
    VerdictDocument document;
    document.suites.resize(1);
    document.suites[0].cases.resize(1);
    MetricVerdict metric{"gpu_time", "ns", Verdict::pass, 100, 100, 0, "3 %", "passed"};
    metric.minimum_detectable_change = 0.008;
    document.suites[0].cases[0].metrics = {metric};
    std::string text = write_verdict(document);
    const auto replace = [&](const std::string& from, const std::string& to) {
        ASSERT_NE(text.find(from), std::string::npos) << text;
        text.replace(text.find(from), from.size(), to);
    };
    replace("\"minimum_detectable_change\":0.008", "\"sees\":0.008");
    replace("\"version\": 3", "\"version\": 2");
    EXPECT_EQ(parse_verdict(text, "verdict.json"), document);
}

TEST(VerdictJson, IntervalAndReasonCodeStandWhereThereAreSome) {
    VerdictDocument document;
    document.policy.not_shown_fails = true;
    document.policy.too_good = 5;
    document.policy.complete = true;
    document.suites.resize(1);
    document.suites[0].cases.resize(1);
    model::CaseVerdict& verdict = document.suites[0].cases[0];
    MetricVerdict metric{"gpu_time", "ns", Verdict::inconclusive, 100, 101, 0.01, "3 %", "so"};
    metric.interval = model::ChangeInterval{-0.02, 0.04, 0.95};
    metric.doubt = model::Doubt::not_shown;
    metric.tail = model::TailVerdict{100, 900, 0.06, 0.1};
    verdict.metrics = {metric};
    metric.tail = model::TailVerdict{100, 900, 0.06, 0.1, 101, 850, 901};
    metric.doubt = model::Doubt::slow_tail;
    verdict.metrics.push_back(metric);
    verdict.verdict = Verdict::inconclusive;
    verdict.doubt = model::Doubt::not_shown;
    const std::string text = write_verdict(document);
    EXPECT_NE(text.find(R"("interval":{"low":-0.02,"high":0.04,"level":0.95})"), std::string::npos)
        << text;
    EXPECT_NE(text.find(R"("reason_code":"not_shown")"), std::string::npos);
    EXPECT_NE(text.find(R"("tail":{"baseline":100,"measured":900,"tolerance":0.06,"beyond":0.1})"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find(R"("p95":101,"p99":850,"max":901)"), std::string::npos) << text;
    EXPECT_NE(text.find("not_shown_fails"), std::string::npos);
    EXPECT_EQ(parse_verdict(text, "verdict.json"), document);
}

TEST(VerdictJson, LayoutPutsACauseOnALine) {
    VerdictDocument document;
    document.suites.resize(1);
    document.suites[0].cases.resize(1);
    document.suites[0].cases[0].baseline_values = {{"cycles", 7}, {"occupancy", 0.5}};
    document.suites[0].cases[0].why = {{"spills", "more", {{"spill_sectors", "count", 0, 8}}}};
    const std::string text = write_verdict(document);
    EXPECT_NE(text.find("\n          \"baseline_values\": {\"cycles\":7,\"occupancy\":0.5},\n"
                        "          \"why\": [\n"
                        "            {\"rule\":\"spills\",\"sentence\":\"more\",\"figures\":"
                        "[{\"metric\":\"spill_sectors\",\"unit\":\"count\",\"before\":0,"
                        "\"after\":8}]}\n"),
              std::string::npos)
        << text;
}

TEST(VerdictJson, KeepsWhatValuesConsistOf) {
    VerdictDocument document;
    document.suites.resize(1);
    document.suites[0].cases.resize(1);
    model::CaseVerdict& verdict = document.suites[0].cases[0];
    verdict.baseline_details = {{"api_calls", "cudaMalloc 1"}, {"syncs", ""}};
    verdict.baseline_revision = "4f2a9c1";
    verdict.baseline_recorded_at = "2026-11-20T10:00:00Z";
    verdict.why = {{"api_calls", "more", {{"api_calls", "count", 1, 3, "cudaMalloc 1 → 3"}}}};
    EXPECT_EQ(parse_verdict(write_verdict(document), "verdict.json"), document);
}

TEST(VerdictJson, ChangeThatIsNoNumberIsLeftOut) {
    VerdictDocument document;
    document.suites.resize(1);
    document.suites[0].cases.resize(1);
    document.suites[0].cases[0].metrics.resize(1);
    document.suites[0].cases[0].metrics[0].change = std::numeric_limits<double>::infinity();
    const VerdictDocument back = parse_verdict(write_verdict(document), "verdict.json");
    EXPECT_EQ(back.suites[0].cases[0].metrics[0].change, std::nullopt);
}

TEST(VerdictJson, RefusesWhatIsNoVerdict) {
    EXPECT_EQ(
        parse_message(R"({"schema": "perfgate.verdict", "version": 4})"),
        "verdict.json: schema perfgate.verdict version 4; this perfgate reads versions 1 to 3: "
        "upgrade perfgate");
    std::string text = write_verdict(awkward_document(1));
    const std::size_t at = text.find("\"exit_code\": ");
    text.replace(at, text.find(',', at) - at, "\"exit_code\": 256");
    EXPECT_EQ(parse_message(text), "verdict.json: exit_code: expected an exit code, 0 to 255");
}

}  // namespace document_verdict_test
}  // namespace perfgate::document

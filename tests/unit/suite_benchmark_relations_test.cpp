// SPDX-License-Identifier: Apache-2.0
// Relations between the cases of benchmarks: what is checked before these have run, what once they
// have, and what becomes of them if one fails.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "benchmark/formats.hpp"
#include "suite/benchmark_cases.hpp"
#include "suite/plan.hpp"
#include "suite/suite.hpp"
#include "suite_catalogue.hpp"

namespace perfgate::suite {
namespace {

using Texts = std::vector<std::string>;
using model::ParamValue;

const std::string two_benchmarks =
    "name: s\n"
    "workloads:\n"
    "  - benchmark: [./bench, '{out}']\n"
    "    name: bench\n"
    "    format: google-benchmark\n"
    "    values: {misses: {better: lower}}\n"
    "    tolerances: {real_time: 5%}\n"
    "  - benchmark: [./other, '{out}']\n"
    "    name: other\n"
    "    format: hyperfine\n"
    "    tolerances: {real_time: 5%}\n"
    "  - command: [./train]\n"
    "    name: train\n"
    "    measure: {step: {nvtx: step}}\n"
    "    tolerances: {step.span: 5%}\n"
    "  - workload: gemm\n"
    "    variants: [tiled]\n"
    "    params: {m: 1, n: 1, k: 1}\n"
    "    tolerances: {gpu_time: 3%}\n"
    "expect:\n";
// The first line behind it is 21.

Suite parse(const std::string& expect) {
    return parse_suite(two_benchmarks + expect, "s.yaml", test::workloads());
}

std::string refusal_of(const std::string& expect) {
    return test::refusal([&] { parse(expect); });
}

benchmark::Result result(std::string name, model::Params params = {}) {
    benchmark::Result made;
    made.name = std::move(name);
    made.params = std::move(params);
    return made;
}

ReportedCases of(std::vector<benchmark::Result> results) {
    return {std::move(results), "", ""};
}

const ReportedCases sorts = of({result("sort", {{"n", ParamValue(std::int64_t{8})}}),
                                result("sort", {{"n", ParamValue(std::int64_t{64})}}),
                                result("BM.v2<int, 4>", {{"n", ParamValue(std::int64_t{8})}}),
                                result("copy", {{"Order", ParamValue("at random")}})});
const ReportedCases sleeps = of({result("sleep 0.1"), result("sort")});

/// The instances of each relation once the benchmarks have reported: "lead | partner | …".
Texts instances(const std::string& expect, const std::map<std::size_t, ReportedCases>& reported) {
    Suite suite = parse(expect);
    set_reported_cases(reported, suite);
    EXPECT_TRUE(suite.open_relations.empty());
    Texts texts;
    for (const SuiteRelation& relation : suite.relations) {
        for (const auto& instance : relation.instances) {
            std::string text;
            for (const std::size_t index : instance) {
                text += (text.empty() ? "" : " | ") + suite.cases[index].id;
            }
            texts.push_back(text);
        }
    }
    return texts;
}

Texts instances(const std::string& expect) {
    return instances(expect, {{0, sorts}, {1, sleeps}});
}

std::string late_refusal(const std::string& expect) {
    return test::refusal([&] { instances(expect); });
}

TEST(BenchmarkRelations, StayOpenUntilTheBenchmarksHaveRun) {
    const Suite suite = parse(
        "  bench/sort.real_time: \"<= 2 * bench/fast.real_time\"\n"
        "  train/step.span: \"<= 1s\"\n");
    ASSERT_EQ(suite.relations.size(), 1U);
    ASSERT_EQ(suite.open_relations.size(), 1U);
    const model::Relation& relation = suite.open_relations[0].relation;
    EXPECT_EQ(to_text(relation), "bench/sort.real_time <= 2 * bench/fast.real_time");
    EXPECT_EQ(relation.unit, "ns");
    EXPECT_EQ(relation.place, (model::SourcePlace{"s.yaml", 21}));
    EXPECT_TRUE(relation.instances.empty());
}

TEST(BenchmarkRelations, SyntaxMetricsAndUnitsAreCheckedBefore) {
    EXPECT_EQ(refusal_of("  bench/sort.real_tim: \"<= 1s\"\n"),
              "s.yaml:21:14: unknown metric of the benchmark bench: 'real_tim'; expected one of "
              "real_time, cpu_time, items_per_second, bytes_per_second, misses; did you mean "
              "'real_time'?");
    EXPECT_EQ(
        refusal_of("  other/x.cpu_time: \"<= 1s\"\n"),
        "s.yaml:21:11: unknown metric of the benchmark other: 'cpu_time'; expected real_time");
    EXPECT_EQ(refusal_of("  bench/sort.misses: \"<= 1s\"\n"),
              "s.yaml:21:23: compares a plain number with a time; expected a plain number on both "
              "sides");
    EXPECT_EQ(refusal_of("  bench/sort: \"<= 1s\"\n"),
              "s.yaml:21:13: 'bench/sort' without a metric; expected '.' and one, as in "
              "bench/sort.real_time");
    EXPECT_EQ(refusal_of("  bench/sort[n=8].real_time: \"<= gemm/tiled.gpu_time\"\n"),
              "s.yaml:21:34: 'gemm/tiled' is a CUDA variant, 'bench/sort[n=8]' a program, and no "
              "run measures both; expected variants of one target");
    EXPECT_EQ(refusal_of("  bench/*.real_time: \"<= 1s\"\n"),
              "s.yaml:21:3: 'bench' is not a metric of a case; expected workload/variant.metric, "
              "such as gemm/tiled.gpu_time");
    EXPECT_EQ(refusal_of("  'bench/\"sort.real_time': \"<= 1s\"\n"),
              "s.yaml:21:10: a quote that does not end; expected '\"'");
    EXPECT_EQ(refusal_of("  'bench/sort[n=1,n=2].real_time': \"<= 1s\"\n"),
              "s.yaml:21:19: 'n' twice; expected it once");
}

TEST(BenchmarkRelations, NamesCaseOfBenchmarks) {
    EXPECT_EQ(instances("  bench/sort.real_time: \"<= 2 * bench/sort[n=64].real_time\"\n"),
              (Texts{"bench/sort[n=8] | bench/sort[n=64]", "bench/sort[n=64] | bench/sort[n=64]"}));
    // The partner has the same n.
    EXPECT_EQ(instances("  'bench/\"BM.v2<int, 4>\".real_time': \"<= bench/sort.real_time\"\n"),
              (Texts{"bench/BM.v2<int, 4>[n=8] | bench/sort[n=8]"}));
    EXPECT_EQ(instances("  'bench/copy[Order=\"at random\"].misses': \"== 0\"\n"),
              (Texts{"bench/copy[Order=\"at random\"]"}));
    EXPECT_EQ(instances("  'other/\"sleep 0.1\".real_time': \"> other/sort.real_time\"\n"),
              (Texts{"other/sleep 0.1 | other/sort"}));
    // Of two benchmarks, and of a program that is recorded.
    EXPECT_EQ(instances("  bench/sort[n=8].real_time: \"<= other/sort.real_time\"\n"),
              (Texts{"bench/sort[n=8] | other/sort"}));
    EXPECT_EQ(instances("  train/step.span: \">= bench/sort[n=8].real_time\"\n"),
              (Texts{"train/step | bench/sort[n=8]"}));
    // Without spaces around an operator.
    EXPECT_EQ(instances("  bench/sort[n=8].real_time-other/sort.real_time: \"<= 1s\"\n"),
              (Texts{"bench/sort[n=8] | other/sort"}));
    EXPECT_EQ(instances("  bench/copy.real_time/other/sort.real_time: \"<= 1\"\n"),
              (Texts{"bench/copy[Order=\"at random\"] | other/sort"}));
}

TEST(BenchmarkRelations, ANameThatNoBenchmarkReportsIsAnErrorWithTheNearest) {
    EXPECT_EQ(late_refusal("  bench/sorts.real_time: \"<= 1s\"\n"),
              "s.yaml:21:9: unknown result of the benchmark bench: 'sorts'; expected one of "
              "BM.v2<int, 4>, copy, sort; did you mean 'sort'?");
    EXPECT_EQ(late_refusal("  bench/sort[m=8].real_time: \"<= 1s\"\n"),
              "s.yaml:21:14: unknown parameter 'm'; expected one of Order, n");
    EXPECT_EQ(late_refusal("  bench/sort[n=9].real_time: \"<= 1s\"\n"),
              "s.yaml:21:16: unknown value '9'; expected one of 64, 8");
    EXPECT_EQ(late_refusal("  bench/copy[n=8].real_time: \"<= 1s\"\n"),
              "s.yaml:21:3: the suite has no case of 'bench/copy[n=8]'; expected parameters that "
              "one of its results has");
    EXPECT_EQ(
        late_refusal("  'bench/\"BM.v2<int, 4>\".real_time': \"<= bench/sort@hot.real_time\"\n"),
        "s.yaml:21:42: the suite has no case of 'bench/sort@hot'; expected parameters that "
        "one of its results has");
    EXPECT_EQ(late_refusal("  other/sort.real_time: \"<= bench/sort.real_time\"\n"),
              "s.yaml:21:29: 2 cases of 'bench/sort' belong to other/sort: they differ in n; "
              "expected one; rule out the others in brackets");
}

TEST(BenchmarkRelations, WithABenchmarkThatFailedHaveWhatStandsForItsCases) {
    const ReportedCases failed{{}, "it crashed", "log"};
    const std::string expect =
        "  bench/sort.real_time: \"<= other/anything[x=1].real_time\"\n"
        "  other/sort.real_time: \"<= 1s\"\n"
        "  other/sort.real_time / 2: \"<= bench/sort[n=8].real_time\"\n";
    EXPECT_EQ(instances(expect, {{0, sorts}, {1, failed}}),
              (Texts{"bench/sort[n=8] | other/*", "bench/sort[n=64] | other/*", "other/*",
                     "other/* | other/*"}));
    // Not asked, because a filter left it out: the same.
    EXPECT_EQ(instances("  bench/sort[n=8].real_time: \"<= other/x.real_time\"\n", {{0, sorts}}),
              (Texts{"bench/sort[n=8] | other/*"}));
}

TEST(BenchmarkRelations, ArePlannedWithTheReportedCases) {
    Suite suite = parse("  bench/sort.real_time: \"<= 1s\"\n");
    PlanOptions options;
    options.target = model::Target::host;
    EXPECT_TRUE(plan_suite(suite, options).suite.relations.empty());
    set_reported_cases({{0, sorts}, {1, sleeps}}, suite);
    const SuitePlan planned = plan_suite(suite, options);
    ASSERT_EQ(planned.suite.relations.size(), 1U);
    EXPECT_EQ(planned.suite.relations[0].instances,
              (std::vector<Texts>{{"bench/sort[n=8]"}, {"bench/sort[n=64]"}}));
}

TEST(BenchmarkRelations, TheCostOfManyIsBounded) {
    std::vector<benchmark::Result> many;
    for (std::int64_t n = 0; n < 9000; ++n) many.push_back(result("sort", {{"n", ParamValue(n)}}));
    std::string expect;
    for (int i = 0; i < 900; ++i) {
        expect += "  bench/sort.real_time + " + std::to_string(i) +
                  "s: \"<= 2 * bench/sort.real_time\"\n";
    }
    std::string message;
    EXPECT_LT(test::cpu_seconds([&] {
                  message = test::refusal([&] { instances(expect, {{0, of(many)}, {1, sleeps}}); });
              }),
              2 * test::patience_s);
    EXPECT_NE(message.find("for this many cases; expected a smaller suite"), std::string::npos)
        << message;
}

}  // namespace
}  // namespace perfgate::suite

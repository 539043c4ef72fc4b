// SPDX-License-Identifier: Apache-2.0
// Relations between the cases of benchmarks: what is checked before these have run, what once they
// have, and what becomes of them if one fails.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/command/command.hpp"
#include "suite/plan.hpp"
#include "suite/suite.hpp"
#include "suite_catalogue.hpp"

namespace perfgate::suite {
namespace suite_benchmark_relations_test {

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

model::DiscoveredCase result(std::string name, model::Params params = {}) {
    model::DiscoveredCase made;
    made.name = std::move(name);
    made.params = std::move(params);
    return made;
}

model::Discovered of(std::vector<model::DiscoveredCase> results) {
    return {std::move(results), "", ""};
}

const model::Discovered sorts = of({result("sort", {{"n", ParamValue(std::int64_t{8})}}),
                                    result("sort", {{"n", ParamValue(std::int64_t{64})}}),
                                    result("BM.v2<int, 4>", {{"n", ParamValue(std::int64_t{8})}}),
                                    result("copy", {{"Order", ParamValue("at random")}})});
const model::Discovered sleeps = of({result("sleep 0.1"), result("sort")});

/// Of one relation: "lead | partner | …".
Texts instances_of(const Suite& suite, std::size_t relation) {
    Texts texts;
    for (const auto& instance : suite.relations[relation].instances) {
        std::string text;
        for (const std::size_t index : instance) {
            text += (text.empty() ? "" : " | ") + suite.cases[index].id;
        }
        texts.push_back(text);
    }
    return texts;
}

/// The instances of each relation once the benchmarks have reported.
Texts instances(const std::string& expect,
                const std::map<std::size_t, model::Discovered>& reported) {
    Suite suite = parse(expect);
    set_discovered_cases(reported, suite);
    EXPECT_TRUE(suite.open_relations.empty());
    Texts texts;
    for (std::size_t i = 0; i < suite.relations.size(); ++i) {
        for (std::string& text : instances_of(suite, i)) texts.push_back(std::move(text));
    }
    return texts;
}

Texts instances(const std::string& expect) {
    return instances(expect, {{0, sorts}, {1, sleeps}});
}

std::string late_refusal(const std::string& expect) {
    return test::refusal([&] { instances(expect); });
}

TEST(BenchmarkRelations, ACaseWithoutACounterpartIsPlannedAndCannotBeJudged) {
    Suite suite = parse("  bench/sort.real_time: '<= 2 * bench/\"BM.v2<int, 4>\".real_time'\n");
    set_discovered_cases({{0, sorts}, {1, sleeps}}, suite);
    PlanOptions options;
    options.target = model::Target::host;
    const auto planned = [&] { return plan_suite(suite, options).suite.relations.at(0).instances; };
    const std::vector<Texts> expected{{"bench/sort[n=8]", "bench/BM.v2<int, 4>[n=8]"},
                                      {"bench/sort[n=64]", "bench/BM.v2<int, 4>[n=64]"}};
    EXPECT_EQ(planned(), expected) << "the second counterpart is no case";
    options.filters = {"bench/sort[n=8]"};
    EXPECT_EQ(planned(), std::vector<Texts>{expected[0]});
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
    EXPECT_EQ(instances("  bench/sort[n=8].real_time*2: \"<= other/sort.real_time\"\n"),
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
    const model::Discovered failed{{}, "it crashed", "log"};
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
    set_discovered_cases({{0, sorts}, {1, sleeps}}, suite);
    const SuitePlan planned = plan_suite(suite, options);
    ASSERT_EQ(planned.suite.relations.size(), 1U);
    EXPECT_EQ(planned.suite.relations[0].instances,
              (std::vector<Texts>{{"bench/sort[n=8]"}, {"bench/sort[n=64]"}}));
}

// --- labels of `measure`, whose cases are those of a program

const std::string with_labels =
    "name: s\n"
    "workloads:\n"
    "  - benchmark: [./bench, '{n}', '{out}']\n"
    "    name: bench\n"
    "    format: google-benchmark\n"
    "    warmup: 2\n"
    "    matrix: {n: [1, 2]}\n"
    "    measure: {flash: {kernel: '*flash*'}, flash-2: {nvtx: step}}\n"
    "    tolerances: {real_time: 5%, flash.gpu_time: 2%, flash-2.kernels: 0}\n"
    "    expect: {flash.registers: '<= 64'}\n"
    "    health: [flash-2]\n";

Suite labelled(const std::string& more = "") {
    return parse_suite(with_labels + more, "s.yaml", test::workloads());
}

std::vector<std::string> ids(const Suite& suite) {
    std::vector<std::string> all;
    for (const SuiteCase& each : suite.cases) all.push_back(each.id);
    return all;
}

TEST(BenchmarkLabels, AreCasesOfTheSameProgramRecorded) {
    Suite suite = labelled();
    EXPECT_EQ(ids(suite), (Texts{"bench/*[n=1]", "bench/flash[n=1]", "bench/flash-2[n=1]",
                                 "bench/*[n=2]", "bench/flash[n=2]", "bench/flash-2[n=2]"}));
    ASSERT_EQ(suite.groups, 4U);
    for (const std::size_t first : {0U, 3U}) {
        const auto& reported = command::command_of(*suite.cases[first].subject);
        const auto& recorded = command::command_of(*suite.cases[first + 1].subject);
        EXPECT_EQ(suite.cases[first].subject->kind(), "benchmark");
        EXPECT_EQ(suite.cases[first + 1].subject->kind(), "program");
        EXPECT_EQ(reported.words, (Texts{"./bench", first == 0 ? "1" : "2", "{out}"}));
        EXPECT_EQ(recorded.words, reported.words);
        EXPECT_EQ(recorded.out_extension, ".json");
        EXPECT_EQ(reported.warm_up_runs, 2);
        EXPECT_EQ(recorded.warm_up_runs, 0);
    }
    for (std::size_t i = 0; i < suite.cases.size(); ++i) {
        EXPECT_EQ(suite.cases[i].group, i / 3 * 2 + (i % 3 == 0 ? 0 : 1));
    }
    const std::size_t known = suite.relations.size();
    EXPECT_GT(known, 1U);  // `expect` and the limits of `health`: checked before anything has run
    EXPECT_TRUE(suite.open_relations.empty());

    set_discovered_cases({{0, of({result("sort")})}, {2, of({result("sort"), result("copy")})}},
                         suite);
    EXPECT_EQ(ids(suite),
              (Texts{"bench/sort[n=1]", "bench/flash[n=1]", "bench/flash-2[n=1]", "bench/sort[n=2]",
                     "bench/copy[n=2]", "bench/flash[n=2]", "bench/flash-2[n=2]"}));
    ASSERT_EQ(suite.relations.size(), known);
    EXPECT_EQ(to_text(suite.relations[0].relation), "bench/flash.registers <= 64");
    EXPECT_EQ(suite.relations[0].instances, (std::vector<std::vector<std::size_t>>{{1}, {5}}));

    const model::PlannedSuite planned = plan_suite(suite, {}).suite;
    ASSERT_EQ(planned.cases.size(), 7U);
    ASSERT_EQ(planned.cases[0].gates.size(), 1U);
    EXPECT_EQ(planned.cases[0].gates[0].metric, "real_time");
    ASSERT_EQ(planned.cases[1].gates.size(), 1U);
    EXPECT_EQ(planned.cases[1].gates[0].metric, "gpu_time");
}

TEST(BenchmarkLabels, WithoutMeasureThereIsOneCommand) {
    EXPECT_EQ(parse("  other/x.real_time: \"<= 1s\"\n").groups, 3U);
}

TEST(BenchmarkLabels, AreComparedWithEachOtherAndWithResults) {
    Suite suite = labelled(
        "expect:\n"
        "  bench/flash.gpu_time: \"<= bench/flash-2[n=1].gpu_time\"\n"
        "  bench/sort.real_time: \">= bench/flash.gpu_time\"\n"
        "  bench/flash[n=2].gpu_time: \">= bench/sort[n=2].real_time\"\n"
        "  'bench/\"flash.v2\".real_time': \"<= 1s\"\n");
    const std::size_t known = suite.relations.size();
    EXPECT_EQ(suite.open_relations.size(), 3U);  // those with results
    EXPECT_EQ(instances_of(suite, 0), (Texts{"bench/flash[n=1] | bench/flash-2[n=1]",
                                             "bench/flash[n=2] | bench/flash-2[n=1]"}));
    const model::Discovered reported = of({result("sort"), result("flash.v2")});
    set_discovered_cases({{0, reported}, {2, reported}}, suite);
    ASSERT_EQ(suite.relations.size(), known + 3);
    EXPECT_EQ(instances_of(suite, known),
              (Texts{"bench/sort[n=1] | bench/flash[n=1]", "bench/sort[n=2] | bench/flash[n=2]"}));
    EXPECT_EQ(instances_of(suite, known + 1), (Texts{"bench/flash[n=2] | bench/sort[n=2]"}));
    EXPECT_EQ(instances_of(suite, known + 2),
              (Texts{"bench/flash.v2[n=1]", "bench/flash.v2[n=2]"}));
}

TEST(BenchmarkLabels, AreKnownIfTheBenchmarkFails) {
    Suite suite = labelled("expect: {bench/sort.real_time: \">= bench/flash.gpu_time\"}\n");
    set_discovered_cases({{0, {{}, "it crashed", "log"}}, {2, of({result("sort")})}}, suite);
    EXPECT_EQ(ids(suite), (Texts{"bench/*[n=1]", "bench/flash[n=1]", "bench/flash-2[n=1]",
                                 "bench/sort[n=2]", "bench/flash[n=2]", "bench/flash-2[n=2]"}));
    EXPECT_EQ(instances_of(suite, suite.relations.size() - 1),
              (Texts{"bench/sort[n=2] | bench/flash[n=2]", "bench/*[n=1] | bench/*[n=1]"}));
}

TEST(BenchmarkLabels, HaveTheMetricsOfPrograms) {
    const auto refused = [](const std::string& relation) {
        return test::refusal([&] { labelled("expect:\n  " + relation + "\n"); });
    };
    EXPECT_EQ(refused("bench/flash.real_time: \"<= 1s\""),
              "s.yaml:13:15: bench/flash[n=1] does not collect 'real_time'; expected it in its "
              "'metrics'");
    EXPECT_EQ(refused("bench/sort.gpu_time: \"<= 1s\""),
              "s.yaml:13:14: unknown metric of the benchmark bench: 'gpu_time'; expected one of "
              "real_time, cpu_time, items_per_second, bytes_per_second; did you mean 'cpu_time'?");
    EXPECT_EQ(refused("bench/flash[n=3].gpu_time: \"<= 1s\""),
              "s.yaml:13:3: the suite has no case of 'bench/flash[n=3]'; expected parameters and a "
              "cache that its cases have, which `perfgate list` shows");
    EXPECT_EQ(refused("bench/flash[k=3].gpu_time: \"<= 1s\""),
              "s.yaml:13:15: unknown parameter 'k'; expected n");
    EXPECT_EQ(refused("bench/flash.v2.real_time: \"<= 1s\""),
              "s.yaml:13:15: unknown metric 'v2.real_time'; expected a metric that `perfgate "
              "list --metrics` lists, or a CUPTI name; did you mean 'real_time'?");
}

TEST(BenchmarkLabels, MayNotHaveTheNameOfAResult) {
    const auto refused = [](const std::string& name) {
        Suite suite = labelled();
        return test::refusal([&] {
            set_discovered_cases({{0, of({result("sort")})}, {2, of({result(name)})}}, suite);
        });
    };
    EXPECT_EQ(refused("flash"),
              "s.yaml:8:15: the label 'flash' of 'measure' and a result of the benchmark 'bench' "
              "have the same name; expected different names");
    EXPECT_EQ(refused("flash-3"), "");
}

TEST(BenchmarkRelations, ASuiteHasUpToTenThousandCases) {
    const auto refused = [](std::size_t results) {
        std::vector<model::DiscoveredCase> many;
        for (std::int64_t n = 0; many.size() < results; ++n) {
            many.push_back(result("sort", {{"n", ParamValue(n)}}));
        }
        Suite suite =
            parse_suite(two_benchmarks.substr(0, two_benchmarks.find("  - benchmark: [./other")),
                        "s.yaml", test::workloads());
        return test::refusal([&] { set_discovered_cases({{0, of(many)}}, suite); });
    };
    EXPECT_EQ(refused(most_cases), "");
    EXPECT_NE(refused(most_cases + 1).find("more than 10000 cases"), std::string::npos);
}

TEST(BenchmarkRelations, TheCostOfManyIsBounded) {
    std::vector<model::DiscoveredCase> many;
    for (std::int64_t n = 0; n < 9000; ++n) many.push_back(result("sort", {{"n", ParamValue(n)}}));
    std::string expect;
    for (int i = 0; i < 900; ++i) {
        expect += "  bench/sort.real_time / " + std::to_string(i + 1) +
                  ": \"<= 2 * bench/sort.real_time\"\n";
    }
    std::string message;
    EXPECT_LT(test::cpu_seconds([&] {
                  message = test::refusal([&] { instances(expect, {{0, of(many)}, {1, sleeps}}); });
              }),
              2 * test::patience_s);
    EXPECT_NE(message.find("for this many cases; expected a smaller suite"), std::string::npos)
        << message;
}

}  // namespace suite_benchmark_relations_test
}  // namespace perfgate::suite

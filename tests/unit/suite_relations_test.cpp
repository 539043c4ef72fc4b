// SPDX-License-Identifier: Apache-2.0
// `expect`: what is refused and where, and which cases belong together.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/hottest_kernel.hpp"
#include "model/roofline.hpp"
#include "suite/plan.hpp"
#include "suite/suite.hpp"
#include "suite_catalogue.hpp"

namespace perfgate::suite {
namespace suite_relations_test {

using Texts = std::vector<std::string>;

/// naive and tiled over two sizes and both caches; tensor_core in another entry and type.
const std::string gemm_suite =
    "name: s\n"
    "workloads:\n"
    "  - workload: gemm\n"
    "    variants: [naive, tiled, reference]\n"
    "    params: {dtype: f32}\n"
    "    metrics: [gpu_time, registers, dram_bytes, host_time]\n"
    "    tolerances: {gpu_time: 3%, host_time: 50%}\n"
    "    cache: [cold, hot]\n"
    "    matrix:\n"
    "      size: [{m: 64, n: 64, k: 64}, {m: 128, n: 128, k: 128}]\n"
    "      exclude: [{variant: naive, m: 128, cache: hot}]\n"
    "  - workload: gemm\n"
    "    variants: [tensor_core]\n"
    "    metrics: [gpu_time]\n"
    "    tolerances: {gpu_time: 3%}\n"
    "    matrix:\n"
    "      dtype: [f16, bf16]\n"
    "      size: [{m: 64, n: 64, k: 64}, {m: 128, n: 128, k: 128}]\n"
    "  - workload: copy\n"
    "    variants: [plain]\n"
    "    metrics: [gpu_time]\n"
    "    tolerances: {gpu_time: 3%}\n"
    "expect:\n";
// The first line behind it: messages start with "s.yaml:24:".

Suite parse(const std::string& expect) {
    return parse_suite(gemm_suite + expect, "s.yaml", test::workloads());
}

std::string refusal_of(const std::string& expect) {
    return test::refusal([&] { parse(expect); });
}

/// What is said of `gemm/tiled.gpu_time: "<comparison>"`.
std::string refusal_of_comparison(const std::string& comparison) {
    return refusal_of("  gemm/tiled.gpu_time: \"" + comparison + "\"\n");
}

/// "lead | partner | …" of each instance.
Texts instances(const Suite& suite, std::size_t relation = 0) {
    Texts texts;
    for (const auto& instance : suite.relations.at(relation).instances) {
        std::string text;
        for (const std::size_t index : instance) {
            text += (text.empty() ? "" : " | ") + suite.cases[index].id;
        }
        texts.push_back(text);
    }
    return texts;
}

TEST(SuiteRelations, AreKeptAsPostfixStepsInBaseUnits) {
    const Suite suite = parse(
        "  gemm/tiled.gpu_time:\n"
        "    - \"<= 0.5 * gemm/naive.gpu_time\"\n"
        "    - \"> -2us\"\n");
    ASSERT_EQ(suite.relations.size(), 2U);
    const model::Relation& relation = suite.relations[0].relation;
    EXPECT_EQ(to_text(relation), "gemm/tiled.gpu_time <= 0.5 * gemm/naive.gpu_time");
    EXPECT_EQ(relation.unit, "ns");
    EXPECT_EQ(relation.place, (model::SourcePlace{"s.yaml", 25}));
    EXPECT_EQ(relation.operands, (Texts{"gemm/tiled", "gemm/naive"}));
    using model::Operator;
    const model::PostfixExpression left{model::OperandMetric{0, "gpu_time"}};
    const model::PostfixExpression right{0.5, model::OperandMetric{1, "gpu_time"},
                                         Operator::multiply};
    EXPECT_EQ(relation.left, left);
    EXPECT_EQ(relation.right, right);
    EXPECT_EQ(suite.relations[1].relation.right, model::PostfixExpression{-2e3 * 1e-9});
}

TEST(SuiteRelations, MoreArithmeticIsRefusedWithWhatReplacesIt) {
    const auto column = [](const std::string& comparison) {
        const std::string refusal = refusal_of_comparison(comparison);
        EXPECT_NE(refusal.find("more arithmetic than a relation has; expected a number, a metric, "
                               "a plain number times a metric, or"),
                  std::string::npos)
            << refusal;
        return refusal.substr(0, refusal.find(": "));
    };
    EXPECT_EQ(column("<= (1ns + 2ns"), "s.yaml:24:28");
    EXPECT_EQ(column("<= gemm/naive.gpu_time - 5us"), "s.yaml:24:48");
    EXPECT_EQ(column("<= gemm/naive.gpu_time + gemm/tiled.gpu_time"), "s.yaml:24:48");
    EXPECT_EQ(column("<= 2 * gemm/naive.gpu_time / 3"), "s.yaml:24:52");
    EXPECT_EQ(column("<= gemm/naive.gpu_time * gemm/naive.gpu_time"), "s.yaml:24:48");
    EXPECT_EQ(column("<= 2us * gemm/naive.gpu_time"), "s.yaml:24:32");
    EXPECT_EQ(column("<= 2 * 5us"), "s.yaml:24:30");
    EXPECT_EQ(column("<= 1 / gemm/naive.gpu_time"), "s.yaml:24:30");
    EXPECT_EQ(column("<= -gemm/naive.gpu_time"), "s.yaml:24:28");
}

TEST(SuiteRelations, KnowEveryComparison) {
    for (const char* comparison : {"<=", "<", ">=", ">", "==", "!="}) {
        const Suite suite =
            parse(std::string("  gemm/tiled.registers: \"") + comparison + "64\"\n");
        EXPECT_EQ(to_text(suite.relations.at(0).relation.comparator), comparison);
        EXPECT_EQ(suite.relations[0].relation.right_text, "64");
    }
}

TEST(SuiteRelations, SeveralComparisonsOfOneExpressionAreSeveralRelations) {
    const Suite suite = parse("  gemm/tiled.gpu_time: [\"> 1us\", \"< 1s\"]\n");
    ASSERT_EQ(suite.relations.size(), 2U);
    EXPECT_EQ(to_text(suite.relations[1].relation), "gemm/tiled.gpu_time < 1s");
}

// ---- matching -----------------------------------------------------------------------------------

TEST(SuiteRelations, CasesWithTheSameParametersAndCacheBelongTogether) {
    // naive has no hot case of 128: there is nothing to compare tiled's with.
    EXPECT_EQ(instances(parse("  gemm/tiled.gpu_time: \"<= gemm/naive.gpu_time\"\n")),
              (Texts{"gemm/tiled[dtype=f32,k=64,m=64,n=64] | gemm/naive[dtype=f32,k=64,m=64,n=64]",
                     "gemm/tiled[dtype=f32,k=128,m=128,n=128] | "
                     "gemm/naive[dtype=f32,k=128,m=128,n=128]",
                     "gemm/tiled[dtype=f32,k=64,m=64,n=64]@hot | "
                     "gemm/naive[dtype=f32,k=64,m=64,n=64]@hot"}));
}

TEST(SuiteRelations, WhatAPartnerFixesNeedNotBeTheSame) {
    EXPECT_EQ(
        instances(parse("  gemm/tensor_core[dtype=bf16].gpu_time: "
                        "\"<= gemm/tiled[dtype=f32].gpu_time\"\n")),
        (Texts{"gemm/tensor_core[dtype=bf16,k=64,m=64,n=64] | gemm/tiled[dtype=f32,k=64,m=64,n=64]",
               "gemm/tensor_core[dtype=bf16,k=128,m=128,n=128] | "
               "gemm/tiled[dtype=f32,k=128,m=128,n=128]"}));
    EXPECT_EQ(instances(parse("  gemm/tiled[m=128]@cold.gpu_time: "
                              "\"<= 9 * gemm/tiled[m=64, n=64, k=64]@hot.gpu_time\"\n")),
              (Texts{"gemm/tiled[dtype=f32,k=128,m=128,n=128] | "
                     "gemm/tiled[dtype=f32,k=64,m=64,n=64]@hot"}));
}

TEST(SuiteRelations, ACaseWithoutTheParameterFitsAll) {
    EXPECT_EQ(instances(parse("  gemm/tensor_core.gpu_time: \"<= copy/plain.gpu_time\"\n")).size(),
              4U);
}

TEST(SuiteRelations, APartnerThatFitsSeveralCasesIsAnError) {
    EXPECT_EQ(refusal_of("  copy/plain.gpu_time: \"<= gemm/tensor_core[m=64].gpu_time\"\n"),
              "s.yaml:24:28: 2 cases of 'gemm/tensor_core[m=64]' belong to copy/plain: they differ "
              "in dtype; expected one; rule out the others in brackets");
}

TEST(SuiteRelations, ARelationWithoutAnyCaseIsAnError) {
    EXPECT_EQ(refusal_of("  gemm/tiled.gpu_time: \"<= gemm/tensor_core.gpu_time\"\n"),
              "s.yaml:24:28: no case of 'gemm/tensor_core' has the parameters of one of "
              "'gemm/tiled'; expected the same values, or others fixed in brackets");
    EXPECT_EQ(refusal_of("  gemm/tiled[m=65].gpu_time: \"<= 1s\"\n"),
              "s.yaml:24:3: the suite has no case of 'gemm/tiled[m=65]'; expected parameters and a "
              "cache that its cases have, which `perfgate list` shows");
}

// ---- places -------------------------------------------------------------------------------------

TEST(SuiteRelations, SyntaxErrorsPointIntoTheExpression) {
    EXPECT_EQ(refusal_of_comparison("0.5"),
              "s.yaml:24:25: no comparison at '0.5'; expected one of <=, <, >=, >, ==, != before "
              "the expression");
    EXPECT_EQ(refusal_of_comparison("<= 1ns)"),
              "s.yaml:24:31: unexpected ')'; expected '*', '/' or the end");
    EXPECT_EQ(refusal_of_comparison("<= 1ns <= 2ns"),
              "s.yaml:24:32: unexpected '<'; expected one comparison, at the start of the right "
              "side");
    EXPECT_EQ(refusal_of_comparison("<= 2 *"),
              "s.yaml:24:31: unexpected the end; expected a number, or a metric of a case such as "
              "gemm/tiled.gpu_time");
    EXPECT_EQ(
        refusal_of_comparison("<= 2 * gpu_time"),
        "s.yaml:24:32: 'gpu_time' is not a metric of a case; expected workload/variant.metric, "
        "such as gemm/tiled.gpu_time");
    EXPECT_EQ(refusal_of_comparison("<= gemm/naive"),
              "s.yaml:24:38: 'gemm/naive' without a metric; expected '.' and one, as in "
              "gemm/naive.gpu_time");
    EXPECT_EQ(refusal_of_comparison("<= gemm/naive[m].gpu_time"),
              "s.yaml:24:40: unexpected ']'; expected '=' and the value of 'm'");
    EXPECT_EQ(refusal_of("  5us: \"<= 1ms\"\n"),
              "s.yaml:24:3: no metric on the left side; expected one, such as gemm/tiled.gpu_time");
    EXPECT_EQ(refusal_of("  gemm/tiled.gpu_time: {a: 1}\n"),
              "s.yaml:24:24: wrong value for 'gemm/tiled.gpu_time'; expected a comparison such as "
              "\"<= 0.5 * gemm/naive.gpu_time\", found a map");
}

TEST(SuiteRelations, UnknownNamesAreNamedWithTheNearest) {
    EXPECT_EQ(
        refusal_of("  gem/tiled.gpu_time: \"<= gemm/naiv.gpu_tim\"\n"),
        "s.yaml:24:3: unknown workload 'gem'; expected one of gemm, copy; did you mean "
        "'gemm'?\n"
        "s.yaml:24:32: unknown variant 'naiv'; expected one of naive, tiled, tensor_core, "
        "reference; did you mean 'naive'?\n"
        "s.yaml:24:37: unknown metric 'gpu_tim'; expected a metric that `perfgate list --metrics` "
        "lists, or a CUPTI name; did you mean 'gpu_time'?");
    EXPECT_EQ(refusal_of_comparison("<= gemm/naive[dtyp=f32].gpu_time"),
              "s.yaml:24:39: unknown parameter 'dtyp'; expected one of m, n, k, dtype; did you "
              "mean 'dtype'?");
    EXPECT_EQ(refusal_of_comparison("<= gemm/naive[dtype=f33,m=a].gpu_time"),
              "s.yaml:24:45: unknown value 'f33'; expected one of f32, tf32, f16, bf16; did you "
              "mean 'f32'?\n"
              "s.yaml:24:51: 'a' for 'm'; expected an integer");
    EXPECT_EQ(refusal_of_comparison("<= 5ux"),
              "s.yaml:24:29: unknown unit 'ux'; expected one such as us, MiB, GB/s, %, or none for "
              "a plain number; did you mean 'us'?");
    EXPECT_EQ(refusal_of_comparison("<= gemm/naive@warm.gpu_time"),
              "s.yaml:24:39: unknown cache 'warm'; expected one of cold, hot");
}

TEST(SuiteRelations, WhereEscapesHideThePlaceTheCharacterIsTold) {
    EXPECT_EQ(refusal_of_comparison("<= 1n\\u0073)"),
              "s.yaml:24:24: unexpected ')'; expected '*', '/' or the end (character 7 "
              "of the text)");
    EXPECT_EQ(refusal_of("  gemm/tiled.gpu_time: >-\n    <= 1ns)\n"),
              "s.yaml:24:24: unexpected ')'; expected '*', '/' or the end (character 7 "
              "of the text)");
}

TEST(SuiteRelations, AllProblemsAreToldAtOnce) {
    const std::string refusal = refusal_of(
        "  gemm/tiled.gpu_time: [\"<= 1\", \"? 2\", \"<= gemm/naive.registers\"]\n"
        "  gemm/tiled.gpu_tim: \"<= 1us\"\n");
    EXPECT_EQ(std::count(refusal.begin(), refusal.end(), '\n'), 3) << refusal;
}

TEST(SuiteRelations, WithAnUnknownWorkloadOnlyTheSyntaxIsChecked) {
    EXPECT_EQ(test::refusal([] {
                  parse_suite(
                      "name: s\n"
                      "workloads: [{workload: gem, variants: [tiled]}]\n"
                      "expect: {gemm/tiled.gpu_time: \"<= gemm/naive.gpu_time)\"}\n",
                      "s.yaml", test::workloads());
              }),
              "s.yaml:2:24: unknown workload 'gem'; expected gemm, copy, or one of a plugin that "
              "--plugin or 'plugins' names; did you mean 'gemm'?\n"
              "s.yaml:3:54: unexpected ')'; expected '*', '/' or the end");
}

// ---- units and metrics --------------------------------------------------------------------------

TEST(SuiteRelations, UnitsMustFit) {
    EXPECT_EQ(refusal_of_comparison("<= gemm/naive.dram_bytes"),
              "s.yaml:24:25: compares a time with bytes; expected a time on both sides");
    EXPECT_EQ(refusal_of_comparison("<= 5"),
              "s.yaml:24:25: compares a time with a plain number; expected a time on both sides: "
              "give numbers their unit, such as 5us");
    EXPECT_EQ(refusal_of_comparison("<= gemm/naive.dram_bytes / gemm/naive.gpu_time"),
              "s.yaml:24:25: compares a time with bytes per time; expected a time on both sides");
    EXPECT_EQ(refusal_of_comparison("<= gemm/naive.gpu_time / 0"),
              "s.yaml:24:50: division by zero; expected another divisor");
}

TEST(SuiteRelations, UnitsDivide) {
    const Suite suite = parse(
        "  gemm/tiled.dram_bytes / gemm/tiled.gpu_time: \"<= 4TB/s\"\n"
        "  gemm/tiled.gpu_time / gemm/naive.gpu_time: \"<= 50%\"\n"
        "  gemm/tiled.gpu_time: \"<= gemm/naive.gpu_time * 2\"\n");
    EXPECT_EQ(suite.relations.at(0).relation.unit, "bytes/s");
    EXPECT_EQ(suite.relations[0].relation.operands.size(), 1U);
    EXPECT_EQ(suite.relations.at(1).relation.unit, "");
    EXPECT_EQ(suite.relations[1].relation.right, model::PostfixExpression{0.5});
    EXPECT_EQ(suite.relations.at(2).relation.unit, "ns");
}

TEST(SuiteRelations, AMetricMustBeCollectedByTheCaseAndItsTarget) {
    EXPECT_EQ(refusal_of("  gemm/tensor_core.registers: \"<= 64\"\n"),
              "s.yaml:24:20: gemm/tensor_core[dtype=f16,k=64,m=64,n=64] does not collect "
              "'registers'; expected it in its 'metrics'");
    EXPECT_EQ(refusal_of("  gemm/tiled.host_time: \"<= 1s\"\n"),
              "s.yaml:24:14: a CUDA variant has no 'host_time'; expected a metric that it has");
    EXPECT_EQ(refusal_of("  gemm/tiled.gpu_time: \"<= gemm/reference.host_time\"\n"),
              "s.yaml:24:28: 'gemm/reference' is a host variant, 'gemm/tiled' a CUDA variant, and "
              "no run measures both; expected variants of one target");
}

TEST(SuiteRelations, AShareOfACeilingIsExpectedInPercent) {
    std::string text = gemm_suite;
    text.replace(text.find("[gpu_time, registers"), 9, "[ceiling_share, gpu_time");
    const Suite suite =
        parse_suite(text + "  gemm/tiled.ceiling_share: \">= 85%\"\n", "s.yaml", test::workloads());
    const model::Relation& relation = suite.relations.at(0).relation;
    EXPECT_EQ(relation.comparator, model::Comparator::greater_equal);
    EXPECT_EQ(relation.unit, "%");
    EXPECT_EQ(relation.right, model::PostfixExpression{0.85});
    EXPECT_EQ(suite.relations[0].instances.size(), 4U);

    EXPECT_EQ(refusal_of("  gemm/tensor_core.ceiling_share: \">= 85%\"\n"),
              "s.yaml:24:20: gemm/tensor_core[dtype=f16,k=64,m=64,n=64] does not collect "
              "'ceiling_share'; expected it in its 'metrics'");
    EXPECT_EQ(refusal_of("  gemm/reference.ceiling_share: \">= 85%\"\n"),
              "s.yaml:24:18: a host variant has no 'ceiling_share'; expected a metric that it has");
    EXPECT_EQ(refusal_of("  gemm/tiled.gpu_time: \"<= gemm/tiled.ceiling_share\"\n"),
              "s.yaml:24:25: compares a time with a plain number; expected a time on both sides: "
              "give numbers their unit, such as 5us");
}

TEST(SuiteRelations, ABoundIsExpectedByName) {
    const Suite suite = parse("  gemm/tiled.bound: \"== memory\"\n");
    const model::Relation& relation = suite.relations.at(0).relation;
    EXPECT_EQ(to_text(relation), "gemm/tiled.bound == memory");
    EXPECT_EQ(model::expected_bound(relation), model::Bound::memory);
    EXPECT_EQ(suite.relations[0].instances.size(), 4U);
    const auto expected = [](const std::string& comparison) {
        return model::expected_bound(
            parse("  gemm/tiled.bound: \"" + comparison + "\"\n").relations.at(0).relation);
    };
    EXPECT_EQ(expected("!= compute"), model::Bound::compute);
    EXPECT_EQ(expected("==latency "), model::Bound::neither);
}

TEST(SuiteRelations, ABoundIsComparedWithNothingElse) {
    const auto of_bound = [](const std::string& comparison) {
        return refusal_of("  gemm/tiled.bound: \"" + comparison + "\"\n");
    };
    EXPECT_EQ(of_bound("== memories"),
              "s.yaml:24:25: unexpected 'memories'; expected memory, compute or latency");
    EXPECT_EQ(of_bound("== neither"),
              "s.yaml:24:25: unexpected 'neither'; expected memory, compute or latency");
    EXPECT_EQ(of_bound("== memory + 1"),
              "s.yaml:24:25: unexpected 'memory + 1'; expected memory, compute or latency");
    EXPECT_EQ(of_bound("== 1"),
              "s.yaml:24:25: unexpected '1'; expected memory, compute or latency");
    EXPECT_EQ(of_bound("== "), "s.yaml:24:25: unexpected ''; expected memory, compute or latency");
    EXPECT_EQ(of_bound("<= memory"), "s.yaml:24:22: '<=' with 'bound'; expected == or !=");
    EXPECT_NE(refusal_of("  2 * gemm/tiled.bound: \"== memory\"\n")
                  .find("'bound' in an expression; expected it alone on the left side"),
              std::string::npos);
    EXPECT_NE(refusal_of_comparison("<= gemm/tiled.bound")
                  .find("'bound' on the right side; expected it alone on the left side"),
              std::string::npos);
}

std::string of_program(const std::string& expect) {
    return "name: s\nworkloads:\n  - command: [./app]\n    name: app\n"
           "    measure: {step: {nvtx: step}}\n    expect:\n      " +
           expect + "\n";
}

TEST(SuiteRelations, TheHottestKernelIsExpectedByAPattern) {
    const auto pattern = [](const std::string& expect) {
        const Suite suite = parse_suite(of_program(expect), "s.yaml", test::workloads());
        return model::expected_kernel(suite.relations.at(0).relation);
    };
    EXPECT_EQ(pattern("step.hottest_kernel: '== *flash*'"), "*flash*");
    EXPECT_EQ(pattern("step.hottest_kernel: '!= void at::native::f<float, 4>(int)* '"),
              "void at::native::f<float, 4>(int)*");
    const auto refused = [](const std::string& expect) {
        return test::refusal([&] { parse_suite(of_program(expect), "s.yaml", test::workloads()); });
    };
    EXPECT_EQ(refused("step.hottest_kernel: '<= a'"),
              "s.yaml:7:29: '<=' with 'hottest_kernel'; expected == or !=");
    EXPECT_NE(refused("step.hottest_kernel: '== '").find("expected a glob of 1 to 256"),
              std::string::npos);
    EXPECT_NE(refused("step.kernels: '<= app/step.hottest_kernel'")
                  .find("'hottest_kernel' on the right side; expected it alone on the left side, "
                        "as in {train/step.hottest_kernel"),
              std::string::npos);
    EXPECT_EQ(
        refusal_of("  gemm/tiled.hottest_kernel: \"== a\"\n"),
        "s.yaml:24:14: a CUDA variant has no 'hottest_kernel'; expected a metric that it has");
}

TEST(SuiteRelations, ABoundNeedsATimeOnAGpu) {
    EXPECT_EQ(refusal_of("  gemm/reference.bound: \"== memory\"\n"),
              "s.yaml:24:18: a host variant has no 'bound'; expected a metric that it has");
    std::string text = gemm_suite;
    text.replace(text.find("[gpu_time, registers"), 11, "[");
    text.replace(text.find("{gpu_time: 3%, host"), 13, "{registers: 0");
    EXPECT_NE(test::refusal([&] {
                  parse_suite(text + "  gemm/tiled.bound: \"== memory\"\n", "s.yaml",
                              test::workloads());
              })
                  .find("does not collect gpu_time, which its bound needs; expected it in its "
                        "'metrics'"),
              std::string::npos);
}

// ---- hostile input ------------------------------------------------------------------------------

TEST(SuiteRelations, LengthAndCountAreBounded) {
    EXPECT_NE(refusal_of_comparison("<= 1" + std::string(1000, ' '))
                  .find("an expression of 1004 bytes; expected at most 1000"),
              std::string::npos);
    EXPECT_NE(refusal_of_comparison("<= 1e999us").find("expected one such as 0.25 or 5us"),
              std::string::npos);
    EXPECT_NE(refusal_of_comparison("<= 1e308s").find(": the number '1e308s' is too large"),
              std::string::npos);
    std::string many = "  gemm/tiled.gpu_time: [";
    for (int i = 0; i < 1100; ++i) many += "\"<= 1s\",";
    EXPECT_NE(refusal_of(many + "]\n").find("more than 1000 relations"), std::string::npos);
}

TEST(SuiteRelations, DamagedExpressionsAreReadOrRefused) {
    const std::string whole =
        "gemm/tiled[dtype=f32]@hot.gpu_time / 5us <= 10% * gemm/naive[m=64].registers";
    const std::size_t middle = whole.find("<=");
    for (std::size_t i = 0; i < whole.size(); ++i) {
        for (const char c : {'(', ')', '[', '.', '/', '@', ',', '=', '9', '%', ' ', '\x7f'}) {
            std::string damaged = whole;
            damaged[i] = c;
            const std::string expect =
                "  '" + damaged.substr(0, middle) + "': '" + damaged.substr(middle) + "'\n";
            try {
                parse(expect);
            } catch (const util::InputError& error) {
                EXPECT_EQ(std::string(error.what()).rfind("s.yaml:", 0), 0U) << expect;
            }
        }
    }
}

TEST(SuiteRelations, ManyRelationsOverManyCasesCostLittle) {
    std::string yaml =
        "name: s\ndefaults: {metrics: [gpu_time], tolerances: {gpu_time: 3%}}\nworkloads:\n"
        "  - workload: copy\n    variants: [plain]\n    matrix:\n      bytes: [";
    for (int i = 1; i <= 9000; ++i) yaml += std::to_string(i) + ',';
    yaml += "]\nexpect:\n  copy/plain.gpu_time:\n";
    for (int i = 0; i < 900; ++i) yaml += "    - '<= copy/plain[bytes=7].gpu_time'\n";
    const auto read = [&] {
        test::refusal([&] { parse_suite(yaml, "s.yaml", test::workloads()); });
    };
    EXPECT_LT(test::cpu_seconds(read), test::patience_s);
}

// ---- the plan -----------------------------------------------------------------------------------

TEST(SuiteRelations, APlanHasTheInstancesOfItsTargetAndSelection) {
    const Suite suite = parse(
        "  gemm/tiled.gpu_time: \"<= gemm/naive.gpu_time\"\n"
        "  gemm/reference.host_time: \"<= 1s\"\n");
    PlanOptions options;
    options.target = model::Target::cuda;
    ASSERT_EQ(plan_suite(suite, options).suite.relations.size(), 1U);
    // Half of an instance is selected: the gate says that it was not judged.
    options.filters = {"gemm/tiled[*m=64*]"};
    const auto planned = plan_suite(suite, options).suite.relations;
    ASSERT_EQ(planned.size(), 1U);
    EXPECT_EQ(planned[0].instances, (std::vector<Texts>{{"gemm/tiled[dtype=f32,k=64,m=64,n=64]",
                                                         "gemm/naive[dtype=f32,k=64,m=64,n=64]"}}));
    options.filters = {"copy/*"};
    EXPECT_TRUE(plan_suite(suite, options).suite.relations.empty());
    options = {};
    options.target = model::Target::host;
    EXPECT_EQ(plan_suite(suite, options).suite.relations.at(0).left_text,
              "gemm/reference.host_time");
}

}  // namespace suite_relations_test
}  // namespace perfgate::suite

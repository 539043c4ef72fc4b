// SPDX-License-Identifier: Apache-2.0
// What a source entry becomes; what it refuses is in tests/data/suites/cases.txt.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "suite/integer_expression.hpp"
#include "suite/plan.hpp"
#include "suite/suite.hpp"
#include "suite_catalogue.hpp"

namespace perfgate::suite {
namespace suite_source_test {

using model::ElementType;
using Role = model::SourceArgument::Role;
using Fill = model::SourceArgument::Fill;

constexpr const char* reduce = R"(
name: s
defaults: {metrics: [gpu_time], tolerances: {gpu_time: 3%}}
workloads:
  - source: kernels/reduce.cu
    kernel: "ns::block_reduce<{block}>"
    launch: {grid: ["(n + block - 1) / block", 2], block: block, shared: "4 * block"}
    arguments:
      - {in: f16, size: n}
      - {out: f32, size: "n / block"}
      - {inout: i64, size: 3, fill: -7}
      - {in: u8, size: 9, fill: iota}
      - {in: f64, size: 2, fill: 0.5}
      - {i32: "-n"}
      - {f32: 0.25}
      - {f64: scale}
      - {f32: "n * 2"}
    check: {against: "naive<{block}>", rtol: 0.001, atol: 1e-6}
    matrix: {n: [1024, 4096], block: [128, 256], scale: [1.5]}
    define: {TILE: "{block}", NAME: a b}
    include: [headers]
    std: c++20
    fast_math: true
    architectures: [80, 90a]
)";

Suite parse(const std::string& yaml) {
    return parse_suite(yaml, "s.yaml", test::workloads());
}

const model::SourceKernel& kernel_of(const Suite& suite, std::string_view id) {
    const auto found = std::find_if(suite.cases.begin(), suite.cases.end(),
                                    [&](const SuiteCase& each) { return each.id == id; });
    if (found == suite.cases.end()) throw std::runtime_error("no case " + std::string(id));
    return *found->subject->kernel();
}

TEST(SuiteSource, ParametersAreInPlace) {
    const Suite suite = parse(reduce);
    ASSERT_EQ(suite.cases.size(), 4U);
    const model::SourceKernel& kernel =
        kernel_of(suite, "reduce/block_reduce[block=256,n=4096,scale=1.5]");
    EXPECT_EQ(kernel.file, "kernels/reduce.cu");
    EXPECT_EQ(kernel.kernel, "ns::block_reduce<256>");
    EXPECT_EQ(kernel.grid, (std::array<std::int64_t, 3>{16, 2, 1}));
    EXPECT_EQ(kernel.block, (std::array<std::int64_t, 3>{256, 1, 1}));
    EXPECT_EQ(kernel.shared_bytes, 1024);
    EXPECT_EQ(kernel.check.kind, model::SourceCheck::Kind::kernel);
    EXPECT_EQ(kernel.check.against, "naive<256>");
    EXPECT_EQ(kernel.check.rtol, 0.001);
    EXPECT_EQ(kernel.check.atol, 1e-6);
    EXPECT_EQ(kernel.options.standard, "c++20");
    EXPECT_TRUE(kernel.options.fast_math);
    EXPECT_EQ(kernel.options.include, std::vector<std::string>{"headers"});
    EXPECT_EQ(kernel.options.defines,
              (std::vector<std::pair<std::string, std::string>>{{"TILE", "256"}, {"NAME", "a b"}}));
    EXPECT_EQ(kernel.architectures, (std::vector<std::string>{"80", "90a"}));
}

TEST(SuiteSource, ArgumentsAreInTheirOrder) {
    const model::SourceKernel kernel =
        kernel_of(parse(reduce), "reduce/block_reduce[block=128,n=1024,scale=1.5]");
    const std::vector<model::SourceArgument> expected{
        {Role::in, ElementType::f16, 1024, Fill::uniform, 0, 0},
        {Role::out, ElementType::f32, 8, Fill::uniform, 0, 0},
        {Role::inout, ElementType::i64, 3, Fill::constant, -7, 0},
        {Role::in, ElementType::u8, 9, Fill::iota, 0, 0},
        {Role::in, ElementType::f64, 2, Fill::constant, 0, 0.5},
        {Role::value, ElementType::i32, 1, Fill::uniform, -1024, 0},
        {Role::value, ElementType::f32, 1, Fill::uniform, 0, 0.25},
        {Role::value, ElementType::f64, 1, Fill::uniform, 0, 1.5},
        {Role::value, ElementType::f32, 1, Fill::uniform, 0, 2048}};
    EXPECT_EQ(kernel.arguments, expected);
    EXPECT_TRUE(model::needs_reset(kernel));
    EXPECT_EQ(model::memory_bytes_of(kernel), 2048U + 32 + 2 * 24 + 9 + 16);
}

/// A suite with a kernel that states this work, for n of 16 and 4096.
std::string with_work(const std::string& work) {
    return "name: s\ndefaults: {metrics: [gpu_time], tolerances: {gpu_time: 3%}}\nworkloads:\n"
           "  - source: k.cu\n    kernel: k\n    launch: {grid: n, block: 32}\n"
           "    arguments: [{out: f32, size: 8}]\n    matrix: {n: [16, 4096]}\n    work: " +
           work + "\n";
}

TEST(SuiteSource, StatedWorkIsThatOfEachCase) {
    const Suite suite = parse(with_work("{flops: 2 * n * n, bytes: \"8*n\", type: bf16}"));
    EXPECT_EQ(kernel_of(suite, "k/k[n=4096]").work, (model::Work{33554432, 32768, "bf16"}));
    EXPECT_EQ(kernel_of(suite, "k/k[n=16]").work, (model::Work{512, 128, "bf16"}));
    // A copy has no operations; operations on other types have no matrix rate.
    EXPECT_EQ(kernel_of(parse(with_work("{bytes: 64}")), "k/k[n=16]").work,
              (model::Work{0, 64, ""}));
    EXPECT_EQ(kernel_of(parse(with_work("{flops: n}")), "k/k[n=16]").work,
              (model::Work{16, 0, ""}));
}

TEST(SuiteSource, ABlockHasUpTo1024Threads) {
    const auto with_block = [](const std::string& block) {
        return "name: s\ndefaults: {metrics: [gpu_time], tolerances: {gpu_time: 3%}}\nworkloads:\n"
               "  - source: k.cu\n    kernel: k\n    launch: {grid: 1, block: " +
               block + "}\n    arguments: [{out: f32, size: 8}]\n";
    };
    EXPECT_EQ(parse(with_block("[32, 32]")).cases.size(), 1U);
    EXPECT_NE(test::refusal([&] { parse(with_block("[32, 33]")); }).find("1056 threads in a block"),
              std::string::npos);
}

TEST(SuiteSource, WorkThatNoKernelHasIsRefusedAtItsPlace) {
    const auto refused = [](const std::string& work) {
        return test::refusal([&] { parse(with_work(work)); });
    };
    EXPECT_NE(refused("{flops: 9223372036854775807 * n, bytes: 8}")
                  .find("s.yaml:9:19: more than 64 bits for n=16; expected an integer"),
              std::string::npos);
    EXPECT_NE(refused("{bytes: n - 4096}")
                  .find("s.yaml:9:19: 'n - 4096' is -4080 for n=16; "
                        "expected 0 to 9223372036854775807 bytes"),
              std::string::npos);
    EXPECT_NE(refused("{flops: n - 16}")
                  .find("s.yaml:9:11: 'work' is 0 for n=16; expected "
                        "operations or bytes"),
              std::string::npos);
}

TEST(SuiteSource, AFileWithoutCheckIsNotVerifiedAndOneWithNpyIs) {
    const std::string entry =
        "name: s\ndefaults: {metrics: [gpu_time], tolerances: {gpu_time: 3%}}\nworkloads:\n"
        "  - source: k.ptx\n    kernel: k\n    launch: {grid: 1, block: 32}\n"
        "    arguments: [{out: f32, size: 8}]\n";
    EXPECT_EQ(kernel_of(parse(entry), "k/k").check.kind, model::SourceCheck::Kind::none);
    const Suite checked = parse(entry + "    check: {against: e.npy}\n");
    EXPECT_EQ(kernel_of(checked, "k/k").check.kind, model::SourceCheck::Kind::file);
    EXPECT_EQ(kernel_of(checked, "k/k").check.rtol, 1e-5);
}

TEST(SuiteSource, SettingsOverridesAndRelationsAreAsOfPlugins) {
    const Suite suite = parse(std::string(reduce) +
                              "    overrides: [{match: '*n=4096*', tolerances: {gpu_time: 9%}}]\n"
                              "  - source: kernels/reduce.cu\n    kernel: plain\n"
                              "    launch: {grid: n, block: block}\n    arguments: [{f64: scale}]\n"
                              "    matrix: {n: [1024, 4096], block: [128, 256], scale: [1.5]}\n"
                              "expect:\n"
                              "  reduce/block_reduce.gpu_time: '<= 2 * reduce/plain.gpu_time'\n");
    ASSERT_EQ(suite.cases.size(), 8U);
    ASSERT_EQ(suite.relations.size(), 1U);
    EXPECT_EQ(suite.relations[0].instances.size(), 4U);
    const SuitePlan plan = plan_suite(suite, {});
    for (const model::PlannedCase& planned : plan.suite.cases) {
        ASSERT_EQ(planned.gates.size(), 1U);
        const bool loose = planned.spec.variant == "block_reduce" &&
                           planned.spec.params.at("n") == model::ParamValue(std::int64_t{4096});
        EXPECT_EQ(planned.gates[0].tolerance.worse, loose ? 0.09 : 0.03);
    }
}

TEST(SuiteSource, ThePlanHasItAndTheHostDoesNotRunIt) {
    PlanOptions options;
    options.target = model::Target::cuda;
    const SuitePlan plan = plan_suite(parse(reduce), options);
    ASSERT_EQ(plan.suite.cases.size(), 4U);
    EXPECT_EQ(plan.suite.cases[0].target, model::Target::cuda);
    ASSERT_TRUE(plan.suite.cases[0].subject->kernel());
    EXPECT_EQ(plan.suite.cases[0].subject->kernel()->file, "kernels/reduce.cu");
    options.target = model::Target::host;
    EXPECT_EQ(plan_suite(parse(reduce), options).counts.other_target, 4U);
}

// --- expressions

std::string problem_in(const std::string& text) {
    Problems problems("s.yaml");
    EXPECT_FALSE(IntegerExpression::parse(PlacedText(text, {1, 1}, true), problems));
    return test::refusal([&] { problems.throw_if_any(); });
}

IntegerExpression::Value value_of(const std::string& text, const model::Params& params = {}) {
    Problems problems("s.yaml");
    const auto parsed = IntegerExpression::parse(PlacedText(text, {1, 1}, true), problems);
    problems.throw_if_any();
    return parsed->evaluate(params);
}

TEST(IntegerExpression, ComputesAsCppDoes) {
    const model::Params n{{"n", std::int64_t{1000}}, {"k", std::int64_t{-7}}};
    EXPECT_EQ(value_of("(n + 255) / 256", n).value, 4);
    EXPECT_EQ(value_of("1 + 2 * 3 - 4 % 3").value, 6);
    EXPECT_EQ(value_of("k / 2", n).value, -3);
    EXPECT_EQ(value_of("k % 2", n).value, -1);
    EXPECT_EQ(value_of("- - 3").value, 3);
    EXPECT_EQ(value_of("10 - 3 - 2").value, 5);
    EXPECT_EQ(value_of("9223372036854775807").value, std::numeric_limits<std::int64_t>::max());
}

TEST(IntegerExpression, WhatHasNoValueSaysWhy) {
    EXPECT_EQ(value_of("1 / (2 - 2)").problem, "division by zero");
    EXPECT_EQ(value_of("1 % 0").problem, "division by zero");
    EXPECT_EQ(value_of("9223372036854775807 + 1").problem, "more than 64 bits");
    EXPECT_EQ(value_of("3037000500 * 3037000500").problem, "more than 64 bits");
    EXPECT_EQ(value_of("(-9223372036854775807 - 1) / -1").problem, "more than 64 bits");
    EXPECT_EQ(value_of("-(-9223372036854775807 - 1)").problem, "more than 64 bits");
    EXPECT_NE(value_of("n").problem, "");
    EXPECT_NE(value_of("n", {{"n", 1.5}}).problem, "");
}

TEST(IntegerExpression, WhatIsNoneIsRefusedAtItsPlace) {
    EXPECT_NE(problem_in("").find("1:1: unexpected the end"), std::string::npos);
    EXPECT_NE(problem_in("1 +").find("1:4: unexpected the end"), std::string::npos);
    EXPECT_NE(problem_in("(1").find("1:3: unexpected the end; expected ')'"), std::string::npos);
    EXPECT_NE(problem_in("1 2").find("1:3: unexpected '2'"), std::string::npos);
    EXPECT_NE(problem_in("1.5").find("1:1: not an integer"), std::string::npos);
    EXPECT_NE(problem_in("1e5").find("1:1: not an integer"), std::string::npos);
    EXPECT_NE(problem_in("99999999999999999999").find("more than 64 bits"), std::string::npos);
    EXPECT_NE(problem_in(std::string(17, '(') + "1").find("nested deeper"), std::string::npos);
    EXPECT_NE(problem_in(std::string(17, '-') + "1").find("nested deeper"), std::string::npos);
    EXPECT_NE(problem_in(std::string(201, '1')).find("201 bytes"), std::string::npos);
    EXPECT_NE(problem_in("n; rm").find("1:2: unexpected ';'"), std::string::npos);
}

}  // namespace suite_source_test
}  // namespace perfgate::suite

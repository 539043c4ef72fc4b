// SPDX-License-Identifier: Apache-2.0
// What is said of the kernels of a program's case that were replaced, added, removed or called more
// often, and what is left alone.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "explain_documents.hpp"
#include "model/verdict.hpp"

namespace perfgate::explain {
namespace {

using documents::Case;
using documents::find;
using documents::why;

model::Kernel kernel(const std::string& name, double launches, double time_us) {
    model::Kernel kernel;
    kernel.name = name;
    kernel.launches = launches;
    kernel.time_ns = time_us * 1000;
    kernel.duration_ns = kernel.time_ns / launches;
    return kernel;
}

using Kernels = std::vector<model::Kernel>;

const Kernels step = {kernel("layer_norm", 2, 10), kernel("flash_fwd_kernel<64, 128>", 1, 41),
                      kernel("gemm_bf16", 4, 200), kernel("gelu_kernel", 1, 8)};

/// A step that took `times` µs before and now, with these kernels.
Case program(model::Verdict judged, documents::Change time_us, const Kernels& before,
             const Kernels& now) {
    Case made = documents::timed(judged, {time_us.before * 1000, time_us.after * 1000},
                                 {{"copies", {1, 1}}});
    made.result.command = {"./app"};
    made.result.instance = "step";
    made.result.kernels = now;
    made.verdict.baseline_kernels = before;
    return made;
}

Case slower(const Kernels& before, const Kernels& now) {
    return program(model::Verdict::regressed, {260, 340}, before, now);
}

std::vector<std::string> sentences(const Case& made) {
    std::vector<std::string> texts;
    for (const model::Cause& cause : why(made)) texts.push_back(cause.sentence);
    return texts;
}

using Texts = std::vector<std::string>;

TEST(ExplainKernels, AReplacedKernelIsNotMissingAndNew) {
    Kernels now = step;
    now[1] = kernel("void at::softmax_warp_forward<float>(int)", 1, 70);
    now.insert(now.begin() + 1, kernel("batched_gemm_1", 1, 30));
    now.insert(now.begin() + 3, kernel("batched_gemm_2", 1, 20));
    const auto causes = why(slower(step, now));
    ASSERT_EQ(causes.size(), 1U);
    EXPECT_EQ(causes[0].rule, "kernel_replaced");
    EXPECT_EQ(causes[0].sentence,
              "flash_fwd_kernel (1 per step, 41.00 µs) replaced by softmax_warp_forward and 2 "
              "others (3 per step, 120.0 µs)");
    const std::vector<model::Figure> figures = {{"kernel_time", "ns", 41000, 120000},
                                                {"kernels", "count", 1, 3}};
    EXPECT_EQ(causes[0].figures, figures);
}

TEST(ExplainKernels, AnotherTypeIsShownWhereTheNamesLookAlike) {
    const Kernels before = {kernel("add_rows<bf16>", 1, 100)};
    const Kernels now = {kernel("add_rows<float>", 1, 180)};
    EXPECT_EQ(sentences(slower(before, now)),
              Texts{"add_rows<…bf16…> (1 per step, 100.0 µs) replaced by add_rows<…float…> (1 per "
                    "step, 180.0 µs)"});
}

TEST(ExplainKernels, AddedAndRemoved) {
    Kernels more = step;
    more.push_back(kernel("copy_kernel", 2, 80));
    EXPECT_EQ(sentences(slower(step, more)), Texts{"added: copy_kernel (2 per step, 80.00 µs)"});
    EXPECT_EQ(sentences(program(model::Verdict::improved, {340, 260}, more, step)),
              Texts{"removed: copy_kernel (2 per step, 80.00 µs)"});
}

TEST(ExplainKernels, CalledMoreOftenNamesTheKernelsWithTheMostTime) {
    Kernels now;
    for (const model::Kernel& each : step) {
        now.push_back(kernel(each.name, 3 * each.launches, 3 * each.time_ns / 1000));
    }
    EXPECT_EQ(sentences(slower(step, now)),
              Texts{"called more often: gemm_bf16 4 → 12 per step (200.0 µs → 600.0 µs), "
                    "flash_fwd_kernel 1 → 3 per step (41.00 µs → 123.0 µs), layer_norm 2 → 6 per "
                    "step (10.00 µs → 30.00 µs) and 1 other"});
}

TEST(ExplainKernels, LaunchesOfOneNameWithSeveralConfigurationsAddUp) {
    Kernels before = step, now = step;
    before.push_back(kernel("gemm_bf16", 2, 50));  // another grid
    now[2].launches += 2;
    now[2].time_ns += 50000;
    const auto causes = why(slower(before, now));
    EXPECT_EQ(find(causes, "kernel_more_often"), nullptr);
    EXPECT_NE(find(causes, "unexplained"), nullptr);
}

TEST(ExplainKernels, AKernelThatTookLonger) {
    Kernels now = step;
    now[2] = kernel("gemm_bf16", 4, 279);
    now[3] = kernel("gelu_kernel", 1, 8.5);
    EXPECT_EQ(sentences(slower(step, now)),
              Texts{"took longer: gemm_bf16 4 per step (200.0 µs → 279.0 µs)"});
}

TEST(ExplainKernels, WhatMadeItFasterComesAsBut) {
    Kernels now = step;
    now[1] = kernel("slow_attention", 1, 141);
    now[3].launches = 0.5;
    now[3].time_ns = 4000;
    EXPECT_EQ(sentences(slower(step, now)),
              (Texts{"flash_fwd_kernel (1 per step, 41.00 µs) replaced by slow_attention (1 per "
                     "step, 141.0 µs)",
                     "but called less often: gelu_kernel 1 → 0.5 per step (8.000 µs → 4.000 µs)"}));
}

TEST(ExplainKernels, ACountThatMovedAloneHasItsKernels) {
    Case made = program(model::Verdict::regressed, {260, 260}, step, step);
    made.result.kernels.push_back(kernel("tiny_kernel", 1, 0.5));
    made.verdict.metrics[0].verdict = model::Verdict::pass;
    EXPECT_EQ(sentences(made), Texts{"added: tiny_kernel (1 per step, 500.0 ns)"});
}

TEST(ExplainKernels, NothingIsSaidOfTheSameKernels) {
    Kernels now = step;
    now[0].launches = 2.01;  // instances differ
    now[2].time_ns += 5000;
    const auto passed = sentences(program(model::Verdict::pass, {260, 260}, step, now));
    EXPECT_EQ(passed, Texts{"nothing moved (1 metric)"});
    std::swap(now[0], now[3]);  // threads launch in another order
    EXPECT_EQ(sentences(program(model::Verdict::pass, {260, 260}, step, now)), passed);
}

TEST(ExplainKernels, OfAPassedCaseWhatMovedComesAsBut) {
    Kernels now = step;
    now.push_back(kernel("tiny_kernel", 1, 0.5));
    EXPECT_EQ(sentences(program(model::Verdict::pass, {260, 260}, step, now)),
              (Texts{"nothing moved beyond a tolerance (1 metric)",
                     "but added: tiny_kernel (1 per step, 500.0 ns)"}));
}

TEST(ExplainKernels, WithoutKernelsOfTheBaselineThatIsSaid) {
    const auto told = sentences(slower({}, step));
    ASSERT_EQ(told.size(), 1U);
    EXPECT_TRUE(told[0].ends_with("refresh the baseline if it is older")) << told[0];
    // And where kernels are the same, that they do not account for it.
    EXPECT_NE(sentences(slower(step, step))[0].find("no kernel accounts for it"),
              std::string::npos);
}

TEST(ExplainKernels, ASlowdownOfAllKernelsIsNotLaidOnAnyOfThem) {
    Kernels before, now;
    for (int i = 0; i < 20; ++i) {
        before.push_back(kernel("kernel_" + std::to_string(i), 1, 13));
        now.push_back(kernel("kernel_" + std::to_string(i), 1, 17));
    }
    const auto told = sentences(slower(before, now));
    ASSERT_EQ(told.size(), 1U);
    EXPECT_NE(told[0].find("all kernels together took 260.0 µs → 340.0 µs"), std::string::npos)
        << told[0];
    EXPECT_NE(told[0].find("look at the clocks"), std::string::npos) << told[0];
}

TEST(ExplainKernels, NoLaunchesAreNoChange) {
    const Kernels none = {kernel("old", 0, 0)};
    for (const std::string& text : sentences(slower(none, none))) {
        EXPECT_EQ(text.find("called"), std::string::npos) << text;
    }
}

TEST(ExplainKernels, ManyChangesAreBounded) {
    Kernels before, now;
    for (int i = 0; i < 20; ++i) {
        const std::string number = std::to_string(i);
        before.push_back(kernel("common_kernel_" + number, 1, 1));
        now.push_back(kernel("common_kernel_" + number, 1, 1));
        before.push_back(kernel("old_kernel_" + number, 1, 1));
        now.push_back(kernel("new_kernel_" + number, 1, 2 + i));
    }
    const auto told = sentences(slower(before, now));
    ASSERT_EQ(told.size(), 5U);
    EXPECT_TRUE(told[0].starts_with("old_kernel_19 (1 per step, 1.000 µs) replaced by")) << told[0];
    EXPECT_TRUE(told[4].ends_with("; and 15 smaller changes of kernels")) << told[4];
}

TEST(ExplainKernels, OfTheWholeProgramFiguresAreOfTheRun) {
    Case made = slower(step, {step[0], step[2], step[3]});
    made.result.instance = "run";
    EXPECT_EQ(find(why(made), "kernel_removed")->sentence,
              "but removed: flash_fwd_kernel (1 per run, 41.00 µs)");
    made.result.instance.clear();  // a run from before it was recorded
    EXPECT_EQ(find(why(made), "kernel_removed")->sentence,
              "but removed: flash_fwd_kernel (1 per instance, 41.00 µs)");
}

TEST(ExplainKernels, HostileNamesArePrintable) {
    const auto told = sentences(slower({kernel("a\033[31m\nb", 1, 1)}, {kernel("<c>\r", 1, 9)}));
    EXPECT_EQ(told,
              Texts{"a?[31m?b (1 per step, 1.000 µs) replaced by <c>? (1 per step, 9.000 µs)"});
}

}  // namespace
}  // namespace perfgate::explain

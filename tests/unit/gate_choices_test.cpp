// SPDX-License-Identifier: Apache-2.0
// Cases whose processes may have compiled other programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "baseline/acceptance.hpp"
#include "gate/batch_rule.hpp"
#include "gate/choices.hpp"
#include "gate/gate.hpp"
#include "gate_pair.hpp"
#include "model/choices.hpp"

namespace perfgate::gate::pairs {
namespace {

/// A run of five processes, of which the last two chose otherwise and took this much longer.
Pair choosing(double longer, const std::string& other = "BLOCK 64") {
    Pair pair;
    pair.then().metrics["gpu_time"] = processes(100000, 0.001, 20);
    model::MetricSeries time = processes(100000, 0.001, 5);
    model::MetricSeries prepared{"ns", 1e9, "wall", {}, "BLOCK 128"};
    for (model::Batch& batch : time.batches) {
        model::Batch own = batch;
        own.samples = {1e9};
        if (batch.process >= 3) {
            own.detail = other;
            for (double& sample : batch.samples) sample *= 1 + longer;
        }
        prepared.batches.push_back(std::move(own));
    }
    pair.now().metrics["gpu_time"] = std::move(time);
    pair.now().metrics[std::string(model::prepare_time)] = std::move(prepared);
    return pair;
}

model::CaseVerdict verdict_of(const Pair& pair) {
    return only_case(judge(pair.run, stored(pair.baseline), {}, BatchRule({})));
}

bool notes(const model::CaseVerdict& verdict, const std::string& text) {
    return std::any_of(verdict.notes.begin(), verdict.notes.end(), [&](const std::string& note) {
        return note.find(text) != std::string::npos;
    });
}

TEST(Choices, ThatDifferAndMatterDoNotPass) {
    const model::CaseVerdict verdict = verdict_of(choosing(0.2));
    EXPECT_NE(verdict.verdict, Verdict::pass);
    EXPECT_TRUE(notes(verdict, "BLOCK 128 in 3 processes, 64 in 2"));
}

TEST(Choices, ThatHideARegressionInAMeanAreDoubted) {
    Pair pair = choosing(0.2);
    // In the mean of five, trimmed by a fifth, one process is not seen.
    for (model::Batch& batch : pair.now().metrics["gpu_time"].batches) {
        if (batch.process == 3) batch.samples = {100000};
    }
    const model::CaseVerdict verdict = verdict_of(pair);
    EXPECT_EQ(verdict.verdict, Verdict::inconclusive);
    EXPECT_EQ(metric(verdict, "gpu_time").doubt, model::Doubt::choices_differ);
    EXPECT_TRUE(says(metric(verdict, "gpu_time").sentence, "pin the choice"));
}

TEST(Choices, ThatDifferAndAreEquallyFastAreOnlySaid) {
    const model::CaseVerdict verdict = verdict_of(choosing(0));
    EXPECT_NE(metric(verdict, "gpu_time").doubt, model::Doubt::choices_differ);
    EXPECT_TRUE(notes(verdict, "did not choose the same"));
    EXPECT_FALSE(notes(verdict_of(choosing(0, "BLOCK 128")), "did not choose the same"));
}

TEST(Choices, ThatDifferLeaveTheCodeUnknown) {
    const auto with_code = [](Pair pair) {
        for (auto* kernels : {&pair.now().kernels, &pair.then().kernels}) {
            kernels->resize(1);
            kernels->front().name = "add";
            kernels->front().code = kernels->front().arguments = "c";
        }
        return verdict_of(pair).code;
    };
    EXPECT_EQ(with_code(choosing(0)), model::CodeChange::unknown);
    EXPECT_NE(with_code(choosing(0, "BLOCK 128")), model::CodeChange::unknown);
}

TEST(Choices, OfOneProcessSayNothingOfOthersCounts) {
    const Pair pair = choosing(0);
    const model::MetricDefinition registers{
        "registers",     "", "registers", model::Direction::lower, model::MetricClass::exact,
        model::Fold::max};
    model::MetricSeries once{"registers", 32, "kernel-record", {{0, "b", 1, {32}}}};
    EXPECT_NE(hidden_by_choices(pair.run.suites[0].cases[0], registers, once, {}), "");
    EXPECT_EQ(
        hidden_by_choices(choosing(0, "BLOCK 128").run.suites[0].cases[0], registers, once, {}),
        "");
}

TEST(Choices, ThatDifferAndMatterMakeNoBaseline) {
    for (const double longer : {0.2, 0.0}) {
        Pair pair = choosing(longer);
        std::erase_if(pair.now().gates, [](const auto& gate) { return gate.metric != "gpu_time"; });
        const std::string why = baseline::objection(pair.run, pair.now());
        EXPECT_EQ(says(why, "pin the choice"), longer > 0) << why;
    }
}

}  // namespace
}  // namespace perfgate::gate::pairs

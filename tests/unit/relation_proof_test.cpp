// SPDX-License-Identifier: Apache-2.0
#include "gate/proof.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "unit/gate_documents.hpp"
#include "unit/golden_sentence.hpp"

namespace perfgate::gate {
namespace {

using documents::measured_case;
using documents::run_of;
using model::Comparator;
using model::OperandMetric;
using model::Operator;
using model::PostfixExpression;

/// Two cases, a and b, with a time and a share, and a relation between them.
model::Run with(PostfixExpression left, Comparator comparator, PostfixExpression right) {
    model::CaseResult a = measured_case();
    a.spec.variant = "a";
    a.metrics["gpu_time"] = documents::series({100.0});
    a.metrics["idle_share"] = documents::series({20.0});
    a.metrics["idle_share"].unit = "%";
    model::CaseResult b = a;
    b.spec.variant = "b";
    b.metrics["gpu_time"] = documents::series({400.0});
    model::Run run = run_of({a, b});
    model::Relation relation;
    relation.left_text = "left";
    relation.right_text = "right";
    relation.comparator = comparator;
    relation.operands = {"gemm/a", "gemm/b"};
    relation.left = std::move(left);
    relation.right = std::move(right);
    relation.instances = {{model::case_id(a.spec), model::case_id(b.spec)}};
    run.suites[0].relations = {relation};
    return run;
}

TEST(RelationProof, WhatAValueCanBreakIsProved) {
    const PostfixExpression a{OperandMetric{0, "gpu_time"}}, b{OperandMetric{1, "gpu_time"}};
    for (const auto& [left, comparator, right] : {
             std::tuple{a, Comparator::less_equal, b},
             std::tuple{b, Comparator::greater, a},
             std::tuple{a, Comparator::less, PostfixExpression{3600.0}},
             std::tuple{PostfixExpression{OperandMetric{0, "idle_share"}}, Comparator::less_equal,
                        PostfixExpression{0.99}},
         }) {
        const RelationProof proof = prove_relations(with(left, comparator, right));
        EXPECT_EQ(proof.relations, 1U);
        EXPECT_TRUE(proof.problems.empty()) << proof.problems.front();
    }
}

TEST(RelationProof, WhatHoldsWhateverIsMeasuredIsAProblem) {
    const PostfixExpression a{OperandMetric{0, "gpu_time"}};
    const PostfixExpression twice{2.0, OperandMetric{0, "gpu_time"}, Operator::multiply};
    const PostfixExpression share{OperandMetric{0, "idle_share"}};
    for (const auto& [left, comparator, right] : {
             std::tuple{a, Comparator::less_equal, twice},
             std::tuple{a, Comparator::greater_equal, PostfixExpression{0.0}},
             std::tuple{share, Comparator::less_equal, PostfixExpression{1.0}},
         }) {
        const RelationProof proof = prove_relations(with(left, comparator, right));
        ASSERT_EQ(proof.problems.size(), 1U);
        EXPECT_NE(proof.problems.front().find("cannot be broken"), std::string::npos);
    }
}

TEST(RelationProof, OnlyWhatHoldsIsTried) {
    const PostfixExpression a{OperandMetric{0, "gpu_time"}}, b{OperandMetric{1, "gpu_time"}};
    EXPECT_EQ(prove_relations(with(b, Comparator::less, a)).relations, 0U);
    model::Run absent = with(a, Comparator::less, b);
    absent.suites[0].cases.pop_back();
    EXPECT_EQ(prove_relations(absent).relations, 0U);
}

TEST(RelationProof, WhatChangedOnlyLeftOutIsTriedOnTheBaselinesValues) {
    const PostfixExpression a{OperandMetric{0, "gpu_time"}}, b{OperandMetric{1, "gpu_time"}};
    const auto tried = [](model::Run run, std::size_t left_out) {
        const BaselineSet baselines = documents::stored(documents::baseline_of(run));
        for (std::size_t i = 0; i < left_out; ++i) {
            model::CaseResult& result = run.suites[0].cases[i];
            result.status = model::CaseStatus::skipped;
            result.unchanged = true;
            result.metrics.clear();
        }
        EXPECT_EQ(prove_relations(run).relations, 0U) << "without the baseline's values";
        return prove_relations(run, baselines);
    };
    for (const std::size_t left_out : {1U, 2U}) {
        const RelationProof proof = tried(with(a, Comparator::less, b), left_out);
        EXPECT_EQ(proof.relations, 1U);
        EXPECT_TRUE(proof.problems.empty());
    }
    const PostfixExpression both{OperandMetric{0, "gpu_time"}, OperandMetric{1, "gpu_time"},
                                 Operator::multiply};
    EXPECT_EQ(
        tried(with(both, Comparator::greater_equal, PostfixExpression{0.0}), 2).problems.size(),
        1U);
}

TEST(RelationProof, IsPartOfTheProofOfARun) {
    const PostfixExpression a{OperandMetric{0, "gpu_time"}}, b{OperandMetric{1, "gpu_time"}};
    const auto proved = [](const model::Run& run) {
        return prove(run, {}, {}, [](std::string_view) { return std::nullopt; });
    };
    expect_sentence(proved(with(a, Comparator::less, b)).sentence());
    EXPECT_EQ(proved(with(a, Comparator::less_equal, a)).problems.size(), 1U);
}

}  // namespace
}  // namespace perfgate::gate

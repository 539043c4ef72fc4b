// SPDX-License-Identifier: Apache-2.0
#include "suite/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "model/case.hpp"
#include "suite_catalogue.hpp"

namespace perfgate::suite {
namespace {

model::PlannedCase planned(const std::string& workload, std::int64_t n) {
    model::PlannedCase result;
    result.spec.workload = workload;
    result.spec.variant = "v";
    result.spec.params["n"] = n;
    return result;
}

/// Suites "a" and "b" with six cases of one workload each.
model::Plan plan_of_two() {
    model::Plan plan;
    for (const std::string name : {"a", "b"}) {
        model::PlannedSuite& suite = plan.suites.emplace_back();
        suite.name = name;
        for (std::int64_t n = 1; n <= 6; ++n) suite.cases.push_back(planned("w" + name, n));
    }
    return plan;
}

std::string id(const std::string& workload, int n) {
    return workload + "/v[n=" + std::to_string(n) + "]";
}

/// "suite id", in the plan's order.
std::vector<std::string> names(const model::Plan& plan) {
    std::vector<std::string> result;
    for (const model::PlannedSuite& suite : plan.suites) {
        for (const model::PlannedCase& item : suite.cases) {
            result.push_back(suite.name + " " + model::case_id(item.spec));
        }
    }
    return result;
}

std::vector<std::vector<std::string>> divided(const model::Plan& plan, std::int64_t count) {
    std::vector<std::vector<std::string>> shards;
    for (std::int64_t index = 1; index <= count; ++index) {
        model::Plan part = plan;
        take_shard(part, {index, count});
        shards.push_back(names(part));
    }
    return shards;
}

TEST(SuiteShard, EveryCaseIsInOneShard) {
    const model::Plan plan = plan_of_two();
    for (const std::int64_t count : {1, 2, 3, 5, 12}) {
        std::vector<std::string> all;
        for (const auto& shard : divided(plan, count)) {
            EXPECT_FALSE(shard.empty());
            all.insert(all.end(), shard.begin(), shard.end());
        }
        std::sort(all.begin(), all.end());
        EXPECT_EQ(all, names(plan)) << count << " shards";
    }
}

TEST(SuiteShard, AllShardsHaveEquallyManyCases) {
    for (const auto& shard : divided(plan_of_two(), 3)) EXPECT_EQ(shard.size(), 4U);
}

TEST(SuiteShard, CasesAreDealtOutInTurn) {
    const auto shards = divided(plan_of_two(), 5);
    EXPECT_EQ(shards[1], (std::vector<std::string>{"a " + id("wa", 2), "b " + id("wb", 1),
                                                   "b " + id("wb", 6)}));
}

TEST(SuiteShard, DependsOnNothingButTheCases) {
    const auto shards = divided(plan_of_two(), 3);
    model::Plan turned = plan_of_two();
    std::reverse(turned.suites.begin(), turned.suites.end());
    for (auto& suite : turned.suites) std::reverse(suite.cases.begin(), suite.cases.end());
    auto others = divided(turned, 3);
    for (std::size_t i = 0; i < others.size(); ++i) {
        EXPECT_EQ(std::set<std::string>(others[i].begin(), others[i].end()),
                  std::set<std::string>(shards[i].begin(), shards[i].end()));
    }
}

TEST(SuiteShard, SaysWhatAllShardsHaveBetweenThem) {
    model::Plan plan = plan_of_two();
    plan.suites[1].partial = true;
    const std::vector<std::string> all = names(plan);
    const model::Shard shard = take_shard(plan, {2, 12});
    EXPECT_EQ(shard.index, 2);
    EXPECT_EQ(shard.count, 12);
    ASSERT_EQ(shard.whole.size(), 2U);
    EXPECT_FALSE(shard.whole[0].partial);
    EXPECT_TRUE(shard.whole[1].partial);
    EXPECT_EQ(shard.whole[0].cases.size(), 6U);
    EXPECT_EQ("a " + shard.whole[0].cases.front(), all.front());
    ASSERT_EQ(plan.suites.size(), 1U) << "a suite without a case is left out";
    EXPECT_TRUE(plan.suites[0].partial) << "the rest of it is elsewhere";
}

TEST(SuiteShard, EachShardHasACaseThatRuns) {
    model::Plan plan = plan_of_two();
    for (std::size_t i = 0; i < 5; ++i) {
        plan.suites[0].cases[i].skip_reason = plan.suites[1].cases[i].skip_reason = "not built";
    }
    for (const auto& shard : divided(plan, 2)) {
        EXPECT_EQ(shard.size(), 6U);
        EXPECT_EQ(std::count_if(shard.begin(), shard.end(),
                                [](const auto& name) { return name.ends_with("n=6]"); }),
                  1);
    }
    EXPECT_EQ(test::refusal([&] {
                  take_shard(plan, {1, 3});
              }),
              "--shard 1/3: 2 of the 12 cases run here: divide them into no more shards");
}

TEST(SuiteShard, ReadsWhichOfHowMany) {
    EXPECT_EQ(parse_shard("2/3").index, 2);
    EXPECT_EQ(parse_shard("2/3").count, 3);
    EXPECT_EQ(parse_shard("1/1").count, 1);
    EXPECT_EQ(test::refusal([] { parse_shard("4/3"); }),
              "--shard '4/3': expected which of how many, from 1/3 on, as 2/3");
    for (const char* wrong :
         {"", "2", "0/3", "/3", "2/", "a/b", "-1/3", "2/3x", "1/20000", "2/3/4"}) {
        EXPECT_NE(test::refusal([&] { parse_shard(wrong); }), "") << wrong;
    }
}

TEST(SuiteShard, SaysHowTheWholeIsGated) {
    const auto gates = [](const model::Plan& plan, std::int64_t index) {
        model::Plan part = plan;
        return take_shard(part, {index, 2}).whole.at(0).gates;
    };
    model::Plan plan = plan_of_two();
    plan.suites[0].cases[0].gates = {{"gpu_time", {0.03, std::nullopt, 0}, 0.05}};
    const std::string before = gates(plan, 1);
    EXPECT_EQ(before, gates(plan, 2));
    plan.suites[0].cases[0].gates[0].tolerance.worse = 0.5;
    EXPECT_NE(before, gates(plan, 2));
    plan.suites[0].cases[0].gates[0].tolerance.worse = 0.03;
    EXPECT_EQ(before, gates(plan, 2));
    plan.suites[0].cases[0].gates[0].tolerance.severity = model::Severity::warn;
    EXPECT_NE(before, gates(plan, 2));
    plan.suites[0].cases[0].gates[0].tolerance.severity = std::nullopt;
    plan.suites[0].cases[0].gates[0].tolerance.tail = 0.2;
    EXPECT_NE(before, gates(plan, 2));
    plan.suites[0].cases[0].gates[0].tolerance.tail = std::nullopt;
    plan.suites[0].relations.emplace_back().left_text = "w/v.gpu_time";
    EXPECT_NE(before, gates(plan, 2));
}

}  // namespace
}  // namespace perfgate::suite

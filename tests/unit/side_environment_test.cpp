// SPDX-License-Identifier: Apache-2.0
#include "runner/side_environment.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kinds/command/command.hpp"
#include "runner/plan.hpp"
#include "util/error.hpp"

namespace perfgate::runner {
namespace {

std::string problem_of(const std::vector<std::string>& words) {
    try {
        variables_of("--base-env", words);
    } catch (const util::InputError& error) {
        return error.what();
    }
    return "";
}

TEST(RunnersSideEnvironment, ValuesAreTakenAsTheyAre) {
    const model::Variables expected{{"A", ""}, {"_b1", "x=y {n} $HOME"}};
    EXPECT_EQ(variables_of("--head-env", {"A=", "_b1=x=y {n} $HOME"}), expected);
    EXPECT_TRUE(variables_of("--head-env", {}).empty());
}

TEST(RunnersSideEnvironment, WhatIsNoVariableOrPerfgatesOwnIsRefused) {
    EXPECT_EQ(problem_of({"PATH"}), "--base-env PATH: expected NAME=VALUE");
    EXPECT_EQ(problem_of({"=x"}),
              "--base-env: '' is not the name of a variable; expected letters, digits and '_'");
    EXPECT_EQ(problem_of({"A-B=x"}),
              "--base-env: 'A-B' is not the name of a variable; expected letters, digits and '_'");
    for (const std::string name : {"CUDA_VISIBLE_DEVICES", "CUDA_INJECTION64_PATH",
                                   "NVTX_INJECTION64_PATH", "PERFGATE_PROGRAM"}) {
        EXPECT_EQ(problem_of({"A=1", name + "=x"}),
                  "--base-env: '" + name + "' is set by perfgate; expected another variable");
    }
    EXPECT_EQ(problem_of({"A=1", "B=1", "A=1"}), "--base-env: 'A' is given twice");
    EXPECT_EQ(problem_of({"A=x{out}"}),
              "--base-env: '{out}' in the value of 'A' is replaced only in a suite's 'env'");
}

TEST(RunnersSideEnvironment, TakesThePlaceOfTheSuitesVariablesOfTheSameName) {
    command::Command command;
    command.environment = {{"A", "suite"}, {"B", "suite"}};
    command.folder = "/here";
    model::Plan plan;
    plan.suites.resize(1);
    plan.suites[0].cases.resize(1);
    plan.suites[0].cases[0].subject = std::make_shared<const command::Program>(
        std::make_shared<const command::Command>(command), command::Piece{});
    // Without a root, programs stay where they are.
    const model::Plan side = in_checkout(plan, {"", "", {{"B", "side"}, {"C", "side"}}});
    const auto& placed = command::command_of(*side.suites[0].cases[0].subject);
    EXPECT_EQ(placed.environment, (model::Variables{{"A", "suite"}, {"B", "side"}, {"C", "side"}}));
    EXPECT_EQ(placed.overridden, (std::vector<std::string>{"B", "C"}));
    EXPECT_EQ(placed.folder, "/here");
}

TEST(RunnersSideEnvironment, NamesTheVariablesThatDiffer) {
    EXPECT_EQ(differing_names({}, {}), "");
    EXPECT_EQ(differing_names({{"A", "1"}}, {{"A", "1"}}), "");
    EXPECT_EQ(differing_names({{"SAME", "1"}, {"P", "1"}, {"B", "1"}},
                              {{"B", "2"}, {"SAME", "1"}, {"A", "1"}}),
              "A, B, P");
}

}  // namespace
}  // namespace perfgate::runner

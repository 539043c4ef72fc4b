// SPDX-License-Identifier: Apache-2.0
#include "runner/sides.hpp"

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
        side_of("--base", words);
    } catch (const util::InputError& error) {
        return error.what();
    }
    return "";
}

TEST(RunnersSides, ValuesAreTakenAsTheyAre) {
    const model::Variables expected{{"A", ""}, {"_b1", "x=y {n} $HOME"}};
    EXPECT_EQ(side_of("--head", {"env:A=", "env:_b1=x=y {n} $HOME"}).variables, expected);
    EXPECT_TRUE(side_of("--head", {}).variables.empty());
}

TEST(RunnersSides, WhatIsNoVariableOrPerfgatesOwnIsRefused) {
    EXPECT_EQ(problem_of({"env:PATH"}), "--base env:PATH: expected env:NAME=VALUE");
    EXPECT_EQ(problem_of({"env:=x"}),
              "--base env: '' is not the name of a variable; expected letters, digits and '_'");
    EXPECT_EQ(problem_of({"env:A-B=x"}),
              "--base env: 'A-B' is not the name of a variable; expected letters, digits and '_'");
    for (const std::string name : {"CUDA_VISIBLE_DEVICES", "CUDA_INJECTION64_PATH",
                                   "NVTX_INJECTION64_PATH", "PERFGATE_PROGRAM"}) {
        EXPECT_EQ(problem_of({"env:A=1", "env:" + name + "=x"}),
                  "--base env: '" + name + "' is set by perfgate; expected another variable");
    }
    EXPECT_EQ(problem_of({"env:A=1", "env:B=1", "env:A=1"}), "--base env: 'A' is given twice");
    EXPECT_EQ(problem_of({"env:A=x{out}"}),
              "--base env: '{out}' in the value of 'A' is replaced only in a suite's 'env'");
}

TEST(RunnersSides, AreBuildsRevisionsCheckoutsAndVariablesTogether) {
    const Side side = side_of("--base", {"rev:main^{commit}", "build:.", "env:A=x:y"});
    EXPECT_EQ(side.revision, "main^{commit}");
    EXPECT_EQ(side.build, ".");
    EXPECT_EQ(side.folder, "");
    EXPECT_EQ(side.variables, (model::Variables{{"A", "x:y"}}));
    EXPECT_EQ(side_of("--base", {"dir:."}).folder, ".");
}

TEST(RunnersSides, WhatIsNoSideIsRefused) {
    for (const std::string word : {"main", "./build", "/builds/new", "rev=main", "file:x", "env",
                                   "build:", "rev:", "dir:", "build:absent", "dir:absent"}) {
        EXPECT_TRUE(problem_of({word}).starts_with("--base " + word + ": ")) << word;
    }
    EXPECT_NE(problem_of({"rev:a", "rev:b"}).find("given twice"), std::string::npos);
    EXPECT_NE(problem_of({"rev:a", "dir:."}).find("leave out dir:"), std::string::npos);
}

TEST(RunnersSides, TakesThePlaceOfTheSuitesVariablesOfTheSameName) {
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

TEST(RunnersSides, NamesTheVariablesThatDiffer) {
    EXPECT_EQ(differing_names({}, {}), "");
    EXPECT_EQ(differing_names({{"A", "1"}}, {{"A", "1"}}), "");
    EXPECT_EQ(differing_names({{"SAME", "1"}, {"P", "1"}, {"B", "1"}},
                              {{"B", "2"}, {"SAME", "1"}, {"A", "1"}}),
              "A, B, P");
}

}  // namespace
}  // namespace perfgate::runner

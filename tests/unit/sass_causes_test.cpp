// SPDX-License-Identifier: Apache-2.0
#include "sass/difference.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace perfgate::sass {
namespace {

struct Sampled {
    std::string text;
    std::int64_t line = 1;
    std::string reason{};  ///< empty: no samples
};

/// Ten samples at each instruction with a reason.
model::Listing sampled(const std::vector<Sampled>& code,
                       std::map<std::string, std::size_t> labels = {}) {
    model::Listing made;
    for (const Sampled& at : code) {
        const auto address = static_cast<std::int64_t>(16 * made.instructions.size());
        made.instructions.push_back({address, at.text, {"k.cu", at.line}});
        if (!at.reason.empty()) made.instructions.back().samples.reasons[at.reason] = 10;
    }
    made.labels = std::move(labels);
    return made;
}

/// Which instruction causes the only samples.
std::size_t cause(const model::Listing& of) {
    const std::vector<model::Samples> all = samples_by_cause(of);
    std::size_t found = all.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].reasons.empty()) continue;
        EXPECT_EQ(found, all.size()) << "two have samples: " << found << " and " << i;
        EXPECT_EQ(all[i].all(), 10);
        found = i;
    }
    return found;
}

constexpr const char* long_wait = "long_scoreboard";

TEST(SassCauses, AWarpThatWaitsForMemoryWaitsForTheLoad) {
    EXPECT_EQ(cause(sampled({{"LDG.E R5, desc[UR4][R4.64]", 6},
                             {"IADD3 R9, R2, R3, RZ", 7},
                             {"FFMA R7, R6, R5, 0.5", 5, long_wait}})),
              0U);
    // A vector's third element.
    EXPECT_EQ(
        cause(sampled({{"LDG.E.128 R4, desc[UR4][R2.64]"}, {"FADD R0, R6, R6", 2, long_wait}})),
        0U);
    EXPECT_EQ(
        cause(sampled({{"LDG.E.64 R4, desc[UR4][R2.64]"}, {"FADD R0, R6, R6", 2, long_wait}})), 1U);
}

TEST(SassCauses, AnOperandThatIsWrittenAgainIsNotTheLoads) {
    EXPECT_EQ(cause(sampled({{"LDG.E R5, desc[UR4][R4.64]", 6},
                             {"MOV R5, R2", 7},
                             {"FFMA R7, R6, R5, 0.5", 5, long_wait}})),
              2U);
    // Unless the write may not happen.
    EXPECT_EQ(cause(sampled({{"LDG.E R5, desc[UR4][R4.64]", 6},
                             {"@P0 MOV R5, R2", 7},
                             {"FFMA R7, R6, R5, 0.5", 5, long_wait}})),
              0U);
}

TEST(SassCauses, AReasonWaitsForTheInstructionsThatCanCauseIt) {
    const auto made_by = [](const std::string& text, const std::string& reason) {
        return cause(sampled({{text, 6}, {"FADD R7, R5, R5", 5, reason}})) == 0;
    };
    EXPECT_TRUE(made_by("LDL R5, [R1+0x10]", long_wait));
    EXPECT_FALSE(made_by("LDS R5, [R1+0x10]", long_wait));
    EXPECT_FALSE(made_by("FADD R5, R1, R2", long_wait));
    EXPECT_TRUE(made_by("LDS R5, [R1+0x10]", "short_scoreboard"));
    EXPECT_TRUE(made_by("MUFU.RCP R5, R1", "short_scoreboard"));
    EXPECT_TRUE(made_by("S2R R5, SR_TID.X", "short_scoreboard"));
    EXPECT_FALSE(made_by("MOV R5, R1", "short_scoreboard"));
    EXPECT_FALSE(made_by("LDG.E R5, desc[UR4][R4.64]", "not_selected"));
}

TEST(SassCauses, LoadsOfSeveralLinesLeaveTheSamplesWhereTheyAre) {
    EXPECT_EQ(cause(sampled({{"LDG.E R5, desc[UR4][R4.64]", 6},
                             {"LDG.E R6, desc[UR4][R2.64]", 6},
                             {"FADD R7, R6, R5", 5, long_wait}})),
              1U);
    EXPECT_EQ(cause(sampled({{"LDG.E R5, desc[UR4][R4.64]", 6},
                             {"LDG.E R6, desc[UR4][R2.64]", 7},
                             {"FADD R7, R6, R5", 5, long_wait}})),
              2U);
}

TEST(SassCauses, ALoadOfTheLoopsLastRoundIsFound) {
    const std::vector<Sampled> rounds{{"MOV R5, RZ", 1},
                                      {"FADD R7, R5, R7", 2, long_wait},
                                      {"LDG.E R5, desc[UR4][R2.64]", 3},
                                      {"@P0 BRA `(.L_x_0)", 4}};
    EXPECT_EQ(cause(sampled(rounds, {{".L_x_0", 1}})), 2U);
    EXPECT_EQ(cause(sampled(rounds, {{".L_x_0", 3}})), 1U);
}

TEST(SassCauses, WhatIsNotKnownOfTheWayHereKeepsTheSamples) {
    // The called function may write R5.
    EXPECT_EQ(cause(sampled({{"LDG.E R5, desc[UR4][R4.64]"},
                             {"CALL.REL.NOINC `($k$step)"},
                             {"FADD R7, R5, R7", 2, long_wait}})),
              2U);
    // Who jumps behind the end is not known.
    EXPECT_EQ(cause(sampled(
                  {{"LDG.E R5, desc[UR4][R4.64]"}, {"EXIT"}, {"FADD R7, R5, R7", 2, long_wait}})),
              2U);
}

TEST(SassCauses, AWarpAtABarrierOrABranchIsSampledBehindIt) {
    EXPECT_EQ(
        cause(sampled({{"BAR.SYNC.DEFER_BLOCKING 0x0", 10}, {"@P0 BRA `(.L_x_0)", 8, "barrier"}})),
        0U);
    EXPECT_EQ(cause(sampled({{"RET.REL.NODEC R2 `(k)"}, {"BRA `(.L_x_1)", 2, "branch_resolving"}})),
              0U);
    EXPECT_EQ(cause(sampled({{"FADD R1, R2, R3"}, {"FADD R7, R5, R7", 2, "barrier"}})), 1U);
    EXPECT_EQ(cause(sampled({{"FADD R7, R5, R7", 2, "barrier"}})), 0U);
}

TEST(SassCauses, AWarpThatWaitsAtItsEndWaitsForTheStoresIfTheyAreOfOneLine) {
    const auto with = [](std::int64_t line) {
        return sampled({{"STG.E desc[UR4][R2.64], R5", 7},
                        {"STG.E desc[UR4][R2.64+0x4], R6", line},
                        {"EXIT", 9},
                        {"BRA `(.L_x_1)", 9, "drain"}});
    };
    EXPECT_EQ(cause(with(7)), 1U);
    // Of several lines: none of them causes it.
    EXPECT_EQ(cause(with(8)), 4U);
}

TEST(SassCauses, OfVeryMuchCodeTheSamplesStayWhereFollowingItWouldTakeTooLong) {
    constexpr std::size_t many = 20000;
    std::vector<Sampled> code{{"LDG.E R5, desc[UR4][R4.64]", 6}};
    code.resize(many, {"FADD R7, R5, R5", 5, long_wait});
    const std::vector<model::Samples> all = samples_by_cause(sampled(code));
    EXPECT_GT(all[0].all(), 10);
    EXPECT_EQ(all[many - 1].all(), 10);
    std::int64_t counted = 0;
    for (const model::Samples& each : all) counted += each.all();
    EXPECT_EQ(counted, 10 * static_cast<std::int64_t>(many - 1));
}

TEST(SassCauses, OtherSamplesStayCounted) {
    model::Listing of = sampled(
        {{"LDG.E R5, desc[UR4][R4.64]", 6, "selected"}, {"FFMA R7, R6, R5, 0.5", 5, long_wait}});
    of.instructions[1].samples.reasons["wait"] = 3;
    const std::vector<model::Samples> all = samples_by_cause(of);
    EXPECT_EQ(all[0].reasons,
              (std::map<std::string, std::int64_t>{{"selected", 10}, {long_wait, 10}}));
    EXPECT_EQ(all[1].reasons, (std::map<std::string, std::int64_t>{{"wait", 3}}));
    EXPECT_EQ(samples_by_cause(model::Listing{}).size(), 0U);
}

}  // namespace
}  // namespace perfgate::sass

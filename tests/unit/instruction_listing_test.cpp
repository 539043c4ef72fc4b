// SPDX-License-Identifier: Apache-2.0
// Listings of nvdisasm 13.0 (-c -gi) for sm_90a: tests/data/listings. `base` loads vectors,
// `scalar` their elements one by one, and `const` has another constant.
#include "elf/instruction_listing.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace perfgate::elf {
namespace {

std::string listing(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(PERFGATE_TEST_DATA_DIR "/listings/" + name + ".txt").rdbuf();
    return text.str();
}

Instructions blend(const std::string& name, const std::string& folder = "/src/app") {
    return read_listing(listing(name), folder).at("blend");
}

TEST(InstructionListing, EveryFunctionHasItsInstructionsWithoutPadding) {
    const auto functions = read_listing(listing("base"), "/src/app");
    ASSERT_EQ(functions.size(), 2U);
    const Instructions& other = functions.at("_Z5otherP7__half2");
    EXPECT_EQ(other.at("LDG.E"), (InstructionUse{1, {"blend.cu", 32}}));
    EXPECT_EQ(other.at("HFMA2.MMA"), (InstructionUse{1, {"blend.cu", 32}}));
    EXPECT_FALSE(other.contains("NOP"));
    EXPECT_EQ(other.at("EXIT").count, 1);
}

TEST(InstructionListing, AVectorLoadThatIsLostShowsWithItsLine) {
    const Instructions before = blend("base"), now = blend("scalar");
    EXPECT_EQ(before.at("LDG.E.128.CONSTANT"), (InstructionUse{8, {"blend.cu", 19}}));
    EXPECT_FALSE(before.contains("LDG.E.CONSTANT"));
    EXPECT_EQ(now.at("LDG.E.CONSTANT"), (InstructionUse{32, {"blend.cu", 19}}));
    EXPECT_FALSE(now.contains("LDG.E.128.CONSTANT"));
    EXPECT_EQ(before.at("FFMA"), now.at("FFMA"));
}

TEST(InstructionListing, AnotherConstantShowsIfItTakesAnotherInstruction) {
    EXPECT_EQ(blend("base").at("FMUL").count + 1, blend("const").at("FMUL").count);
    EXPECT_EQ(blend("base").at("FADD").count - 1, blend("const").at("FADD").count);
}

TEST(InstructionListing, InlinedCodeIsPlacedWhereTheFolderHasItElseWhereItIsInlined) {
    EXPECT_EQ(blend("base").at("FMUL").place, (model::SourcePlace{"blend.cu", 2}));
    // Nothing lies in this folder: the outermost place, as the listing has it.
    EXPECT_EQ(blend("base", "/elsewhere").at("FMUL").place,
              (model::SourcePlace{"/src/app/blend.cu", 20}));
}

TEST(InstructionListing, AnArchitectureWithBracesAndPredicatesIsRead) {
    const std::string text =
        "\t.section\t.text.k,\"ax\",@progbits\n"
        "        /*0008*/                   { IADD R1, R2, R3 ;\n"
        "        /*0010*/         @!PT      LDG.E R0, [R2] }\n"
        "        /*0018*/              @UP0 UIADD3 UR4, UR4, 0x1, URZ ;\n";
    const Instructions found = read_listing(text, "/").at("k");
    EXPECT_EQ(found.at("IADD").count, 1);
    EXPECT_EQ(found.at("LDG.E").count, 1);
    EXPECT_EQ(found.at("UIADD3").count, 1);
    EXPECT_EQ(found.at("IADD").place.line, 0);
}

TEST(InstructionListing, WhatIsNoListingHasNoInstructions) {
    EXPECT_TRUE(read_listing("", "/").empty());
    EXPECT_TRUE(read_listing("/*0000*/ MOV R1, R2 ;\n", "/").empty());  // of no function
    const std::string text =
        "\t.section\t.text.k,\"ax\"\n/*\n/**/\n/*0*/ @\n/*0*/ @P0\n//## File \"a\", line x\n"
        "//## File \"\n//## File \"a\", line 99999999999999999999\n/*0*/ $bad;\n\t.section\t.text.";
    EXPECT_TRUE(read_listing(text, "/").empty());
}

}  // namespace
}  // namespace perfgate::elf

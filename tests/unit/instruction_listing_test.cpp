// SPDX-License-Identifier: Apache-2.0
// Listings of nvdisasm 13.0 (-c -gi) for sm_90a: tests/data/listings. `base` loads vectors,
// `scalar` their elements one by one, and `const` has another constant.
#include "elf/instruction_listing.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace perfgate::elf {
namespace {

using model::Instruction;
using model::Listing;

std::string listing(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(PERFGATE_TEST_DATA_DIR "/listings/" + name + ".txt").rdbuf();
    return text.str();
}

using Uses = std::map<std::string, InstructionUse>;

Uses uses(const std::string& text, const std::string& symbol, const std::string& folder = "/") {
    return instruction_uses(read_listing(text, symbol, folder).value());
}

Uses blend(const std::string& name, const std::string& folder = "/src/app") {
    return uses(listing(name), "blend", folder);
}

TEST(InstructionListing, EveryFunctionHasItsInstructionsWithoutPadding) {
    const Uses other = uses(listing("base"), "_Z5otherP7__half2", "/src/app");
    EXPECT_EQ(other.at("LDG.E"), (InstructionUse{1, {"blend.cu", 32}}));
    EXPECT_EQ(other.at("HFMA2.MMA"), (InstructionUse{1, {"blend.cu", 32}}));
    EXPECT_FALSE(other.contains("NOP"));
    EXPECT_EQ(other.at("EXIT").count, 1);
}

TEST(InstructionListing, AVectorLoadThatIsLostShowsWithItsLine) {
    const Uses before = blend("base"), now = blend("scalar");
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
    const Uses found = uses(text, "k");
    EXPECT_EQ(found.at("IADD").count, 1);
    EXPECT_EQ(found.at("LDG.E").count, 1);
    EXPECT_EQ(found.at("UIADD3").count, 1);
    EXPECT_EQ(found.at("IADD").place.line, 0);
}

TEST(InstructionListing, AFunctionHasTheTextsAddressesAndLabelsOfItsInstructions) {
    const Listing found = read_listing(listing("base"), "_Z5otherP7__half2", "/src/app").value();
    ASSERT_EQ(found.instructions.size(), 10U);
    EXPECT_EQ(found.instructions[5],
              (Instruction{0x50, "LDG.E R0, desc[UR4][R2.64]", {"blend.cu", 32}}));
    EXPECT_EQ(found.instructions.back().text, "BRA `(.L_x_0)");
    EXPECT_EQ(found.labels, (std::map<std::string, std::size_t>{{".L_x_0", 9}, {".L_x_14", 10}}));
}

TEST(InstructionListing, WhatIsNoListingHasNoInstructions) {
    EXPECT_FALSE(read_listing("", "k", "/"));
    EXPECT_FALSE(read_listing("/*0000*/ MOV R1, R2 ;\n", "k", "/"));  // of no function
    EXPECT_FALSE(read_listing(listing("base"), "blen", "/"));
    const std::string text =
        "\t.section\t.text.k,\"ax\"\n/*\n/**/\n/*0*/ @\n/*0*/ @P0\n//## File \"a\", line x\n"
        "//## File \"\n//## File \"a\", line 99999999999999999999\n/*0*/ $bad;\n"
        "/*0x*/ MOV R1, R2 ;\n/*-1*/ MOV R1, R2 ;\n/*0*/ MOV R1, \x01 ;\n\t.section\t.text.";
    EXPECT_EQ(read_listing(text, "k", "/"), Listing{});
}

}  // namespace
}  // namespace perfgate::elf

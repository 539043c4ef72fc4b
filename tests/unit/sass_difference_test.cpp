// SPDX-License-Identifier: Apache-2.0
// Listings as nvdisasm prints them, tests/data/listings among them: `base` loads vectors, `scalar`
// their elements one by one, and `const` has another constant.
#include "sass/difference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "document/kernel_code.hpp"
#include "elf/instruction_listing.hpp"
#include "sass/text.hpp"
#include "util/error.hpp"

namespace perfgate::sass {
namespace {

model::Listing recorded(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(PERFGATE_TEST_DATA_DIR "/listings/" + name + ".txt").rdbuf();
    return elf::read_listing(text.str(), "blend", "/src/app").value();
}

/// Lines that begin with '.' are labels, with '#' the line of k.cu that the next ones come from.
model::Listing listing(const std::string& lines) {
    std::istringstream in(lines);
    std::string line, text = "\t.section\t.text.k,\"ax\"\n";
    int address = 0;
    while (std::getline(in, line)) {
        if (line.starts_with(".")) {
            text += line + ":\n";
        } else if (line.starts_with("#")) {
            text += "//## File \"/k.cu\", line " + line.substr(1) + "\n";
        } else {
            std::ostringstream hex;
            hex << std::hex << address++ * 16;
            text += "/*" + hex.str() + "*/ " + line + " ;\n";
        }
    }
    return elf::read_listing(text, "k", "/").value();
}

bool equal(const Difference& difference) {
    return std::all_of(difference.rows.begin(), difference.rows.end(),
                       [](const Row& row) { return row.mark == Mark::same; });
}

Difference compared(const std::string& before, const std::string& after) {
    return difference(listing(before), listing(after));
}

std::size_t count(const Difference& of, Mark mark) {
    return static_cast<std::size_t>(std::count_if(
        of.rows.begin(), of.rows.end(), [&](const Row& row) { return row.mark == mark; }));
}

std::vector<std::string> rows(const std::string& before, const std::string& after) {
    const model::Listing left = listing(before), right = listing(after);
    return rows_text(left, right, difference(left, right), 100);
}

const std::string loop =
    "#1\nS2R R0, SR_TID.X\nLDC.64 R2, c[0x0][0x210]\nIMAD.WIDE R2, R0, 0x4, R2\n.L_x_1\n#2\n"
    "LDG.E R4, desc[UR4][R2.64]\nFFMA R6, R4, R4, R6\nIADD3 R0, R0, 0x1, RZ\n"
    "ISETP.GE.AND P0, PT, R0, 0x10, PT\n@!P0 BRA `(.L_x_1)\n#3\nSTG.E desc[UR4][R2.64], R6\nEXIT\n";

std::string with(std::string text, const std::string& part, const std::string& other) {
    const std::size_t at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return text.replace(at, part.size(), other);
}

TEST(SassDifference, TheSameCodeIsEqual) {
    for (const char* name : {"base", "scalar", "const"}) {
        EXPECT_TRUE(equal(difference(recorded(name), recorded(name))));
    }
    EXPECT_TRUE(equal(compared(loop, loop)));
    EXPECT_TRUE(equal(compared("", "")));
}

TEST(SassDifference, OtherRegistersLabelsAddressesAndHashedNamesAreEqual) {
    std::string renamed = loop;
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {"R0", "R10"}, {"R2", "R12"}, {"R4", "R20"}, {"R6", "R7"}, {"P0", "P3"}}) {
        for (std::size_t at = 0; (at = renamed.find(from, at)) != std::string::npos;) {
            const bool whole = at == 0 || (renamed[at - 1] != 'U' && renamed[at - 1] != 'S');
            if (whole) renamed.replace(at, from.size(), to);
            at += to.size();
        }
    }
    for (std::size_t at = 0; (at = renamed.find(".L_x_1", at)) != std::string::npos;) {
        renamed.replace(at, 6, ".L_x_77");
    }
    const Difference found = compared(loop, renamed);
    EXPECT_TRUE(equal(found)) << found.sentence;
    EXPECT_TRUE(equal(compared("CALL.REL `(_ZN37_INTERNAL_8bdb2c5d_2_k_3fooE)",
                               "CALL.REL `(_ZN37_INTERNAL_0123abcd_2_k_3fooE)")));
    EXPECT_NE(found.sentence.find("same instructions"), std::string::npos);
}

TEST(SassDifference, AVectorLoadThatIsLostIsNamedWithItsLine) {
    const Difference found = difference(recorded("base"), recorded("scalar"));
    ASSERT_GE(found.opcodes.size(), 2U);
    EXPECT_EQ(found.opcodes[0], (Count{"LDG.E.CONSTANT", 0, 32, {"blend.cu", 19}}));
    EXPECT_EQ(found.opcodes[1].name, "LDG.E.128.CONSTANT");
    EXPECT_TRUE(found.sentence.starts_with(
        "LDG.E.CONSTANT 0 → 32 at blend.cu:19, LDG.E.128.CONSTANT 8 → 0"))
        << found.sentence;
    const auto memory =
        std::find_if(found.classes.begin(), found.classes.end(),
                     [](const Count& each) { return each.name == "global memory"; });
    ASSERT_NE(memory, found.classes.end());
    EXPECT_EQ(memory->after - memory->before, 24);
    EXPECT_EQ(found.lines.front().after, (model::SourcePlace{"blend.cu", 19}));
}

TEST(SassDifference, AccessesToMemoryAreNamedBeforeWhatChangedMore) {
    const Difference found = compared("LDG.E.128 R4, desc[UR4][R2.64]\nEXIT\n",
                                      "FADD R1, R1, R2\nFADD R2, R1, R2\nEXIT\n");
    EXPECT_EQ(found.opcodes.front().name, "FADD");
    EXPECT_TRUE(found.sentence.starts_with("LDG.E.128 1 → 0, FADD 0 → 2")) << found.sentence;
}

TEST(SassDifference, AConstantThatChangesIsOneRowOnEachSide) {
    const std::string after = with(loop, "0x10, PT", "0x20, PT");
    const Difference found = compared(loop, after);
    EXPECT_EQ(count(found, Mark::removed), 1U);
    EXPECT_EQ(count(found, Mark::added), 1U);
    EXPECT_EQ(count(found, Mark::operands), 0U);
    EXPECT_TRUE(found.opcodes.empty());
    EXPECT_EQ(found.sentence,
              "1 with other operands (ISETP.GE.AND P0, PT, R0, 0x10, PT → ISETP.GE.AND P0, PT, "
              "R0, 0x20, PT at k.cu:2)");
}

TEST(SassDifference, WhatMattersIsNeverEqual) {
    const auto differs = [](const std::string& part, const std::string& other) {
        return !equal(compared(loop, with(loop, part, other)));
    };
    EXPECT_TRUE(differs("FFMA R6, R4, R4, R6", "FFMA R6, R4, R0, R6"));  // x*x, x*y
    EXPECT_TRUE(differs("FFMA R6, R4, R4, R6", "FFMA R6, R4, R4, R4"));
    EXPECT_TRUE(differs("FFMA R6, R4, R4, R6", "FFMA R6, -R4, R4, R6"));
    EXPECT_TRUE(differs("FFMA R6, R4, R4, R6", "FFMA R6, R4.reuse, R4, R6"));
    EXPECT_TRUE(differs("FFMA R6, R4, R4, R6", "FFMA R8, R4, R4, R6"));  // the loop's value
    EXPECT_TRUE(differs("LDG.E R4", "LDG.E.EF R4"));                     // the cache operator
    EXPECT_TRUE(differs("LDG.E R4", "LDG.E.CONSTANT R4"));
    EXPECT_TRUE(differs("[R2.64]\nFFMA", "[R2.64+0x4]\nFFMA"));
    EXPECT_TRUE(differs("c[0x0][0x210]", "c[0x0][0x218]"));
    EXPECT_TRUE(differs("@!P0 BRA", "@P0 BRA"));
    EXPECT_TRUE(differs("@!P0 BRA", "BRA"));
    EXPECT_TRUE(differs(", R6\nEXIT", ", R4\nEXIT"));  // another value is stored
    EXPECT_TRUE(differs("SR_TID.X", "SR_TID.Y"));
    EXPECT_TRUE(differs("EXIT\n", "EXIT\nEXIT\n"));
    // A branch to somewhere else.
    EXPECT_TRUE(differs(".L_x_1\n#2\nLDG.E R4, desc[UR4][R2.64]\n",
                        "LDG.E R4, desc[UR4][R2.64]\n.L_x_1\n#2\n"));
}

TEST(SassDifference, LoadsThatChangePlacesAreInAnotherOrder) {
    const std::string first = "LDG.E R4, desc[UR4][R2.64]\n",
                      second = "LDG.E R5, desc[UR4][R2.64+0x10]\n", use = "FADD R6, R4, R5\nEXIT\n";
    const Difference found = compared("#7\n" + first + second + use, "#7\n" + second + first + use);
    EXPECT_FALSE(equal(found));
    EXPECT_TRUE(found.opcodes.empty());
    EXPECT_NE(found.sentence.find("1 in another order (LDG.E at k.cu:7)"), std::string::npos)
        << found.sentence;
    // Of two pointers: the instructions are alike, what they take is not.
    const std::string pointers = "#7\nLDC.64 R2, c[0x0][0x210]\nLDC.64 R8, c[0x0][0x218]\n";
    const std::string of_a = "LDG.E R4, desc[UR4][R2.64]\n", of_b = "LDG.E R5, desc[UR4][R8.64]\n";
    EXPECT_FALSE(equal(compared(pointers + of_a + of_b + use, pointers + of_b + of_a + use)));
}

TEST(SassDifference, SpillsAreNamed) {
    const Difference found =
        compared("#4\nEXIT\n", "#4\nSTL [R1+0x4], R2\nSTL [R1+0x8], R3\nLDL R2, [R1+0x4]\nEXIT\n");
    EXPECT_NE(found.sentence.find("STL 0 → 2 at k.cu:4 (spills)"), std::string::npos)
        << found.sentence;
}

TEST(SassDifference, AnInsertionLeavesTheRestAlone) {
    const Difference found = compared(loop, with(loop, "FFMA R6", "MUFU.EX2 R9, R0\nFFMA R6"));
    EXPECT_EQ(count(found, Mark::added), 1U);
    EXPECT_EQ(count(found, Mark::operands) + count(found, Mark::removed), 0U);
    EXPECT_EQ(found.sentence, "MUFU.EX2 0 → 1 at k.cu:2");
}

TEST(SassDifference, RowsAreFoldedAndMarked) {
    EXPECT_EQ(rows(loop, with(loop, "@!P0 BRA", "@P0 BRA")),
              (std::vector<std::string>{"  … 5 the same", "  IADD3 R0, R0, 0x1, RZ  // k.cu:2",
                                        "  ISETP.GE.AND P0, PT, R0, 0x10, PT",
                                        "- @!P0 BRA `(.L_x_1)", "+ @P0 BRA `(.L_x_1)",
                                        "  STG.E desc[UR4][R2.64], R6  // k.cu:3", "  EXIT"}));
    EXPECT_TRUE(rows(loop, loop).empty());
}

TEST(SassDifference, ALineThatMovedIsOneLine) {
    std::string moved = loop;
    moved = with(with(with(moved, "#1", "#11"), "#2", "#12"), "#3", "#13");
    const Difference found = compared(loop, with(moved, "EXIT", "MUFU.EX2 R9, R0\nEXIT"));
    ASSERT_EQ(found.lines.size(), 3U);
    EXPECT_EQ(found.lines[0].before, (model::SourcePlace{"k.cu", 3}));
    EXPECT_EQ(found.lines[0].after, (model::SourcePlace{"k.cu", 13}));
    EXPECT_EQ(found.lines[0].changed, 1);
    EXPECT_EQ(lines_text(found, 10),
              (std::vector<std::string>{"k.cu:13 (was :3)  instructions 2 → 3  MUFU.EX2 0 → 1"}));
}

TEST(SassDifference, SourceLinesBeyondTheMostAreCounted) {
    const Difference found =
        compared("", "#1\nMUFU.EX2 R1, R0\n#2\nFADD R2, R1, R1\n#3\nFMUL R3, R2, R2\n");
    const std::vector<std::string> lines = lines_text(found, 1);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[1], "… and 2 more source lines");
}

TEST(SassDifference, ALargeKernelThatChangedAltogetherIsCounted) {
    std::string before, after;
    for (int i = 0; i < 20000; ++i) {
        before += "FADD R" + std::to_string(i % 200) + ", R1, " + std::to_string(i) + "\n";
        after += "FMUL R" + std::to_string(i % 200) + ", R1, " + std::to_string(i) + "\n";
    }
    const Difference found = compared(before, after);
    EXPECT_EQ(found.sentence, "FADD 20000 → 0, FMUL 0 → 20000");
    EXPECT_EQ(found.rows.size(), 40000U);
}

TEST(SassDifference, ACaseHasEachKernelThatChanged) {
    const auto kernel = [](const std::string& name, const std::string& code,
                           const std::string& text) {
        return model::KernelCode{name, code, listing(text)};
    };
    model::CaseCode base, head;
    base.kernels = {kernel("same", "1", loop), kernel("other", "2", loop)};
    head.kernels = {kernel("other", "3", with(loop, "@!P0 BRA", "@P0 BRA")),
                    kernel("same", "1", loop), kernel("new", "4", loop)};
    const std::vector<std::string> text = case_text(&base, head);
    const auto has = [&](const std::string& line) {
        return std::find(text.begin(), text.end(), line) != text.end();
    };
    EXPECT_TRUE(has("same: the same machine code"));
    EXPECT_TRUE(has("new: 10 instructions; the base has no such kernel"));
    EXPECT_TRUE(has("    + @P0 BRA `(.L_x_1)"));
    EXPECT_EQ(case_text(nullptr, head).size(), 3U);
    head.kernels.clear();
    head.problem = "nvdisasm was not found";
    EXPECT_EQ(case_text(&base, head),
              (std::vector<std::string>{"machine code: nvdisasm was not found"}));
}

TEST(MachineCodeDocument, IsReadAsItWasWritten) {
    model::CaseCode code;
    code.suite = "s";
    code.id = "blend/a[n=1]";
    code.kernels = {{"blend", "0123", recorded("base"), 40}};
    code.kernels[0].listing.instructions[0].samples = {{{"barrier", 7}, {"wait", 2}}, 4};
    code.kernels[0].listing.instructions[0].executed = 4096;
    code.kernels[0].listing.instructions[1].executed = 0;
    code.counting_problem = "the device refuses";
    code.seconds = 1.5;
    EXPECT_EQ(document::parse_code(document::write_code({{code}, {}}), "code.json"),
              (model::KeptCode{{code}, {}}));
}

TEST(MachineCodeDocument, ALabelBehindTheCodeIsRefused) {
    model::CaseCode code;
    code.kernels = {{"blend", "0123", {{}, {{".L_x_0", 1}}}}};
    EXPECT_THROW(document::parse_code(document::write_code({{code}, {}}), "code.json"),
                 util::InputError);
    EXPECT_THROW(document::parse_code("{}", "code.json"), util::InputError);
}

TEST(MachineCodeDocument, AnImpossibleNumberOfExecutionsIsRefused) {
    const auto parse = [](std::int64_t executed) {
        model::CaseCode code;
        code.kernels = {{"blend", "0123", recorded("base"), 40}};
        code.kernels[0].listing.instructions[0].executed = executed;
        return document::parse_code(document::write_code({{code}, {}}), "code.json");
    };
    EXPECT_NO_THROW(parse(document::most_executions));
    EXPECT_THROW(parse(document::most_executions + 1), util::InputError);
    EXPECT_THROW(parse(-1), util::InputError);
}

TEST(MachineCodeDocument, AnImpossibleNumberOfSamplesIsRefused) {
    const auto parse = [](const model::Samples& samples) {
        model::CaseCode code;
        code.kernels = {{"blend", "0123", recorded("base"), 40}};
        code.kernels[0].listing.instructions[0].samples = samples;
        return document::parse_code(document::write_code({{code}, {}}), "code.json");
    };
    EXPECT_NO_THROW(parse({{{"wait", document::most_samples}}, 1}));
    EXPECT_THROW(parse({{{"wait", -1}}, 0}), util::InputError);
    EXPECT_THROW(parse({{{"wait", 1}, {"barrier", document::most_samples}}, 0}), util::InputError);
    EXPECT_THROW(parse({{{"wait", 1}}, 2}), util::InputError);
    EXPECT_THROW(parse({{{"wait", 1}}, -1}), util::InputError);
}

}  // namespace
}  // namespace perfgate::sass

// SPDX-License-Identifier: Apache-2.0
#include "report/columns.hpp"

#include <gtest/gtest.h>

namespace perfgate::report {
namespace {

using Lines = std::vector<std::string>;

TEST(DisplayWidth, CountsColumnsNotBytes) {
    EXPECT_EQ(display_width(""), 0U);
    EXPECT_EQ(display_width("gemm"), 4U);
    EXPECT_EQ(display_width("größe"), 5U);
    EXPECT_EQ(display_width("o\u0308"), 1U);  // a combining diaeresis
    EXPECT_EQ(display_width("寸法"), 4U);
    EXPECT_EQ(display_width("한글"), 4U);
    EXPECT_EQ(display_width("🚀"), 2U);
    EXPECT_EQ(display_width("→…"), 2U);
    EXPECT_EQ(display_width("\xff\xfe"), 2U);
}

TEST(CutMiddle, KeepsBothEnds) {
    EXPECT_EQ(cut_middle("gemm/tiled[m=1,n=2]", 19), "gemm/tiled[m=1,n=2]");
    EXPECT_EQ(cut_middle("gemm/tiled[m=1,n=2]", 11), "gemm/…,n=2]");
    EXPECT_EQ(cut_middle("abcdef", 1), "…");
    EXPECT_EQ(cut_middle("abcdef", 2), "a…");
    EXPECT_EQ(cut_middle("abcdef", 0), "");
}

TEST(CutMiddle, NeverExceedsTheWidth) {
    for (std::size_t width = 0; width < 12; ++width) {
        EXPECT_LE(display_width(cut_middle("寸法寸法o\u0308寸法", width)), width);
    }
    EXPECT_EQ(cut_middle("寸法寸法寸法", 6), "寸…法");
}

TEST(Wrap, BreaksAtSpaces) {
    EXPECT_EQ(wrap("one two three", 7), (Lines{"one two", "three"}));
    EXPECT_EQ(wrap("one two three", 0), (Lines{"one two three"}));
    EXPECT_EQ(wrap("", 7), (Lines{""}));
}

TEST(Wrap, LeavesLongWordsWhole) {
    EXPECT_EQ(wrap("a gemm/tiled[m=1,n=2] b", 7), (Lines{"a", "gemm/tiled[m=1,n=2]", "b"}));
}

TEST(Pad, AlignsByColumns) {
    EXPECT_EQ(pad("寸", 4, Align::left), "寸  ");
    EXPECT_EQ(pad("ö", 3, Align::right), "  ö");
    EXPECT_EQ(pad("longer", 3, Align::right), "longer");
}

TEST(Table, AlignsColumnsAndTrimsLines) {
    EXPECT_EQ(table({{"a", "1", "x"}, {"bb", "22", ""}},
                    {.indent = 2, .align = {Align::left, Align::right}}),
              "  a    1  x\n  bb  22\n");
    EXPECT_EQ(table({}), "");
}

TEST(Table, LeavesOutColumnsWithNothingUnderTheHead) {
    EXPECT_EQ(
        table({{"case", "empty", "time"}, {"", "", "5"}}, {.indent = 0, .leave_out_empty = true}),
        "case  time\n      5\n");
}

TEST(Table, CutsTheFirstColumnToFit) {
    const std::string id(40, 'x');
    const std::string text = table({{id, "5"}}, {.indent = 0, .width = 33});
    EXPECT_EQ(display_width(text.substr(0, text.find('\n'))), 33U);
    EXPECT_NE(text.find("…"), std::string::npos);
}

TEST(Table, LeavesOutColumnsInTheirOrderUntilRowsFitAndCutsLast) {
    const std::vector<std::vector<std::string>> rows{
        {"pass", std::string(30, 'x'), "10 µs", "+1 %"}};
    const auto line = [&](std::size_t width) {
        return table_lines(rows, {.indent = 0, .width = width, .drop = {2, 3}, .cut = 1}).at(0);
    };
    EXPECT_EQ(line(49), "pass  " + rows[0][1] + "  10 µs  +1 %");
    EXPECT_EQ(line(48), "pass  " + rows[0][1] + "  +1 %");
    EXPECT_EQ(line(41), "pass  " + rows[0][1]);
    EXPECT_EQ(display_width(line(35)), 35U);
    EXPECT_TRUE(line(35).starts_with("pass  xxx"));
    EXPECT_EQ(display_width(line(10)), 6U + 24U) << "no narrower: it would say nothing";
}

}  // namespace
}  // namespace perfgate::report

// SPDX-License-Identifier: Apache-2.0
#include "report/plain_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace perfgate::report {
namespace {

TEST(PlainText, KeepsWhatPeopleWrite) {
    const std::string text = "größe 寸法 🚀 <a b=\"c\"> & ]]> 'x'\tend\nnext";
    EXPECT_EQ(plain_text(text), text);
}

TEST(PlainText, RemovesEscapeSequencesWhole) {
    EXPECT_EQ(plain_text("\x1b[1;31mred\x1b[0m"), "red");
    EXPECT_EQ(plain_text("\x1b]0;title\atext"), "text");
    EXPECT_EQ(plain_text("\x1b]8;;http://host\x1b\\link\x1b]8;;\x1b\\"), "link");
    EXPECT_EQ(plain_text("\x1b(Btext"), "text");
    EXPECT_EQ(plain_text("\xc2\x9b"
                         "31mred"),
              "red");
}

TEST(PlainText, AnEscapeWithoutItsEndSwallowsNoText) {
    EXPECT_EQ(plain_text("\x1b]0;the log goes on\nand on"), "0;the log goes on\nand on");
    EXPECT_EQ(plain_text("text\x1b"), "text");
    EXPECT_EQ(plain_text("text\x1b["), "text");
    EXPECT_EQ(plain_text("\x1b[31"), "");
    EXPECT_EQ(plain_text("\x1b[\nnext"), "\nnext");
}

TEST(PlainText, DropsControlCharacters) {
    const std::string text("a\0b", 3);
    EXPECT_EQ(plain_text(text + "\x01"
                                "c\x08"
                                "d\x7f"
                                "e\xc2\x85"
                                "f"),
              "abcdef");
}

TEST(PlainText, DropsWhatXmlForbids) {
    EXPECT_EQ(plain_text("a\xef\xbf\xbe"
                         "b\xef\xbf\xbf"
                         "c"),
              "abc");  // U+FFFE, U+FFFF
    EXPECT_EQ(plain_text("a\xef\xbf\xbd"
                         "b"),
              "a\xef\xbf\xbd"
              "b");  // U+FFFD is allowed
}

TEST(PlainText, DropsWhatIsNotUtf8) {
    EXPECT_EQ(plain_text("a\xff"
                         "b\xc3"),
              "ab");
    EXPECT_EQ(plain_text("a\xed\xa0\x80"
                         "b"),
              "ab");  // a lone surrogate
    EXPECT_EQ(plain_text("a\xc0\xaf"
                         "b"),
              "ab");  // an overlong slash
    EXPECT_EQ(plain_text("a\xf4\x90\x80\x80"
                         "b"),
              "ab");  // beyond U+10FFFF
}

TEST(PlainText, DropsBidirectionalOverrides) {
    EXPECT_EQ(plain_text("a\u202e"
                         "b\u2066"
                         "c"),
              "abc");
}

TEST(PlainText, EndsLinesAlike) {
    EXPECT_EQ(plain_text("a\r\nb\rc\n"), "a\nb\nc\n");
    EXPECT_EQ(plain_text("a\r"), "a\n");
}

TEST(PlainLine, IsOneLine) {
    EXPECT_EQ(plain_line(" a\n\n b\t\tc \r\n", 100), "a b c");
    EXPECT_EQ(plain_line(" \n ", 100), "");
}

TEST(PlainLine, WhatIsPlainIsNotCopied) {
    for (const std::string text : {"", "a", "400 µs → 444 µs (+11.1 %)", "größe 寸法 🚀"}) {
        std::string room;
        EXPECT_EQ(plain_line(text, 100, room).data(), text.data()) << text;
        EXPECT_EQ(room, "");
    }
    for (const std::string text : {"two  spaces", " first", "last ", "a\tb", "a\x7f", "a\u202e",
                                   "a\xc2\x85", "a\xff", "a\xef\xbf\xbe", "a\x1b[0m"}) {
        std::string room;
        const std::string_view line = plain_line(text, 100, room);
        EXPECT_EQ(line.data(), room.data()) << text;
        EXPECT_EQ(line, plain_line(text, 100));
    }
}

TEST(PlainLine, IsCutBetweenCharacters) {
    EXPECT_EQ(plain_line("abcdefgh", 8), "abcdefgh");
    EXPECT_EQ(plain_line("abcdefghi", 8), "abcde…");
    EXPECT_EQ(plain_line("abcdöfghi", 8), "abcd…");
}

TEST(FirstLines, AreThoseThatFitWithTheirEnds) {
    EXPECT_EQ(first_lines({"one", "two"}, 8), "one\ntwo\n");
    EXPECT_EQ(first_lines({"one", "two"}, 7), "one\n(1 more lines left out)\n");
}

TEST(PlainTail, BeginsWithALine) {
    EXPECT_EQ(plain_tail("one\ntwo\nthree\n", 100), "one\ntwo\nthree\n");
    EXPECT_EQ(plain_tail("one\ntwo\nthree\n", 9), "three\n");
}

TEST(PlainTail, OfOneLongLineIsItsEnd) {
    EXPECT_EQ(plain_tail("0123456789", 4), "6789");
    EXPECT_EQ(plain_tail("01234ö", 1), "");
}

}  // namespace
}  // namespace perfgate::report

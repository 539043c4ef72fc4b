// SPDX-License-Identifier: Apache-2.0
#include "suite/placed_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace perfgate::suite {
namespace {

/// Where the message about byte `offset` of a scalar points, and what it says.
std::string message(const PlacedText& text, std::size_t offset) {
    Problems problems("s.yaml");
    text.add(offset, "wrong", problems);
    try {
        problems.throw_if_any();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "no problem";
}

YamlNode scalar(const std::string& text, Position at, bool plain = true) {
    YamlNode node;
    node.kind = YamlNode::Kind::scalar;
    node.text = text;
    node.at = at;
    node.plain = plain;
    return node;
}

TEST(PlacedText, EachByteHasAPlaceWhereTheFileHasTheTextAsItIs) {
    const SourceText source("name: abc\nother: 'a b'\nlast: \"x\"");
    EXPECT_EQ(message(source.place(scalar("abc", {1, 7})), 2), "s.yaml:1:9: wrong");
    EXPECT_EQ(message(source.place(scalar("a b", {2, 8}, false)), 2), "s.yaml:2:11: wrong");
    EXPECT_EQ(message(source.place(scalar("x", {3, 7}, false)), 0), "s.yaml:3:8: wrong");
    const PlacedText longer = source.place(scalar("abc", {1, 7})).behind("12345");
    EXPECT_EQ(longer.text(), "12345abc");
    EXPECT_EQ(message(longer, 7), "s.yaml:1:9: wrong");
    EXPECT_EQ(message(longer, 3), "s.yaml:1:7: wrong") << "the file has no such byte";
}

TEST(PlacedText, WhereItIsWrittenOtherwiseTheCharacterIsCounted) {
    const SourceText source("name: \"a\\u0062c\"\n");
    const PlacedText text = source.place(scalar("abc", {1, 7}, false));
    EXPECT_EQ(message(text, 2), "s.yaml:1:7: wrong (character 3 of the text)");
    EXPECT_EQ(message(text.behind("12"), 2), "s.yaml:1:7: wrong (character 1 of the text)");
    EXPECT_EQ(message(text.behind("12"), 4), "s.yaml:1:7: wrong (character 3 of the text)");
}

TEST(PlacedText, APlaceBehindTheFileIsNone) {
    const SourceText source("ab\ncd");
    EXPECT_EQ(message(source.place(scalar("cd", {2, 1})), 1), "s.yaml:2:2: wrong");
    for (const Position at : {Position{3, 1}, Position{4, 1}, Position{2, 3}, Position{2, 9}}) {
        EXPECT_TRUE(message(source.place(scalar("", at)), 0).ends_with("(character 1 of the text)"))
            << at.line << ":" << at.column;
    }
}

}  // namespace
}  // namespace perfgate::suite

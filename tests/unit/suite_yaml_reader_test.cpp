// SPDX-License-Identifier: Apache-2.0
// Hostile YAML costs an error message: no crash, no long wait, no memory.
#include "suite/yaml_reader.hpp"

#include <gtest/gtest.h>

#include "suite_catalogue.hpp"

namespace perfgate::suite {
namespace {

using namespace std::string_literals;

/// What is wrong with the text; fails the test where telling takes long.
std::string problems_of(const std::string& text) {
    std::string message;
    const auto read = [&] {
        message = test::refusal([&] {
            Problems problems("f.yaml");
            read_yaml(text, problems);
            problems.throw_if_any();
        });
    };
    EXPECT_LT(test::cpu_seconds(read), test::patience_s);
    return message;
}

std::string repeated(std::string_view piece, std::size_t bytes) {
    std::string text;
    while (text.size() + piece.size() <= bytes) text += piece;
    return text;
}

TEST(SuiteYamlReader, KeepsKindsTextsAndPlaces) {
    Problems problems("f.yaml");
    const YamlDocument document = read_yaml(
        "name: gemm\n"
        "list: [1, \"2\", ~]\n"
        "map:\n"
        "  inner: 'x'\n",
        problems);
    EXPECT_EQ(problems.count(), 0U);
    const YamlNode& root = *document.root;
    ASSERT_EQ(root.kind, YamlNode::Kind::map);
    ASSERT_EQ(root.entries.size(), 3U);
    EXPECT_EQ(root.entries[0].key->text, "name");
    EXPECT_EQ(root.entries[0].value->text, "gemm");
    EXPECT_EQ(root.entries[0].value->at, (Position{1, 7}));
    const YamlNode& list = *root.entries[1].value;
    ASSERT_EQ(list.kind, YamlNode::Kind::list);
    ASSERT_EQ(list.items.size(), 3U);
    EXPECT_TRUE(list.items[0]->plain);
    EXPECT_FALSE(list.items[1]->plain);
    EXPECT_EQ(list.items[1]->at, (Position{2, 11}));
    EXPECT_EQ(list.items[2]->kind, YamlNode::Kind::null);
    EXPECT_EQ(root.entries[2].value->entries[0].value->at, (Position{4, 10}));
}

TEST(SuiteYamlReader, SaysWhereAValueIsMissing) {
    Problems problems("f.yaml");
    const YamlDocument document = read_yaml("a:\n\n\nb: 1\n", problems);
    EXPECT_EQ(document.root->entries[0].value->kind, YamlNode::Kind::null);
    EXPECT_EQ(document.root->entries[0].value->at, (Position{1, 1}));
}

TEST(SuiteYamlReader, FollowsAliases) {
    Problems problems("f.yaml");
    const YamlDocument document = read_yaml("a: &x [1, 2]\nb: *x\n", problems);
    EXPECT_EQ(document.root->entries[1].value, document.root->entries[0].value);
    EXPECT_EQ(document.root->expanded_nodes, 9U);
}

TEST(SuiteYamlReader, TakesAByteOrderMarkAndWindowsLines) {
    EXPECT_EQ(problems_of("\xef\xbb\xbf"
                          "a: 1\r\nb: 2\r\n"),
              "");
}

TEST(SuiteYamlReader, RefusesWithPlaceAndReason) {
    const struct {
        std::string text;
        std::string message;
    } table[] = {
        {"", "f.yaml:1:1: an empty file; expected a map"},
        {"# nothing\n", "f.yaml:1:1: an empty file; expected a map"},
        {"a: 1\na: 2\n",
         "f.yaml:2:1: duplicate key 'a'; expected it once, it is in line 1 already"},
        {"a: 1\n\"a\": 2\n",
         "f.yaml:2:1: duplicate key 'a'; expected it once, it is in line 1 already"},
        {"x:\n  <<: {a: 1}\n",
         "f.yaml:2:3: merge keys ('<<') are not supported; expected the keys themselves"},
        {"a: !!str 5\n",
         "f.yaml:1:4: a tag, 'tag:yaml.org,2002:str'; expected a value without one"},
        {"a: !x {}\n", "f.yaml:1:4: a tag, '!x'; expected a value without one"},
        {"[a]: 1\n", "f.yaml:1:1: a key that is not text; expected a name"},
        {"~: 1\n", "f.yaml:1:1: a key that is not text; expected a name"},
        {"a: 1\n---\nb: 2\n", "f.yaml:2:1: a second document; expected one per file"},
        {"a: 1\n...\nb: 2\n", "f.yaml:3:1: a second document; expected one per file"},
        {"a:\n\tb: 1\n", "f.yaml:2:1: a tab in the indentation; expected spaces"},
        {"a: *b\n",
         "f.yaml:1:4: YAML takes a word that begins with * for an alias; expected a glob in "
         "quotes: "
         "\"*b\""},
        {"a: &x [*x]\n", "f.yaml:1:8: an alias that names the value it stands in"},
        {"a: &x {b: [*x]}\n", "f.yaml:1:12: an alias that names the value it stands in"},
        {"a: [./b, --out={out}]\n",
         "f.yaml:1:16: no valid YAML; expected a word with { } in quotes: \"--out={out}\""},
        {"a: [./b, \"--out={out}\"\n",
         "f.yaml:1:23: no valid YAML: end of sequence flow not found"},
        {"a: [1, 2\n", "f.yaml:1:9: no valid YAML: end of sequence flow not found"},
        {"a: 'x\n", "f.yaml:1:6: no valid YAML: illegal EOF in scalar"},
        {"a: \"x\nb: 1\n", "f.yaml:2:5: no valid YAML: illegal EOF in scalar"},
        {"a: b: c\n", "f.yaml:1:5: no valid YAML: illegal map value"},
        {"a: 1\nb: x\0y\n"s, "f.yaml:2:5: control character 0x00; expected text"},
        {"a: \x1b[31m\n", "f.yaml:1:4: control character 0x1b; expected text"},
        {"a: \x04", "f.yaml:1:4: control character 0x04; expected text"},
        {"\x7f"
         "ELF",
         "f.yaml:1:1: control character 0x7f; expected text"},
        {"a: \xff\xfe\n", "f.yaml:1:4: not a text file: byte 0xff; expected UTF-8"},
        {"\xff\xfe"
         "a\0:\0"s,
         "f.yaml:1:1: not a text file: byte 0xff; expected UTF-8"},
        {"%YAML 9.0\n---\na: 1\n", "f.yaml:1:1: no valid YAML: YAML major version too large"},
    };
    for (const auto& row : table) EXPECT_EQ(problems_of(row.text), row.message) << row.text;
}

TEST(SuiteYamlReader, RefusesAFileThatIsTooLarge) {
    EXPECT_EQ(problems_of(std::string(most_yaml_bytes, '#')),
              "f.yaml:1:1: an empty file; expected a map");
    EXPECT_EQ(problems_of(std::string(most_yaml_bytes + 1, '#')),
              "f.yaml:1:1: 262145 bytes are too many; expected at most 256 KiB");
}

TEST(SuiteYamlReader, RefusesDeepNesting) {
    const auto nested = [](std::size_t levels) {
        return std::string(levels, '[') + std::string(levels, ']');
    };
    EXPECT_EQ(problems_of(nested(most_yaml_depth)), "");
    EXPECT_EQ(problems_of(nested(most_yaml_depth + 1)),
              "f.yaml:1:33: nested too deep; expected at most 32 levels");
    for (const char* piece : {"[", "{", "{a: ", "- ", "? ", "[[],", "- [", "[?", "{? "}) {
        EXPECT_NE(problems_of(repeated(piece, most_yaml_bytes)), "") << piece;
    }
}

TEST(SuiteYamlReader, RefusesAnAliasBomb) {
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 20; ++i) {
        const std::string inner = ", *a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [x";
        for (int j = 0; j < 9; ++j) bomb += inner;
        bomb += "]\n";
    }
    EXPECT_EQ(problems_of(bomb),
              "f.yaml:6:18: too many values; expected at most 100000, aliases expanded");
}

TEST(SuiteYamlReader, RefusesTooManyValues) {
    const std::string message = problems_of("[" + repeated("a,", most_yaml_bytes - 2) + "]");
    EXPECT_NE(message.find("too many values"), std::string::npos) << message;
}

TEST(SuiteYamlReader, BearsEveryRepeatedPiece) {
    // Each is read to its end or refused; what counts is that it ends, and soon.
    for (const char* piece :
         {"&a ",        "!a ",    "*a ",        "a: ",         ": ",           "\"",      "'",
          "\"\\\n",     "a: b\n", "- a\n",      "\n",          "\r",           "\r\n",    "#\n",
          "---\n",      "...\n",  "%TAG ! x\n", "%YAML 1.2\n", "a\n ",         "|\n",     ">\n",
          "a: |\n \n",  "{a,",    "{a: b,",     "[a\n",        "{\"a\"\n",     "]",       "}",
          "? a\n: b\n", "\t",     " ",          "\\x41",       "<<: *a\n",     "@",       "`",
          "!<a",        "&",      "*",          "!",           "a: &a [*a]\n", "\xc3\xa9"}) {
        problems_of(repeated(piece, most_yaml_bytes));
        problems_of("a: " + repeated(piece, most_yaml_bytes - 3));
        problems_of("a: [\"" + repeated(piece, most_yaml_bytes - 5));
    }
}

}  // namespace
}  // namespace perfgate::suite

// SPDX-License-Identifier: Apache-2.0
#include "model/command_words.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace perfgate::model {
namespace {

TEST(CommandWords, AParameterIsAnIdentifierInBraces) {
    std::vector<std::string> asked;
    const auto value = [&](const std::string& name) {
        asked.push_back(name);
        return "<" + name + ">";
    };
    EXPECT_EQ(with_parameters("--batch={batch},{_n1}", value), "--batch=<batch>,<_n1>");
    EXPECT_EQ(asked, (std::vector<std::string>{"batch", "_n1"}));
    EXPECT_EQ(with_parameters("{{a}}", value), "{<a>}");
}

TEST(CommandWords, OtherBracesStayAsTheyAre) {
    for (const std::string word :
         {"", "{}", "{a b}", "{1}", "{\"a\": 1}", "{", "}", "{open", "${HOME"}) {
        EXPECT_EQ(with_parameters(word, [](const std::string&) { return "x"; }), word);
        EXPECT_FALSE(has_parameter(word)) << word;
    }
    EXPECT_TRUE(has_parameter("${HOME}"));
    EXPECT_TRUE(
        has_parameter("{a"
                      "}"));
}

TEST(CommandWords, IdentifiersBeginWithNoDigit) {
    for (const char* name : {"a", "_", "A9", "OMP_NUM_THREADS"}) EXPECT_TRUE(is_identifier(name));
    for (const char* name : {"", "9a", "a-b", "a b", "\u00e9"}) EXPECT_FALSE(is_identifier(name));
}

}  // namespace
}  // namespace perfgate::model

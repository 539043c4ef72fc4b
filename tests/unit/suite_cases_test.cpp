// SPDX-License-Identifier: Apache-2.0
// The corpus of tests/data/suites/cases.txt: what is accepted, and the exact message and place of
// each thing that can be wrong. tests/e2e/schema_agrees.py holds the schema to the same corpus.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "suite/plan.hpp"
#include "suite/suite.hpp"
#include "suite_catalogue.hpp"
#include "util/file.hpp"

namespace perfgate::suite {
namespace {

struct Block {
    std::size_t line = 0;
    std::string expected;  ///< "LINE:COLUMN: message"; empty: accepted
    std::string yaml;
};

std::vector<Block> read_corpus() {
    const std::string text = util::read_file(
        std::string(PERFGATE_TEST_DATA_DIR) + "/suites/cases.txt", std::size_t{1} << 20, "corpus");
    std::vector<Block> blocks;
    std::size_t line = 0;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = text.find('\n', start);
        const std::string row = text.substr(start, end - start);
        start = end + 1;
        ++line;
        if (!row.starts_with("### ")) {
            blocks.back().yaml += row + '\n';
        } else if (row == "### accepted") {
            blocks.push_back({line, "", ""});
        } else {
            blocks.push_back({line, row.substr(row.find(' ', 4) + 1), ""});
        }
    }
    return blocks;
}

TEST(SuiteCases, AreAcceptedOrRefusedWithOneMessage) {
    const std::vector<Block> blocks = read_corpus();
    ASSERT_GT(blocks.size(), 150U);
    for (const Block& block : blocks) {
        const std::string expected = block.expected.empty() ? "" : "s.yaml:" + block.expected;
        EXPECT_EQ(test::refusal([&] { parse_suite(block.yaml, "s.yaml", test::workloads()); }),
                  expected)
            << "cases.txt:" << block.line << "\n"
            << block.yaml.substr(0, 2000);
    }
}

/// Cuts, repeats, swaps and overwrites pieces of `text`.
std::string mutated(std::string text, const std::vector<Block>& blocks, std::mt19937& random) {
    const auto below = [&](std::size_t bound) {
        return random() % std::max<std::size_t>(1, bound);
    };
    static const std::vector<std::string> spices{"*",
                                                 "&a ",
                                                 "*a",
                                                 "{",
                                                 "}",
                                                 "[",
                                                 "]",
                                                 ": ",
                                                 "- ",
                                                 "\n",
                                                 "\t",
                                                 "\"",
                                                 "'",
                                                 "#",
                                                 "|",
                                                 "<<:",
                                                 "null",
                                                 "~",
                                                 "-1",
                                                 "1e9",
                                                 ".nan",
                                                 "0x7f",
                                                 "%",
                                                 "? ",
                                                 "us",
                                                 "!!",
                                                 ",",
                                                 "\r",
                                                 std::string(1, '\0'),
                                                 "\xff",
                                                 "---",
                                                 "...",
                                                 "matrix",
                                                 "  ",
                                                 "none"};
    for (std::size_t changes = 1 + below(4); changes > 0 && !text.empty(); --changes) {
        const std::size_t at = below(text.size());
        const std::size_t length = below(std::min<std::size_t>(40, text.size() - at));
        switch (below(5)) {
            case 0:
                text.erase(at, length);
                break;
            case 1:
                text.insert(at, text.substr(below(text.size()), length));
                break;
            case 2:
                text.insert(at, spices[below(spices.size())]);
                break;
            case 3:
                text.replace(at, length, spices[below(spices.size())]);
                break;
            default: {
                const std::string& other = blocks[below(blocks.size())].yaml;
                text.insert(at, other.substr(below(other.size()), 60));
            }
        }
    }
    return text;
}

// Damaged suites are accepted or refused like others: no crash, no other exception, no wait.
TEST(SuiteCases, AreBorneWhenTheyAreDamaged) {
    const std::vector<Block> blocks = read_corpus();
    std::mt19937 random(20261121);
    std::size_t refused = 0;
    constexpr std::size_t count = 5000;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string yaml = mutated(blocks[random() % blocks.size()].yaml, blocks, random);
        const double seconds = test::cpu_seconds([&] {
            const std::string message = test::refusal([&] {
                const Suite suite = parse_suite(yaml, "s.yaml", test::workloads());
                plan_suite(suite, {{}, "nvidia-h100-80gb-hbm3", "9.0", {}, {}});
            });
            if (!message.empty()) ++refused;
            for (std::size_t start = 0; start < message.size();) {
                ASSERT_EQ(message.compare(start, 6, "s.yaml"), 0) << message << "\n" << yaml;
                start = std::min(message.find('\n', start), message.size() - 1) + 1;
            }
        });
        ASSERT_LT(seconds, test::patience_s) << yaml;
    }
    EXPECT_GT(refused, count / 2);
    EXPECT_LT(refused, count);
}

}  // namespace
}  // namespace perfgate::suite

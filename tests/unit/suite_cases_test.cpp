// SPDX-License-Identifier: Apache-2.0
// The corpus of tests/data/suites/cases.txt: what is accepted, and the exact message and place of
// each thing that can be wrong. tests/e2e/schema_agrees.py holds the schema to the same corpus.
#include <gtest/gtest.h>

#include "model/file.hpp"
#include "suite/suite.hpp"
#include "suite_catalogue.hpp"

namespace perfgate::suite {
namespace {

struct Block {
    std::size_t line = 0;
    std::string expected;  ///< "LINE:COLUMN: message"; empty: accepted
    std::string yaml;
};

std::vector<Block> read_corpus() {
    const std::string text = model::read_file(
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

}  // namespace
}  // namespace perfgate::suite

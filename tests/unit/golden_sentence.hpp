// SPDX-License-Identifier: Apache-2.0
// The gate's sentences, all in tests/data/golden/gate_sentences.txt: a line for each, with its
// test, in the order in which the test says them. `PERFGATE_UPDATE_GOLDEN=1 gate_test` writes them
// anew: read the diff. Tests assert verdicts and fields themselves.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace perfgate::gate {

class GoldenSentences {
  public:
    static GoldenSentences& all() {
        static GoldenSentences sentences;
        return sentences;
    }

    void expect(const std::string& sentence) {
        const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
        const std::string name = std::string(test.test_suite_name()) + "." + test.name();
        std::vector<std::string>& said = said_[name];
        said.push_back(sentence);
        if (updates_) return;
        const std::vector<std::string>& golden = golden_[name];
        ASSERT_LE(said.size(), golden.size()) << path() << " lacks: " << name << ": " << sentence;
        EXPECT_EQ(sentence, golden[said.size() - 1]) << path();
    }

  private:
    GoldenSentences() {
        std::ifstream file(path());
        for (std::string line; std::getline(file, line);) {
            const std::size_t end = line.find(": ");
            golden_[line.substr(0, end)].push_back(line.substr(end + 2));
        }
    }
    ~GoldenSentences() {
        if (!updates_) return;
        std::ofstream file(path());
        for (const auto& [name, sentences] : said_) {
            for (const std::string& sentence : sentences) file << name << ": " << sentence << "\n";
        }
    }

    static std::string path() {
        return std::string(PERFGATE_TEST_DATA_DIR) + "/golden/gate_sentences.txt";
    }

    const bool updates_ = std::getenv("PERFGATE_UPDATE_GOLDEN") != nullptr;
    std::map<std::string, std::vector<std::string>> golden_, said_;
};

inline void expect_sentence(const std::string& sentence) {
    GoldenSentences::all().expect(sentence);
}

}  // namespace perfgate::gate

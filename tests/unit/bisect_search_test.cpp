// SPDX-License-Identifier: Apache-2.0
#include "bisect/search.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "util/error.hpp"

namespace perfgate::bisect {
namespace bisect_search_test {

using Decisions = std::vector<std::optional<Decision>>;

/// Searches a history whose commits are slow from `culprit` on, and of which some are skipped.
struct Search {
    Decisions decisions;
    std::size_t steps = 0;

    Search(std::size_t commits, std::size_t culprit, const std::vector<std::size_t>& skipped = {})
        : decisions(commits) {
        while (const auto next = next_commit(decisions)) {
            EXPECT_FALSE(decisions.at(*next)) << "no commit is measured twice";
            ++steps;
            decisions[*next] = *next >= culprit ? Decision::slower : Decision::not_slower;
            for (const std::size_t skip : skipped) {
                if (skip == *next) decisions[*next] = Decision::broken;
            }
        }
    }
};

TEST(BisectSearch, FindsEachOfTwentyFourCommitsInFiveSteps) {
    for (std::size_t culprit = 0; culprit < 24; ++culprit) {
        const Search search(24, culprit);
        EXPECT_EQ(candidates(search.decisions), (Candidates{culprit, culprit}));
        EXPECT_LE(search.steps, 5U);
    }
}

TEST(BisectSearch, OneCommitIsTheCulpritWithoutAStep) {
    EXPECT_EQ(candidates(Decisions(1)), (Candidates{0, 0}));
    EXPECT_EQ(next_commit(Decisions(1)), std::nullopt);
}

TEST(BisectSearch, SkippedCommitsElsewhereChangeNothing) {
    for (std::size_t culprit = 4; culprit < 24; ++culprit) {
        for (std::size_t skip = 0; skip + 1 < culprit; ++skip) {
            EXPECT_EQ(candidates(Search(24, culprit, {skip}).decisions),
                      (Candidates{culprit, culprit}));
        }
    }
}

TEST(BisectSearch, SkippedNeighboursStayCandidates) {
    EXPECT_EQ(candidates(Search(24, 10, {9}).decisions), (Candidates{9, 10}));
    EXPECT_EQ(candidates(Search(24, 10, {10}).decisions), (Candidates{10, 11}));
    EXPECT_EQ(candidates(Search(24, 10, {8, 9, 10}).decisions), (Candidates{8, 11}));
    // All but the last one, which is BAD.
    EXPECT_EQ(candidates(Search(4, 2, {0, 1, 2}).decisions), (Candidates{0, 3}));
}

TEST(BisectSearch, BadIsSlowWhateverIsDecidedAboutIt) {
    const Decisions decisions{Decision::not_slower, Decision::not_slower, Decision::undecided};
    EXPECT_EQ(candidates(decisions), (Candidates{2, 2}));
}

TEST(BisectSearch, DocumentsReadBackAsTheyWereWritten) {
    SearchDocument search{"a1",
                          "b2",
                          "5e77",
                          "host",
                          Target{"s", "b/x", "real_time", "ns", 1, 2, 0.25},
                          {},
                          Outcome::one_of,
                          {"c1", "c2"}};
    for (const Decision decision : {Decision::not_slower, Decision::slower, Decision::undecided}) {
        search.steps.push_back({"c1", decision, "", 0.5, 13, 2.5});
    }
    search.steps.push_back({"c2", Decision::broken, "the build exited with 2", std::nullopt, 0, 1});
    EXPECT_EQ(parse_search(write_search(search), "bisect.json"), search);
    EXPECT_EQ(parse_search(write_search(SearchDocument{}), "bisect.json"), SearchDocument{});
}

TEST(BisectSearch, ADocumentThatIsNoneIsRefusedWithItsPlace) {
    const std::string good = write_search(SearchDocument{});
    for (const std::string& text :
         {std::string(), std::string("{}"), good.substr(0, good.size() / 2),
          std::string(R"({"schema":"perfgate.bisect","version":1,"good":"a","bad":"b",)"
                      R"("settings":"","outcome":"guessed","steps":[]})"),
          std::string(R"({"schema":"perfgate.run","version":1})")}) {
        try {
            parse_search(text, "out/bisect.json");
            ADD_FAILURE() << text;
        } catch (const util::InputError& error) {
            EXPECT_NE(std::string(error.what()).find("out/bisect.json"), std::string::npos);
        }
    }
}

}  // namespace bisect_search_test
}  // namespace perfgate::bisect

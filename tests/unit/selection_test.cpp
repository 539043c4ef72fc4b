// SPDX-License-Identifier: Apache-2.0
#include "model/selection.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "document/run.hpp"
#include "unit/gate_documents.hpp"
#include "util/error.hpp"

namespace perfgate::gate {
namespace {

using documents::measured_case;
using documents::run_of;
using model::Selection;

model::Run three_cases() {
    model::CaseResult tagged = measured_case(3);
    tagged.tags = {"nightly", "large"};
    return run_of({measured_case(1), measured_case(2), tagged});
}

std::string ids(const model::Run& run) {
    std::string text;
    for (const model::SuiteResult& suite : run.suites) {
        for (const model::CaseResult& result : suite.cases) {
            text += model::case_id(result.spec) + ";";
        }
    }
    return text;
}

TEST(Selection, WithoutFilterOrTagTheRunStaysAsItIs) {
    EXPECT_EQ(document::write_run(select_cases(three_cases(), {})),
              document::write_run(three_cases()));
}

TEST(Selection, AFilterMatchesIdsAndMakesTheSuitePartial) {
    const model::Run run = select_cases(three_cases(), {{"gemm/*[m=2]"}, {}});
    EXPECT_EQ(ids(run), "gemm/tiled[m=2];");
    EXPECT_TRUE(run.suites[0].partial);
}

TEST(Selection, AFilterThatTakesAllMakesTheSuitePartialToo) {
    const model::Run run = select_cases(three_cases(), {{"gemm/*"}, {}});
    EXPECT_EQ(run.suites[0].cases.size(), 3U);
    EXPECT_TRUE(run.suites[0].partial);
}

TEST(Selection, OneOfSeveralFiltersIsEnough) {
    EXPECT_EQ(ids(select_cases(three_cases(), {{"*m=1]", "*m=3]"}, {}})),
              "gemm/tiled[m=1];gemm/tiled[m=3];");
}

TEST(Selection, TagsMatchWholeAndTogetherWithFilters) {
    EXPECT_EQ(ids(select_cases(three_cases(), {{}, {"nightly", "large"}})), "gemm/tiled[m=3];");
    EXPECT_THROW(select_cases(three_cases(), {{}, {"night"}}), util::InputError);
    EXPECT_THROW(select_cases(three_cases(), {{"*m=1]"}, {"large"}}), util::InputError);
}

TEST(Selection, SuitesWithoutASelectedCaseStay) {
    model::Run run = three_cases();
    run.suites.push_back(run.suites[0]);
    run.suites[1].name = "t";
    run.suites[1].cases.erase(run.suites[1].cases.begin());
    const model::Run selected = select_cases(run, {{"*m=1]"}, {}});
    ASSERT_EQ(selected.suites.size(), 2U);
    EXPECT_TRUE(selected.suites[1].cases.empty()) << "its baseline may have such a case";
    EXPECT_TRUE(selected.suites[1].partial);
}

TEST(Selection, TheRunSaysHowItWasSelected) {
    const model::Run once = select_cases(three_cases(), {{"gemm/*"}, {}});
    const model::Run twice = select_cases(once, {{}, {"large"}});
    EXPECT_EQ(twice.selections, (std::vector<Selection>{{{"gemm/*"}, {}}, {{}, {"large"}}}));
    EXPECT_EQ(document::parse_run(document::write_run(twice), "r").selections, twice.selections);
}

TEST(Selection, OneThatSelectsNothingIsRefusedThoughOthersDo) {
    const auto refusal = [](const Selection& selection) -> std::string {
        try {
            select_cases(three_cases(), selection);
        } catch (const util::InputError& error) {
            return error.what();
        }
        return "not refused";
    };
    EXPECT_EQ(refusal({{"*m=1]", "*m=4]"}, {}}), "--filter '*m=4]' selects no case of the run");
    EXPECT_EQ(refusal({{}, {"large", "night"}}), "--tag 'night' selects no case of the run");
    EXPECT_EQ(refusal({{"*m=3]"}, {"large", "nightly"}}), "not refused");
}

TEST(Selection, AnEmptySelectionIsRefusedAndShowsAnId) {
    try {
        select_cases(three_cases(), {{"gem*x"}, {"y"}});
        FAIL() << "expected an InputError";
    } catch (const util::InputError& error) {
        EXPECT_STREQ(error.what(),
                     "3 cases of the run: none is selected by --filter 'gem*x' --tag 'y'; an id "
                     "looks like 'gemm/tiled[m=1]'");
    }
}

TEST(Selection, CoversAnIdByEveryFilterAndTagOrDoesNotKnow) {
    using Tags = std::optional<std::vector<std::string>>;
    const Tags none;
    const Tags empty{std::vector<std::string>{}};
    const Tags large{std::vector<std::string>{"large", "quick"}};
    struct Example {
        std::vector<Selection> selections;
        Tags tags;
        std::optional<bool> covered;
    };
    const std::vector<Example> examples = {
        {{}, none, true},
        {{{{"a*"}, {}}}, none, true},
        {{{{"b*"}, {}}}, none, false},
        {{{{"b*", "a*"}, {}}}, none, true},
        {{{{"a*"}, {}}, {{"b*"}, {}}}, none, false},
        {{{{}, {"large"}}}, large, true},
        {{{{}, {"other", "quick"}}}, large, true},
        {{{{}, {"other"}}}, large, false},
        {{{{}, {"large"}}}, empty, false},
        {{{{}, {"large"}}}, none, std::nullopt},
        {{{{}, {"large"}}, {{"a*"}, {}}}, none, std::nullopt},
        {{{{"b*"}, {"large"}}}, none, false},
        {{{{}, {"large"}}, {{}, {"other"}}}, large, false},
    };
    for (std::size_t i = 0; i < examples.size(); ++i) {
        EXPECT_EQ(model::covers(examples[i].selections, "abc", examples[i].tags),
                  examples[i].covered)
            << i;
    }
}

}  // namespace
}  // namespace perfgate::gate

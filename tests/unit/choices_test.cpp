// SPDX-License-Identifier: Apache-2.0
#include "model/choices.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace perfgate::model {
namespace {

/// Of processes with these choices, as the first one's series has them.
MetricSeries prepared(const std::vector<std::string>& details) {
    MetricSeries series{"ns", 2e9, "wall", {}};
    series.detail = details.front();
    for (const std::string& detail : details) {
        Batch batch{static_cast<std::int64_t>(series.batches.size()), "b", 1, {1e9}};
        if (detail != series.detail) batch.detail = detail;
        series.batches.push_back(std::move(batch));
    }
    return series;
}

TEST(Choices, AreReadFromTheTextThatTheyAreWrittenAs) {
    Choices choices;
    add_choice("add.BLOCK", "128", choices);
    add_choice("add.dtype", "float16", choices);
    EXPECT_EQ(to_text(choices), "add.BLOCK 128, add.dtype float16");
    EXPECT_EQ(choices_in(to_text(choices)), choices);
    EXPECT_EQ(to_text(Choices()), "");
    EXPECT_EQ(choices_in(""), Choices());
}

TEST(Choices, OfAnyTextsStayApart) {
    Choices choices;
    add_choice("a, b", "1, c 2", choices);
    add_choice("", "", choices);
    add_choice("line\nbreak", std::string(1000, 'x'), choices);
    EXPECT_EQ(choices_in(to_text(choices)), choices);
    EXPECT_EQ(choices.size(), 3U);
    for (int i = 0; i < 1000; ++i) add_choice(std::to_string(i), "1", choices);
    EXPECT_EQ(choices.size(), 100U);
}

TEST(Choices, ThatDifferAreNamedWithBothValues) {
    EXPECT_EQ(
        difference_of_choices("add.BLOCK 128, add.num_warps 4", "add.BLOCK 64, add.num_warps 4"),
        "add.BLOCK 128 → 64");
    EXPECT_EQ(difference_of_choices("", "BLOCK 64"), "BLOCK none → 64");
    EXPECT_EQ(difference_of_choices("BLOCK 64", ""), "BLOCK 64 → none");
    EXPECT_EQ(difference_of_choices("BLOCK 64", "BLOCK 64"), "");
    std::string many;
    for (char name = 'a'; name <= 'h'; ++name) {
        many += (many.empty() ? "" : ", ") + std::string(1, name) + " 1";
    }
    EXPECT_TRUE(difference_of_choices(many, "").ends_with("f 1 → none and 2 more"));
}

TEST(Choices, ThatVaryBetweenProcessesAreCounted) {
    const std::string large = "add.BLOCK 128, add.num_warps 4";
    const std::string small = "add.BLOCK 64, add.num_warps 4";
    EXPECT_EQ(varying_choices(prepared({large, large, large})), "");
    EXPECT_EQ(varying_choices(prepared({large})), "");
    EXPECT_EQ(varying_choices(prepared({small, large, large})),
              "add.BLOCK 128 in 2 processes, 64 in 1");
    EXPECT_EQ(varying_choices(prepared({"", large})),
              "add.BLOCK 128 in 1 process, none in 1, add.num_warps 4 in 1 process, none in 1");
}

TEST(Choices, AreSaidWithTheLongestTime) {
    EXPECT_EQ(preparation_text(prepared({"BLOCK 64"})), "compiled and tuned in 2.000 s: BLOCK 64");
    MetricSeries series = prepared({"BLOCK 64", "BLOCK 32"});
    series.batches[1].samples = {3e9};
    EXPECT_EQ(preparation_text(series),
              "compiled and tuned in at most 3.000 s: BLOCK 32 in 1 process, 64 in 1");
    EXPECT_EQ(preparation_text(prepared({""})), "compiled and tuned in 2.000 s");
}

}  // namespace
}  // namespace perfgate::model

// SPDX-License-Identifier: Apache-2.0
#include "report/explanations.hpp"

#include <gtest/gtest.h>

#include <string>

#include "report_fixture.hpp"
#include "report_hostile.hpp"
#include "util/text.hpp"

namespace perfgate::report {
namespace {

TEST(Explanations, WithNothingToExplainTheVerdictsAreCounted) {
    EXPECT_EQ(write_explanations(first_run().verdict, {}),
              "nothing moved: 3 no_baseline, 2 skipped\n");
}

TEST(Explanations, WhatMovedWithoutACauseIsNotCalledUnmoved) {
    model::VerdictDocument document = every_verdict().verdict;
    for (model::SuiteVerdict& suite : document.suites) {
        for (model::CaseVerdict& verdict : suite.cases) verdict.why.clear();
    }
    const std::string text = write_explanations(document, {});
    EXPECT_EQ(text.find("nothing moved"), std::string::npos) << text;
    EXPECT_NE(text.find("no other metric explains 3 cases"), std::string::npos) << text;
    // Only what can work is suggested.
    EXPECT_NE(text.find("'perfgate profile'"), std::string::npos) << text;
    document.backend = "host";
    EXPECT_EQ(write_explanations(document, {}).find("profile"), std::string::npos);
    EXPECT_NE(write_explanations(document, {}).find("'values'"), std::string::npos);
}

TEST(Explanations, ShowTheWorstFirst) {
    const std::string text = write_explanations(every_verdict().verdict, {});
    EXPECT_LT(text.find("regressed, gpu_time"), text.find("improved, gpu_time"));
    EXPECT_NE(text.find("12 more cases have nothing to explain"), std::string::npos) << text;
}

TEST(Explanations, StayOnTheirLines) {
    for (const std::string& text : hostile_texts()) {
        const std::string out = write_explanations(hostile(text).verdict, {});
        EXPECT_LT(out.size(), 50000U);
        for (std::size_t i = 0; i < out.size();) {
            const util::Utf8Step step = util::utf8_step(out, i);
            ASSERT_TRUE(step.valid) << text.substr(0, 40);
            ASSERT_TRUE(step.code_point == '\n' || !util::is_terminal_control(step.code_point));
            i += step.length;
        }
    }
}

}  // namespace
}  // namespace perfgate::report

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "document/run.hpp"
#include "report/formats.hpp"
#include "report/html.hpp"
#include "report_fixture.hpp"

namespace perfgate::report {
namespace {

TEST(ReportFormats, AreFoundByName) {
    for (const Format& format : formats) {
        EXPECT_EQ(find_format(format.name), &format);
        EXPECT_TRUE(format.ending.empty() || format.ending.front() == '.');
    }
    EXPECT_EQ(find_format("junit")->name, "junit");
    EXPECT_EQ(find_format("xml"), nullptr);
    EXPECT_EQ(find_format(""), nullptr);
}

TEST(ReportFormats, ConsoleIsTheFirstAndNamesAreUnique) {
    EXPECT_EQ(formats.front().name, "console");
    std::set<std::string_view> names;
    for (const Format& format : formats) EXPECT_TRUE(names.insert(format.name).second);
}

TEST(ReportFormats, ProfilesAreFoundByName) {
    EXPECT_EQ(find_junit_profile("github"), JunitProfile::github);
    EXPECT_EQ(find_junit_profile("strict"), JunitProfile::strict);
    EXPECT_EQ(find_junit_profile("Strict"), std::nullopt);
}

/// A build may lack the page of the HTML report.
bool can_write(const Format& format) {
    return format.name != "html" || has_html_page();
}

TEST(ReportFormats, EndWithANewline) {
    for (const Documents& documents : {every_verdict(), first_run(), Documents{}}) {
        for (const Format& format : formats) {
            if (!can_write(format)) continue;
            const std::string text = format.write(documents.verdict, documents.run, {});
            ASSERT_FALSE(text.empty()) << format.name;
            EXPECT_EQ(text.back(), '\n') << format.name;
        }
    }
}

TEST(ReportFormats, JsonReadsBackAsTheDocument) {
    const Documents documents = every_verdict();
    const std::string text = find_format("json")->write(documents.verdict, documents.run, {});
    EXPECT_EQ(document::parse_verdict(text, "verdict.json"), documents.verdict);
}

// Room for what a linear writer needs: what is quadratic in the cases does not end in ctest's time.
TEST(ReportFormats, TakeTenThousandCases) {
    const Documents documents = many_cases(10000, 4);
    for (const Format& format : formats) {
        if (!can_write(format)) continue;
        EXPECT_FALSE(format.write(documents.verdict, documents.run, {}).empty()) << format.name;
    }
}

}  // namespace
}  // namespace perfgate::report

// SPDX-License-Identifier: Apache-2.0
#include "report/reporter.hpp"

#include "report/formats.hpp"

namespace perfgate::report {

namespace {

constexpr Format table[] = {
    {"console", "table for people", write_console},
    {"junit", "JUnit XML: one testcase per case and relation", write_junit},
    {"markdown", "Markdown, for $GITHUB_STEP_SUMMARY: what needs attention, worst first",
     write_markdown},
    {"annotations", "GitHub workflow commands that mark the suite's lines", write_annotations},
    {"json", "verdict document (schema perfgate.verdict)", write_json},
    {"csv", "spreadsheet: one row per case and metric, and per relation", write_csv},
};

}  // namespace

std::span<const Format> formats() {
    return table;
}

const Format* find_format(std::string_view name) {
    for (const Format& format : table) {
        if (format.name == name) return &format;
    }
    return nullptr;
}

std::optional<JunitProfile> find_junit_profile(std::string_view name) {
    if (name == "github") return JunitProfile::github;
    if (name == "strict") return JunitProfile::strict;
    return std::nullopt;
}

}  // namespace perfgate::report

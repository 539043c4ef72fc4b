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
    {"html", "page for a browser, in one file: every case, its figures and its samples",
     write_html},
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

bool is_web_address(std::string_view text) {
    constexpr std::size_t longest = 2000;
    constexpr std::string_view allowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?#[]@!$&'()*+,;=%";
    const std::size_t scheme = text.starts_with("https://")  ? 8
                               : text.starts_with("http://") ? 7
                                                             : 0;
    return scheme > 0 && text.size() > scheme && text.size() <= longest &&
           text.find_first_not_of(allowed) == std::string_view::npos;
}

std::optional<JunitProfile> find_junit_profile(std::string_view name) {
    if (name == "github") return JunitProfile::github;
    if (name == "strict") return JunitProfile::strict;
    return std::nullopt;
}

}  // namespace perfgate::report

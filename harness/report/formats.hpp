// SPDX-License-Identifier: Apache-2.0
// The report formats: each is a pure function from a Run and its verdict to text, in a file of its
// own.
//
// To add a format, write <name>.cpp (start from csv.cpp), and declare its function and add its row
// here. The option `--<name> FILE`, its help and its checks follow from the row.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "model/run.hpp"
#include "model/verdict.hpp"
#include "report/reporter.hpp"

namespace perfgate::report {

/// `document` is the gate's verdict on `run`. Text from either is untrusted. Time is linear in the
/// number of cases and metrics. The result ends with a newline.
using Write = std::string(const model::VerdictDocument& document, const model::Run& run,
                          const Options& options);

Write write_console, write_junit, write_markdown, write_annotations, write_csv, write_json;
Write write_html;  ///< throws InputError where has_html_page() (html.hpp) is false

struct Format {
    std::string_view name;         ///< also the option's name: `--junit FILE`
    std::string_view folder_file;  ///< its file in the output folder; empty: only with its option
    std::string_view help;         ///< what the file is, for help texts
    Write* write = nullptr;
};

/// "console" comes first and goes to the terminal; the others are files.
inline constexpr auto formats = std::to_array<Format>({
    {"console", "", "table for people", write_console},
    {"junit", "junit.xml", "JUnit XML: one testcase per case and relation", write_junit},
    {"markdown", "", "Markdown, for $GITHUB_STEP_SUMMARY: what needs attention, worst first",
     write_markdown},
    {"html", "", "page for a browser, in one file: every case, its figures and its samples",
     write_html},
    {"annotations", "",
     "GitHub workflow commands that annotate the changed kernel's source line, or the suite's",
     write_annotations},
    {"json", "verdict.json", "verdict document (schema perfgate.verdict)", write_json},
    {"csv", "", "spreadsheet: one row per case and metric, and per relation", write_csv},
});

/// Null for an unknown name.
constexpr const Format* find_format(std::string_view name) {
    for (const Format& format : formats) {
        if (format.name == name) return &format;
    }
    return nullptr;
}

}  // namespace perfgate::report

// SPDX-License-Identifier: Apache-2.0
// The report formats: each is a pure function from a Run and its verdict to text, in a file of its
// own.
//
// To add a format, write <name>.cpp (start from csv.cpp), and declare its function and add its row
// here. `--report <name>:FILE`, its help and its checks follow from the row.
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

Write write_console, write_junit, write_markdown, write_annotations, write_csv, write_json,
    write_smaller_is_better, write_bigger_is_better;
Write write_html;  ///< throws InputError where has_html_page() (html.hpp) is false

struct Format {
    std::string_view name;         ///< as in `--report junit:FILE`
    std::string_view ending;       ///< of files that need no name before them; empty: none
    std::string_view folder_file;  ///< its file in the output folder; empty: only with its option
    Write* write = nullptr;
};

/// "console" comes first and goes to the terminal; the others are files.
inline constexpr auto formats = std::to_array<Format>({
    {"console", "", "", write_console},             // the table for people
    {"junit", ".xml", "junit.xml", write_junit},    // one testcase per case and relation
    {"markdown", ".md", "", write_markdown},        // what needs attention, worst first
    {"html", ".html", "", write_html},              // every case, its figures and its samples
    {"annotations", "", "", write_annotations},     // GitHub workflow commands
    {"json", ".json", "verdict.json", write_json},  // schema perfgate.verdict
    {"csv", ".csv", "", write_csv},                 // a row per case and metric, and per relation
    {"smaller-is-better", "", "", write_smaller_is_better},  // for github-action-benchmark
    {"bigger-is-better", "", "", write_bigger_is_better},    // of which higher is better
});

/// Null for an unknown name.
constexpr const Format* find_format(std::string_view name) {
    for (const Format& format : formats) {
        if (format.name == name) return &format;
    }
    return nullptr;
}

}  // namespace perfgate::report

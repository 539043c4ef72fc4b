// SPDX-License-Identifier: Apache-2.0
// The options that report formats share. The formats are in formats.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate::report {

/// No single schema serves all readers of JUnit XML. `github` has file, line and properties on each
/// case, which annotations and dashboards read; `strict` validates against the Jenkins and the Ant
/// (Windy Road) schemas, which forbid those.
enum class JunitProfile { github, strict };

/// What the commands to paste are made of.
struct CommandWords {
    std::string verb = "run";  ///< what measured: run or ab
    std::string run_file;      ///< the run document, as the reader can name it; empty: no commands
    std::vector<std::string> gate_words;  ///< options that judged it: "--config", "configs/ci.yaml"
    /// Options with which it is measured and judged again: "--plugin", "mine.so"
    std::vector<std::string> again_words;
    std::set<std::string> not_acceptable;  ///< ids of cases that `baseline accept` refuses
    std::set<std::string> without_base;    ///< ids of cases whose base `ab` cannot check out
    bool builds = false;                   ///< the config says how a checkout is built
};

struct CodeViews;

struct Options {
    // console
    std::size_t width = 0;  ///< columns of the terminal; 0: none (files, CI logs)
    bool color = false;     ///< ANSI colours; the caller knows about terminals and NO_COLOR
    bool list_all = false;  ///< every case, with all that is known about it
    CommandWords commands;  ///< console, markdown, html
    // junit
    JunitProfile junit_profile = JunitProfile::github;
    std::string hostname = "localhost";
    // markdown
    std::string report_url;  ///< of the whole report, checked by is_web_address; empty: unknown
    // html
    const CodeViews* code = nullptr;  ///< of slower cases; null: none
};

/// Whether a report may link to it: http or https, only characters that RFC 3986 allows in
/// addresses, and of bounded length.
bool is_web_address(std::string_view text);

/// "github" or "strict"; nothing for another name.
std::optional<JunitProfile> find_junit_profile(std::string_view name);

}  // namespace perfgate::report

// SPDX-License-Identifier: Apache-2.0
// Reports: a pure function from a Run and what the gate says of it to text, one file per format.
//
// To add a format, write its file (model it on csv.cpp), declare its function in formats.hpp and
// give it a row in reporter.cpp's table: `--<name> FILE` follows from the table.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::report {

/// No one schema serves all readers of JUnit XML. `github` has file, line and properties on each
/// case, which annotations and dashboards read; `strict` validates against the Jenkins and the Ant
/// (Windy Road) schemas, which forbid those.
enum class JunitProfile { github, strict };

struct Options {
    // console
    std::size_t width = 0;  ///< columns of the terminal; 0: as wide as it gets (files, CI logs)
    bool color = false;     ///< ANSI colours; the caller knows about terminals and NO_COLOR
    bool list_all = false;  ///< a row for every case, not only for those that need attention
    // junit
    JunitProfile junit_profile = JunitProfile::github;
    std::string hostname = "localhost";
    // markdown
    std::string report_url;  ///< where the whole report is, by is_web_address; empty: unknown
};

struct Format {
    std::string_view name;  ///< "console", "junit": also the option's name, `--junit FILE`
    std::string_view help;  ///< what the file is, for help texts
    /// `document` is the gate's answer to `run`. Any text from either is taken as hostile. Time is
    /// linear in the number of cases and metrics. The result ends with a newline. "html" throws
    /// InputError in a build without the page (html.hpp).
    std::string (*write)(const model::VerdictDocument& document, const model::Run& run,
                         const Options& options);
};

/// All formats; "console" first, the others are files.
std::span<const Format> formats();

/// Nothing for an unknown name.
const Format* find_format(std::string_view name);

/// Whether a report may link to it: http or https, of the characters that RFC 3986 gives addresses,
/// and of bounded length.
bool is_web_address(std::string_view text);

/// "github" or "strict"; nothing for another name.
std::optional<JunitProfile> find_junit_profile(std::string_view name);

}  // namespace perfgate::report

// SPDX-License-Identifier: Apache-2.0
// The options that report formats share. The formats are in formats.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace perfgate::report {

/// No single schema serves all readers of JUnit XML. `github` has file, line and properties on each
/// case, which annotations and dashboards read; `strict` validates against the Jenkins and the Ant
/// (Windy Road) schemas, which forbid those.
enum class JunitProfile { github, strict };

struct Options {
    // console
    std::size_t width = 0;  ///< columns of the terminal; 0: not limited (files, CI logs)
    bool color = false;     ///< ANSI colours; the caller knows about terminals and NO_COLOR
    bool list_all = false;  ///< a row for every case, not only for those that need attention
    // junit
    JunitProfile junit_profile = JunitProfile::github;
    std::string hostname = "localhost";
    // markdown
    std::string report_url;  ///< of the whole report, checked by is_web_address; empty: unknown
};

/// Whether a report may link to it: http or https, only characters that RFC 3986 allows in
/// addresses, and of bounded length.
bool is_web_address(std::string_view text);

/// "github" or "strict"; nothing for another name.
std::optional<JunitProfile> find_junit_profile(std::string_view name);

}  // namespace perfgate::report

// SPDX-License-Identifier: Apache-2.0
// The HTML report: the page that harness/report/html builds, with its data, in one self-contained
// file.
#pragma once

#include <string>
#include <string_view>

#include "model/run.hpp"
#include "model/verdict.hpp"
#include "report/reporter.hpp"

namespace perfgate::report {

// The pages, embedded in the binary, and how data gets into them (html_page.cpp).

/// HTML documents with "@PERFGATE_DATA@" in place of the data. Empty: this build has none.
std::string_view report_page();   ///< of a run and its verdict
std::string_view profile_page();  ///< of `perfgate profile`
std::string_view history_page();  ///< of `perfgate history site`

/// The message if there is none, with the remedy.
inline constexpr const char* no_html_page =
    "this perfgate was built without the HTML report, which npm makes: build it where npm is "
    "installed and reaches its registry";

/// Appends JSON in which no text ends the script element or begins a comment that would hide its
/// end. Such characters occur only inside strings, where they are written as escapes.
void append_fit_for_script(std::string& out, std::string_view json);

/// The page with its data. Throws InputError with no_html_page for an empty page.
std::string fill_page(std::string_view page, std::string_view json);

/// Whether the page is in this build: npm makes it.
bool has_html_page();

/// What the page shows (html_data.hpp): JSON on one line, in which no text can end the element that
/// holds it, or begin one.
std::string html_data(const model::VerdictDocument& document, const model::Run& run,
                      const Options& options = {});

}  // namespace perfgate::report

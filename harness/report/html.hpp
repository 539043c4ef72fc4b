// SPDX-License-Identifier: Apache-2.0
// The HTML report: the page that harness/report/html builds, with its data, in one self-contained
// file.
#pragma once

#include <string>

#include "model/run.hpp"
#include "model/verdict.hpp"
#include "report/html_page.hpp"

namespace perfgate::report {

/// Whether the page is in this build: npm makes it.
bool has_html_page();

/// What the page shows: JSON on one line (harness/report/html/src/document.ts has its shape), in
/// which no text can end the element that holds it, or begin one.
std::string html_data(const model::VerdictDocument& document, const model::Run& run);

}  // namespace perfgate::report

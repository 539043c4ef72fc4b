// SPDX-License-Identifier: Apache-2.0
// The function behind each row of the table in reporter.cpp; Format::write says what they share.
#pragma once

#include <string>

#include "report/reporter.hpp"

namespace perfgate::report {

std::string write_console(const model::VerdictDocument& document, const model::Run& run,
                          const Options& options);
std::string write_junit(const model::VerdictDocument& document, const model::Run& run,
                        const Options& options);
std::string write_markdown(const model::VerdictDocument& document, const model::Run& run,
                           const Options& options);
std::string write_annotations(const model::VerdictDocument& document, const model::Run& run,
                              const Options& options);
std::string write_csv(const model::VerdictDocument& document, const model::Run& run,
                      const Options& options);
/// Throws InputError where has_html_page() (html.hpp) is false.
std::string write_html(const model::VerdictDocument& document, const model::Run& run,
                       const Options& options);
std::string write_json(const model::VerdictDocument& document, const model::Run& run,
                       const Options& options);

}  // namespace perfgate::report

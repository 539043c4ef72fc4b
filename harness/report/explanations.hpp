// SPDX-License-Identifier: Apache-2.0
// What explains each case, and nothing else: the answer to "why".
#pragma once

#include <string>

#include "model/verdict.hpp"
#include "report/reporter.hpp"

namespace perfgate::report {

/// The cases that have an explanation, worst first, each with its verdict, its time and the lines
/// that explain it; the others counted. Any text is taken as hostile.
std::string write_explanations(const model::VerdictDocument& document, const Options& options);

}  // namespace perfgate::report

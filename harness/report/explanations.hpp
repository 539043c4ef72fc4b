// SPDX-License-Identifier: Apache-2.0
// The output of `explain`: only what explains each case.
#pragma once

#include <string>

#include "model/verdict.hpp"
#include "report/reporter.hpp"

namespace perfgate::report {

/// The cases that have an explanation, worst first, each with its verdict, its time and the lines
/// that explain it; the others counted. All text is untrusted.
std::string write_explanations(const model::VerdictDocument& document, const Options& options);

}  // namespace perfgate::report

// SPDX-License-Identifier: Apache-2.0
// The Verdict as a document.
#pragma once

#include <string>
#include <string_view>

#include "model/verdict.hpp"

namespace perfgate::document {

/// JSON, schema "perfgate.verdict" version 3 (1 is read).
std::string write_verdict(const model::VerdictDocument& document);
model::VerdictDocument parse_verdict(std::string_view json, std::string_view source);

}  // namespace perfgate::document

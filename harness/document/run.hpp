// SPDX-License-Identifier: Apache-2.0
// The Run, its Plan and its Verdict as documents.
#pragma once

#include <string>
#include <string_view>

#include "model/plan.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::document {

/// JSON, schema "perfgate.run" version 3 (1 and 2 are read). `source` names the document in
/// messages. parse_run throws InputError naming the JSON path of what is wrong.
std::string write_run(const model::Run& run);
model::Run parse_run(std::string json, std::string_view source);

// A Plan as JSON (schema perfgate.list): what would be measured and gated.
std::string write_plan(const model::Plan& plan);

/// JSON, schema "perfgate.verdict" version 3 (1 is read).
std::string write_verdict(const model::VerdictDocument& document);
model::VerdictDocument parse_verdict(std::string_view json, std::string_view source);

}  // namespace perfgate::document

// SPDX-License-Identifier: Apache-2.0
// The Run as a document.
#pragma once

#include <string>
#include <string_view>

#include "model/plan.hpp"
#include "model/run.hpp"

namespace perfgate::document {

/// JSON, schema "perfgate.run" version 3 (1 and 2 are read). `source` names the document in
/// messages. parse_run throws InputError naming the JSON path of what is wrong.
std::string write_run(const model::Run& run);
model::Run parse_run(std::string json, std::string_view source);

// A Plan as JSON (schema perfgate.list): what would be measured and gated.
std::string write_plan(const model::Plan& plan);

}  // namespace perfgate::document

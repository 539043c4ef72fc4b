// SPDX-License-Identifier: Apache-2.0
// The Run as a document, and one case of it as a line.
#pragma once

#include <string>
#include <string_view>

#include "model/run.hpp"

namespace perfgate::document {

/// JSON, schema "perfgate.run" version 2 (1 is read). `source` names the document in messages.
/// parse_run throws InputError naming the JSON path of what is wrong.
std::string write_run(const model::Run& run);
model::Run parse_run(std::string json, std::string_view source);

/// One case as a single JSON line: the worker protocol and the journal.
std::string write_case_line(const model::CaseResult& result);
model::CaseResult parse_case_line(std::string_view line, std::string_view source);

}  // namespace perfgate::document

// SPDX-License-Identifier: Apache-2.0
// What is generated from the tables of keys (keys.hpp): configs/*.schema.json, for editors, and the
// tables of keys in the documents. Their tests compare both with the files.
#pragma once

#include <string>
#include <string_view>

namespace perfgate::suite {

/// JSON Schema, draft 7, in one line.
std::string suite_schema();
std::string profile_schema();

/// The keys of a map as a Markdown table: "suite", "plugin", "settings", "tolerance", "override",
/// "command", "label", "benchmark", "source", "work", "profile".
std::string key_table(std::string_view map);

}  // namespace perfgate::suite

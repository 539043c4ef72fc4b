// SPDX-License-Identifier: Apache-2.0
// Reads an item of `workloads` that is a source: a file with a kernel, its launch, arguments and
// check. Sizes and launches are integer expressions over the parameters of the matrix; the texts
// may contain `{param}`. The file itself is not read here.
#pragma once

#include <string_view>

#include "suite/placed_text.hpp"
#include "suite/source_entry.hpp"

namespace perfgate::suite {

ReadSource read_source(const YamlNode& entry, const SourceText& text, Problems& problems);

/// "90", "90a", "103f".
bool is_architecture(std::string_view text);

}  // namespace perfgate::suite

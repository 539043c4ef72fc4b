// SPDX-License-Identifier: Apache-2.0
// Plain tables and names on the terminal, for verbs that report no verdict.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perfgate::cli {

/// Text from outside, made safe for one line.
std::string shown(std::string_view text);

/// Rows of equally many cells, aligned; the last column is not padded.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace perfgate::cli

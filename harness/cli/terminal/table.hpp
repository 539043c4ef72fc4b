// SPDX-License-Identifier: Apache-2.0
// Plain tables on the terminal, for verbs that report no verdict.
#pragma once

#include <string>
#include <vector>

namespace perfgate::cli {

/// Rows of equally many cells, aligned; the last column is not padded.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace perfgate::cli

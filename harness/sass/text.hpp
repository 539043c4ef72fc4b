// SPDX-License-Identifier: Apache-2.0
// A comparison as lines of text.
#pragma once

#include <string>
#include <vector>

#include "sass/difference.hpp"

namespace perfgate::sass {

/// "in all 210 → 260: global memory 16 → 40, FP32 512 → 500": the classes that changed.
std::string classes_text(const Difference& difference);

/// The rows that differ with some around them, marked "-", "+", "~" (operands) and " "; places
/// where they change. No more than `most_lines`, which says so.
std::vector<std::string> rows_text(const elf::Listing& before, const elf::Listing& after,
                                   const Difference& difference, std::size_t most_lines);

/// "blend.cu:19 (was :17)  48 → 120  LDG.E 0 → 32, LDG.E.128 8 → 0", the most changed first.
std::vector<std::string> lines_text(const Difference& difference, std::size_t most_lines);

}  // namespace perfgate::sass

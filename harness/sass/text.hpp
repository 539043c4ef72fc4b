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
std::vector<std::string> rows_text(const model::Listing& before, const model::Listing& after,
                                   const Difference& difference, std::size_t most_lines);

/// "blend.cu:19 (was :17)  48 → 120  LDG.E 0 → 32, LDG.E.128 8 → 0", the most changed first.
std::vector<std::string> lines_text(const Difference& difference, std::size_t most_lines);

/// The kernels of a case, head against base: for each that changed the sentence, the classes, the
/// source lines and the rows; for others that they are the same, or that the base has none. `base`
/// null: it is not at hand. The texts are untrusted, but printable.
std::vector<std::string> case_text(const model::CaseCode* base, const model::CaseCode& head);

}  // namespace perfgate::sass

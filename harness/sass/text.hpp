// SPDX-License-Identifier: Apache-2.0
// Writes a comparison as lines of text, and in one sentence what a slower case's machine code says.
#pragma once

#include <string>
#include <vector>

#include "model/kernel_code.hpp"
#include "model/run.hpp"
#include "sass/difference.hpp"

namespace perfgate::sass {

/// The classes that changed: "instructions 210 → 260: global memory 16 → 40, FP32 512 → 500".
std::string classes_text(const Difference& difference);

/// The rows that differ with some around them, marked "-", "+", "~" (operands) and " "; places
/// where they change. After `most_lines`, a line says how many rows are left out.
std::vector<std::string> rows_text(const model::Listing& before, const model::Listing& after,
                                   const Difference& difference, std::size_t most_lines);

/// The source lines that changed or have samples, the hottest first, then the most changed:
/// "blend.cu:19 (was :17)  samples 12.0 % → 61.3 %  instructions 48 → 120  LDG.E 0 → 32, LDG.E.128
/// 8 → 0". After `most_lines`, a line says how many are left out.
std::vector<std::string> lines_text(const Difference& difference, std::size_t most_lines);

/// Compares the kernels of a case, head against base: for each that changed the sentence, the
/// classes, the source lines and the rows; for others that they are the same, or that the base has
/// none. `base` null: it is not at hand. Names and places are untrusted: not yet printable.
std::vector<std::string> case_text(const model::CaseCode* base, const model::CaseCode& head);

// What a slower case's machine code and samples say, in the sentences that reports show.

/// A kernel of the head and the base's that it takes the place of.
struct KernelPair {
    const model::KernelCode* before = nullptr;  ///< null: the base has none
    const model::KernelCode* after = nullptr;   ///< never null
};

/// Every kernel of the head: with the base's of its name, or, of as many kernels, the one in its
/// place. `base` null: it is not at hand.
std::vector<KernelPair> kernel_pairs(const model::CaseCode* base, const model::CaseCode& head);

/// About the kernel with the most added samples, or, without samples, the first that changed.
/// `base` null: it is not at hand.
model::CodeFinding finding_of(const model::CaseCode* base, const model::CaseCode& head);

}  // namespace perfgate::sass

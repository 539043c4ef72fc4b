// SPDX-License-Identifier: Apache-2.0
// What a slower case's machine code and samples say, in the sentences that reports show.
#pragma once

#include <vector>

#include "model/kernel_code.hpp"
#include "model/run.hpp"

namespace perfgate::sass {

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

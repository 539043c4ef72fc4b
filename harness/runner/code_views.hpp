// SPDX-License-Identifier: Apache-2.0
// The machine code that a run keeps of its slower cases, as its report's page shows it.
#pragma once

#include "model/kernel_code.hpp"
#include "model/verdict.hpp"
#include "report/code_page.hpp"

namespace perfgate::runner {

/// The verdict has the times of the cases' kernels.
report::CodeViews code_views(const model::VerdictDocument& verdict, const model::KeptCode& kept);

}  // namespace perfgate::runner

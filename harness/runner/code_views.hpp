// SPDX-License-Identifier: Apache-2.0
// The machine code that a run keeps of its slower cases, as its report's page shows it.
#pragma once

#include "model/kernel_code.hpp"
#include "model/run.hpp"
#include "report/code_page.hpp"

namespace perfgate::runner {

/// Source text is that of regular files that git has below the current folder at the run's
/// revision; nothing of the working tree is read. A run of changed files has none.
report::CodeViews code_views(const model::Run& run, const model::KeptCode& kept);

}  // namespace perfgate::runner

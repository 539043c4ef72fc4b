// SPDX-License-Identifier: Apache-2.0
// Groups the cases that need attention by what users feel, the reason and the kernel.
#pragma once

#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::explain {

/// Fills in SuiteVerdict::groups from the cases' verdicts and explanations. The worst group comes
/// first, and in it the worst case. `run` names the kernels.
void group_cases(const model::Run& run, model::VerdictDocument& document);

}  // namespace perfgate::explain

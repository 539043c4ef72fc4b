// SPDX-License-Identifier: Apache-2.0
// Completes a suite's verdict once its metrics are judged: the verdict of each case, what all cases
// share, and the cases that only the baseline has.
#pragma once

#include "model/baseline.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// How a baseline is created or renewed.
inline constexpr const char* refresh_remedy = "'perfgate baseline refresh'";

/// Completes the verdict of a suite of the run; the baseline may be null.
void finish_suite(const model::Run& run, const model::SuiteResult& suite,
                  const model::Baseline* baseline, const model::ChangePolicy& policy,
                  model::SuiteVerdict& verdict);

}  // namespace perfgate::gate

// SPDX-License-Identifier: Apache-2.0
// The loop of every run that is judged: ask the gate which cases it flags, measure those again in
// fresh processes, repeat.
#pragma once

#include <functional>
#include <vector>

#include "gate/rule.hpp"
#include "measure/measuring.hpp"
#include "model/run.hpp"

namespace perfgate::runner {

/// The cases that the gate flags in the run so far.
using Flagged = std::function<std::vector<model::CaseIndex>(const model::Run&)>;

/// Measures again, round by round, until no flagged case can be measured again. A round that an
/// earlier execution of the run has begun is finished first. Does nothing for a run that only
/// verifies; stops if the user interrupts.
void confirm(measure::Measuring& measuring, const Flagged& flagged,
             gate::Processes processes = gate::Processes::alone);

}  // namespace perfgate::runner

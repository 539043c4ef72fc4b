// SPDX-License-Identifier: Apache-2.0
// `run --set canary=true`: proves in seconds that the gate fails where it should.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gate/self_test.hpp"
#include "model/plan.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"
#include "runner/choice.hpp"

namespace perfgate::runner {

/// The measured case of a plugin or a source that took least time and gates a time; nothing where
/// there is none.
std::optional<gate::Canary> choose_canary(const model::Run& run, const model::Policy& policy);

/// Reduces the plan to the time of the canary's case and slows it down.
void keep_canary(model::Plan& plan, const gate::Canary& canary);

/// Adds a note where nothing of the run can be a canary, so that every report shows it, once.
void note_without_canary(const model::Run& run, model::VerdictDocument& verdict);

/// Measures a quick case of the run once more, made slower, into the folder `canary` of the run's,
/// and reports the gate's result on standard error. 0 if the slowdown is found or no case gates a
/// time, 3 if it is missed, 130 if the measurement was interrupted.
int try_canary(const model::Run& run, const std::vector<std::string>& suites,
               MeasuringChoice measuring, const model::Policy& policy);

}  // namespace perfgate::runner

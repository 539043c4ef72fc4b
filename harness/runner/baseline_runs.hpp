// SPDX-License-Identifier: Apache-2.0
// Measures runs for a baseline: with more processes than a usual run, and without judging.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "measure/session.hpp"
#include "model/run.hpp"
#include "runner/choice.hpp"

namespace perfgate::runner {

/// The complete usual run of a prepared session, with as many processes again for cases that are
/// noisy for their tolerance.
void measure_for_baseline(measure::Session& session, std::size_t processes);

/// This many runs of the suites, one after another; if there are several, each in its own folder,
/// run-1 and so on, and with each case on the device that the first run measured it on. Each is
/// stored as run.json; if that fails, a message says so, and no more. The processes of a baseline
/// are divided among them unless the choice states a number. After an interruption the last run is
/// incomplete, and no more follow. Throws InputError before it measures anything if a baseline that
/// is to be replaced cannot be used; `baselines` is their folder.
std::vector<model::Run> measure_baseline_runs(const std::vector<std::string>& suites,
                                              const MeasuringChoice& choice, std::size_t runs,
                                              const std::string& baselines);

}  // namespace perfgate::runner

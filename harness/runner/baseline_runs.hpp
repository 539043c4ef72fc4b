// SPDX-License-Identifier: Apache-2.0
// Measuring what a baseline is made of: more processes than a usual run, and nothing judged.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "measure/session.hpp"
#include "model/run.hpp"
#include "runner/choice.hpp"

namespace perfgate::runner {

/// All of a prepared session's usual run, with as many processes again for cases that are noisy for
/// their tolerance.
void measure_for_baseline(measure::Session& session, std::size_t processes);

/// So many runs of the suites, one after the other; several each in a folder of its own, run-1 and
/// so on. The processes of a baseline are spread over them unless the choice says how many. After
/// an interruption the last run is not whole and there are no more.
std::vector<model::Run> measure_baseline_runs(const std::vector<std::string>& suites,
                                              const MeasuringChoice& choice, std::size_t runs);

}  // namespace perfgate::runner

// SPDX-License-Identifier: Apache-2.0
// A run in place of the baseline: the base of a back-to-back measurement.
#pragma once

#include <string>

#include "gate/baseline_set.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// The measured cases of each suite, with all batches, and why the others are not measured.
/// Messages use `name` where they name the file of a baseline.
BaselineSet baselines_of(const model::Run& base, const std::string& name);

/// Notes in which cases the head measures something else than the base, as its suite states it.
void note_other_measurements(const StoredBaseline& base, const model::SuiteResult& head,
                             model::SuiteVerdict& verdict);

/// Gives the base run's reason for each case of the head that has nothing to compare with. Where
/// the base failed to measure it, the case is an error: whether the head is slower is not known. A
/// metric that the base alone could not collect is `not_collected`. If the base skips the case, or
/// its result is wrong, there is no time to compare with. The base's notes are added to its case's.
void add_what_base_says(const StoredBaseline& base, model::SuiteVerdict& verdict);

}  // namespace perfgate::gate

// SPDX-License-Identifier: Apache-2.0
// A run in the place of the baseline: what the base of a back-to-back measurement says of the
// head's cases.
#pragma once

#include <string>

#include "gate/gate.hpp"
#include "model/run.hpp"
#include "model/verdict.hpp"

namespace perfgate::gate {

/// The measured cases of each suite, all batches as they were taken. `name` stands where a
/// baseline's file does.
BaselineSet baselines_of(const model::Run& base, const std::string& name);

/// Why a case of the head has nothing to be compared with, in the words of the base's run.
void explain_what_base_lacks(const model::Run& base, model::VerdictDocument& document);

}  // namespace perfgate::gate

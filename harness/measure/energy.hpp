// SPDX-License-Identifier: Apache-2.0
// The metrics of one loop of launches without rests: energy, power, and the stated work per joule.
#pragma once

#include <string>

#include "measure/backend.hpp"
#include "measure/case_settings.hpp"
#include "model/run.hpp"

namespace perfgate::measure {

/// Whether the case asks for one of them.
bool asks_for_energy(const CaseSettings& settings);

/// Adds a batch of one value for each metric that the case asks for, or why there is none. With
/// `times_only`, no reason is added: the process has no batch.
void add_energy(Case& opened, const std::string& board, const CaseSettings& settings,
                model::CaseResult& result);

}  // namespace perfgate::measure

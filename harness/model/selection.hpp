// SPDX-License-Identifier: Apache-2.0
// Selects cases of a stored run, as --filter and --tag do, and tells which cases of a baseline they
// select.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/run.hpp"

namespace perfgate::model {

/// The run with the selected cases only. Its suites are then partial. A suite without a selected
/// case stays, because its baseline may have one. Throws InputError for a filter or tag that
/// selects no case, and if nothing is selected.
Run select_cases(Run run, const Selection& selection);

/// Whether the selections of a run select a case of a baseline. Nothing if its tags are unknown.
std::optional<bool> covers(const std::vector<Selection>& selections, const std::string& id,
                           const std::optional<std::vector<std::string>>& tags);

}  // namespace perfgate::model

// SPDX-License-Identifier: Apache-2.0
// Choosing cases of a stored run, as --filter and --tag do, and which of a baseline were chosen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/run.hpp"

namespace perfgate::model {

/// The run with the selected cases only. Its suites are partial then, and stay where none of their
/// cases is selected: their baselines may have one that is. Throws InputError for a filter or tag
/// that selects no case, and where nothing is selected.
Run select_cases(Run run, const Selection& selection);

/// Whether the selections of a run select a case of a baseline. Nothing: its tags are not known.
std::optional<bool> covers(const std::vector<Selection>& selections, const std::string& id,
                           const std::optional<std::vector<std::string>>& tags);

}  // namespace perfgate::model

// SPDX-License-Identifier: Apache-2.0
// Choosing cases of a stored run, as --filter and --tag do.
#pragma once

#include <string>
#include <vector>

#include "model/run.hpp"

namespace perfgate::gate {

/// A case is selected where one of `filters` matches its id and it has one of `tags`; no filters,
/// or no tags, select all.
struct Selection {
    std::vector<std::string> filters;  ///< globs
    std::vector<std::string> tags;
};

/// The run with the selected cases only. Its suites are partial then: what a selection left out is
/// not missing. Throws InputError where nothing is selected.
model::Run select_cases(model::Run run, const Selection& selection);

}  // namespace perfgate::gate

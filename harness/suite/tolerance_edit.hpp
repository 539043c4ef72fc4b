// SPDX-License-Identifier: Apache-2.0
// Changes tolerances in the text of a suite and leaves every other byte as it is. Whether the
// result means what was wanted is for the caller to check: it reads the suite again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "suite/problems.hpp"

namespace perfgate::suite {

/// `yaml` with `tolerance` in place of the one that the entry of `workloads` around `entry` states
/// under one of `keys`, the first that it has; quotes stay. Nothing if the entry states none there
/// that is one word, or as the `worse` of a map.
std::optional<std::string> with_stated_tolerance(std::string_view yaml, Position entry,
                                                 const std::vector<std::string>& keys,
                                                 std::string_view tolerance);

/// `yaml` with an override for the case of this id behind the suite's others. `tolerances` are
/// metrics and what is written for them.
std::string with_override(std::string_view yaml, std::string_view id,
                          const std::vector<std::pair<std::string, std::string>>& tolerances);

}  // namespace perfgate::suite

// SPDX-License-Identifier: Apache-2.0
// Compares two states of what is expected and lists what the later one takes away from the gate.
// What makes the gate stricter, or adds to it, is no finding. Only what documents say can be told:
// of the code of plugins, harness and workflows this knows nothing (SECURITY.md).
#pragma once

#include <string>
#include <vector>

#include "review/expectations.hpp"
#include "review/finding.hpp"

namespace perfgate::review {

/// One finding for all cases of a place that have the same in common; by kind, then place.
std::vector<Finding> loosened(const Expectations& before, const Expectations& after);

/// What the comparison says nothing of, a line each.
std::vector<std::string> not_reviewed(const Expectations& before, const Expectations& after);

}  // namespace perfgate::review

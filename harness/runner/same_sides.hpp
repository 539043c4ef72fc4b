// SPDX-License-Identifier: Apache-2.0
// What base and head of a comparison have in common though it should differ: a comparison of a
// thing with itself finds nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/plan.hpp"

namespace perfgate::runner {

/// By suite: what both sides run that is the same (Subject::same_as).
std::map<std::string, std::vector<std::string>> same_program_notes(const BothPlans& plans);

}  // namespace perfgate::runner

// SPDX-License-Identifier: Apache-2.0
// What base and head of a comparison have in common though it should differ: a comparison of a
// thing with itself finds nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/plan.hpp"

namespace perfgate::runner {

/// By suite: the programs of which both sides run the same file, or ELF files of the same content,
/// in the same environment.
std::map<std::string, std::vector<std::string>> same_program_notes(const BothPlans& plans);

}  // namespace perfgate::runner

// SPDX-License-Identifier: Apache-2.0
// What base and head of a comparison have in common though it should differ: a comparison of a
// thing with itself finds nothing.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runner/plan.hpp"

namespace perfgate::runner {

/// Throws util::InputError if both name the same file or folder, through whatever links. The
/// options are for the message.
void require_different(std::string_view base_option, const std::string& base,
                       std::string_view head_option, const std::string& head);

/// By suite: what both sides run that is the same (Subject::same_as).
std::map<std::string, std::vector<std::string>> same_program_notes(const BothPlans& plans);

}  // namespace perfgate::runner

// SPDX-License-Identifier: Apache-2.0
// `perfgate ab --base-env --head-env`: variables of the programs of one side of a comparison.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/plan.hpp"

namespace perfgate::runner {

/// From the NAME=VALUE that were given to an option. Values are taken as they are. Throws
/// util::InputError, naming the option, for a name that a suite's `env` may not have either.
model::Variables variables_of(std::string_view option, const std::vector<std::string>& words);

/// "FOO, PATH": the names of those that one side lacks or has another value of. Empty: none.
std::string differing_names(const model::Variables& base, const model::Variables& head);

}  // namespace perfgate::runner

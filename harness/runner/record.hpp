// SPDX-License-Identifier: Apache-2.0
// Runs a program under the injection library, which records its GPU activity (`profile`).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inject/settings.hpp"

namespace perfgate::runner {

/// Runs the program until it ends, is interrupted, or `time_limit_s` (0: none) is over. Returns why
/// it did not end normally; nothing if it did. Throws InputError if another profiler or MPS is in
/// use, Error without the injection library.
std::optional<std::string> record_program(const std::vector<std::string>& words,
                                          const inject::Settings& settings, double time_limit_s);

}  // namespace perfgate::runner

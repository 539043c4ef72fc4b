// SPDX-License-Identifier: Apache-2.0
// The result of `selftest` for the terminal.
#pragma once

#include <string>

#include "runner/self_test.hpp"

namespace perfgate::cli {

std::string self_test_text(const runner::SelfTestOutcome& outcome,
                           const runner::SelfTestRequest& request);

}  // namespace perfgate::cli

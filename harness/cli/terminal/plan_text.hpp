// SPDX-License-Identifier: Apache-2.0
// What suites would measure, as `list` prints it.
#pragma once

#include <string>
#include <vector>

#include "model/plan.hpp"
#include "suite/suite.hpp"

namespace perfgate::cli {

/// `suites` are those of the plan, in its order.
std::string plan_text(const model::Plan& plan, const std::vector<suite::Suite>& suites);

}  // namespace perfgate::cli

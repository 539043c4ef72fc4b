// SPDX-License-Identifier: Apache-2.0
// A Plan as JSON (schema perfgate.list): what would be measured and gated.
#pragma once

#include <string>

#include "model/plan.hpp"

namespace perfgate::document {

std::string write_plan(const model::Plan& plan);

}  // namespace perfgate::document

// SPDX-License-Identifier: Apache-2.0
// What two executions must have in common so that their results form one run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/environment.hpp"
#include "model/plan.hpp"

namespace perfgate::measure {

/// Field and value, both readable: {"driver", "580.159.04"}, {"case gemm: gemm/tiled[…]", "seed 1,
/// …"}.
using Identity = std::vector<std::pair<std::string, std::string>>;

/// The environment's and the plan's part.
Identity identity_of(const model::Plan& plan, const model::Environment& environment);

/// The first field that differs, with both values: "driver was 1, is now 2". Empty if none differs.
std::string difference(const Identity& before, const Identity& now);

}  // namespace perfgate::measure

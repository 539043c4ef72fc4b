// SPDX-License-Identifier: Apache-2.0
// The cost of the cases of a plan, for dividing it into shards.
#pragma once

#include <string>

#include "model/plan.hpp"
#include "suite/shard.hpp"

namespace perfgate::runner {

/// From the run document `run` or, if that is empty, the baselines of this device in `folder`.
/// Throws InputError for a document that cannot be used.
suite::CaseCosts shard_costs(const model::Plan& plan, const std::string& run,
                             const std::string& folder, const std::string& device_key);

}  // namespace perfgate::runner

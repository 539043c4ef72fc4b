// SPDX-License-Identifier: Apache-2.0
// Divides a Plan among machines: `--shard 2/3` measures the second of three parts, and `perfgate
// merge` combines them into one run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "model/plan.hpp"
#include "model/run.hpp"

namespace perfgate::suite {

struct ShardChoice {
    std::int64_t index = 1, count = 1;  ///< the first is 1
};

/// "2/3". Throws model::InputError for anything else.
ShardChoice parse_shard(std::string_view text);

/// Seconds by suite and case id, as far as they are known.
using CaseCosts = std::map<std::pair<std::string, std::string>, double>;

/// Keeps the shard's cases in the plan, in their order. Suites without any are dropped, the others
/// are `partial`. Records what all shards together have.
///
/// The costliest case is assigned first, to the shard with the least work, or the first of equal
/// ones. A case of unknown cost counts as the median of its workload, else of all known ones; if
/// none is known, all cases count the same. The result depends only on plan and costs, which must
/// be the same for all shards. Throws model::InputError if there are fewer cases to run than
/// shards.
model::Shard take_shard(model::Plan& plan, const ShardChoice& choice, const CaseCosts& costs);

}  // namespace perfgate::suite

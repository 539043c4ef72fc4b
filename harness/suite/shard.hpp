// SPDX-License-Identifier: Apache-2.0
// Dividing a Plan among machines: `--shard 2/3` measures the second of three parts, and
// `perfgate merge` makes one run of them.
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

/// Leaves the shard's cases in the plan, in their order; suites of which none is left are dropped,
/// the others are `partial`. Says what all shards have between them.
///
/// The costliest case goes first, to the shard with the least to do, of equal ones the first. A
/// case of unknown cost counts as the median of its workload's, else of all known ones, else as
/// every other. Only plan and costs decide: all shards must be given the same. Throws
/// model::InputError where there are fewer cases to run than shards.
model::Shard take_shard(model::Plan& plan, const ShardChoice& choice, const CaseCosts& costs);

}  // namespace perfgate::suite

// SPDX-License-Identifier: Apache-2.0
// Divides a Plan among machines: `--shard 2/3` measures the second of three parts, and `perfgate
// merge` combines them into one run.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/plan.hpp"
#include "model/run.hpp"

namespace perfgate::suite {

struct ShardChoice {
    std::int64_t index = 1, count = 1;  ///< the first is 1
};

/// "2/3". Throws util::InputError for anything else.
ShardChoice parse_shard(std::string_view text);

/// Keeps the shard's cases in the plan, in their order. Suites without any are dropped, the others
/// are `partial`. Records what all shards together have.
///
/// Cases are dealt out in turn, in the order of the suites' names and their ids, first those that
/// run: the result depends only on the plan's cases. Throws util::InputError if there are fewer
/// cases to run than shards.
model::Shard take_shard(model::Plan& plan, const ShardChoice& choice);

}  // namespace perfgate::suite

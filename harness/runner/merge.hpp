// SPDX-License-Identifier: Apache-2.0
// One run from the shards that a run was divided into.
#pragma once

#include <string>
#include <vector>

#include "model/run.hpp"

namespace perfgate::runner {

/// A shard and the file it was read from.
struct NamedRun {
    std::string file;
    model::Run run;
};

/// The run that one machine would have produced: every case once, in the suites' order, suites as
/// complete as before they were divided. Environment and tools are the first shard's; times add up.
/// Shards may come from several boards of one device key: each case's batches name its board.
///
/// Throws InputError, naming the files and the problem, if one is not a shard, was interrupted, or
/// was filtered since; if a shard or a case is duplicated or missing; and if shards differ in
/// suites, devices, backends, drivers, tools or revisions.
model::Run merge_shards(std::vector<NamedRun> shards);

}  // namespace perfgate::runner

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

/// The run that would have been, had one machine measured it all: every case once, in the suites'
/// order, the suites as whole as they were. Environment and tools are the first shard's; times add
/// up. Shards may be of several boards of a device key: each case's batches say which was its own.
///
/// Throws InputError, naming files and what is wrong, if one is no shard, was interrupted, or
/// was filtered since; where a shard is there twice or missing, or a case is; and where shards are
/// of other suites, devices, backends, drivers, tools or revisions.
model::Run merge_shards(std::vector<NamedRun> shards);

}  // namespace perfgate::runner

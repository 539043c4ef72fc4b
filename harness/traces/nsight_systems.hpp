// SPDX-License-Identifier: Apache-2.0
// SQLite exports of Nsight Systems (`nsys export --type sqlite`). Their tables and columns differ
// between versions: what an export lacks is not on record. Times are nanoseconds from the start of
// the capture.
#pragma once

#include <filesystem>
#include <vector>

#include "activity/recording.hpp"

namespace perfgate::traces {

/// A recording for each process with CUDA activity, by process id. Throws util::InputError for what
/// is no such export or has no CUDA activity.
std::vector<activity::Recording> read_nsight_systems(const std::filesystem::path& file);

}  // namespace perfgate::traces

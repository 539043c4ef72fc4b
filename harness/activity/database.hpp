// SPDX-License-Identifier: Apache-2.0
// Recordings as a SQLite database (docs/profile-database.md).
#pragma once

#include <filesystem>
#include <vector>

#include "activity/profile.hpp"
#include "activity/timeline.hpp"

namespace perfgate::activity {

/// All that is on record, with one profile for each process. The file is replaced when the new one
/// is whole. Throws Error where it cannot be written.
void write_database(const std::filesystem::path& file, const std::vector<Timeline>& processes,
                    const std::vector<Profile>& profiles);

}  // namespace perfgate::activity

// SPDX-License-Identifier: Apache-2.0
// A profile of a program for the terminal: what the GPU did, what the host did, and what to look
// at.
#pragma once

#include <cstddef>
#include <string>

#include "activity/difference.hpp"
#include "activity/profile.hpp"

namespace perfgate::cli {

struct ProfileTables {
    std::size_t rows = 10;    ///< at most, in each table
    std::size_t width = 100;  ///< columns; names are cut in the middle
};

/// Everything from outside in it is printable.
std::string profile_text(const activity::Profile& profile, const ProfileTables& options = {});
std::string difference_text(const activity::ProfileDifference& difference,
                            const ProfileTables& options = {});

}  // namespace perfgate::cli

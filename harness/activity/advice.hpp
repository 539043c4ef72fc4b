// SPDX-License-Identifier: Apache-2.0
// What a profile suggests to look at first.
#pragma once

#include <string>
#include <vector>

#include "activity/profile.hpp"

namespace perfgate::activity {

/// At most `count` sentences with their figures, what takes most of the time first. Each is one
/// line; names in them come from the program and are to be made printable.
std::vector<std::string> advice(const Profile& profile, std::size_t count = 3);

/// What one has to know to read the profile's figures, in sentences.
std::vector<std::string> notes(const Profile& profile);

}  // namespace perfgate::activity

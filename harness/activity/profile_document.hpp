// SPDX-License-Identifier: Apache-2.0
// Profiles as a document.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "activity/profile.hpp"

namespace perfgate::activity {

/// JSON, schema "perfgate.profile" version 1: one element for each process.
std::string write_profiles(const std::vector<Profile>& profiles);

/// Throws model::InputError, with the place, for a text that is no such document.
std::vector<Profile> parse_profiles(std::string_view json, std::string_view source);

}  // namespace perfgate::activity

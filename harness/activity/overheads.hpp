// SPDX-License-Identifier: Apache-2.0
// Host time that CUPTI and the driver took for themselves, counted separately: what CUPTI takes is
// the cost of recording, what the driver takes (compiling, loading code) the program has without a
// profiler, too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "activity/profile.hpp"

namespace perfgate::activity {

/// Of a CUpti_ActivityOverheadKind.
std::string overhead_name(std::uint32_t kind);

/// Fills `overheads` and their sums; the profile's windows must be set.
void add_overheads(const std::vector<Overhead>& records, Profile& profile);

}  // namespace perfgate::activity

// SPDX-License-Identifier: Apache-2.0
// A suite to begin with, made from one recorded run of a program.
#pragma once

#include <string>
#include <vector>

#include "activity/profile.hpp"

namespace perfgate::command {

/// YAML of a suite that gates the program: the NVTX ranges and kernels with most GPU time, with
/// tolerances no finer than what varied within the run, and expectations that hold in it. `folder`
/// is the program's working folder as the suite is to have it; empty: the suite's own. Throws
/// model::InputError where the program did nothing on a GPU, or where a suite cannot hold its
/// words.
std::string suite_draft(const std::vector<std::string>& words, const std::string& folder,
                        const std::vector<activity::Profile>& profiles);

}  // namespace perfgate::command

// SPDX-License-Identifier: Apache-2.0
// A suite to begin with, made from one recorded run of a program.
#pragma once

#include <string>
#include <vector>

#include "activity/profile.hpp"

namespace perfgate::command {

/// Throws util::InputError if a suite cannot hold the words: too many, too long, or with a
/// `{name}`, which suites replace.
void check_suite_words(const std::vector<std::string>& words);

/// The name of its suite: the program's, or that of the script which an interpreter gets.
std::string suite_name(const std::vector<std::string>& words);

/// YAML of a suite that gates the program: the NVTX ranges and kernels with most GPU time, with
/// tolerances of ranges from their spread within the run (2 % to 25 %), 5 % for the program and for
/// kernels, or three ticks of the GPU's clock, and expectations that hold in the run. `folder` is
/// written as `cwd`; empty: none. Throws util::InputError if the program ran no kernel.
std::string suite_draft(const std::vector<std::string>& words, const std::string& folder,
                        const std::vector<activity::Profile>& profiles);

}  // namespace perfgate::command

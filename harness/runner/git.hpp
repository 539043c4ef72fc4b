// SPDX-License-Identifier: Apache-2.0
// What git knows of where perfgate runs. Without git, or a repository, nothing: runs and baselines
// do without.
#pragma once

#include <filesystem>
#include <string>

namespace perfgate::runner {

/// HEAD of the repository that `folder` is in, "-dirty" appended where files changed; empty where
/// there is no repository or no git.
std::string git_revision(const std::filesystem::path& folder);

/// The user's name, as commits have it; empty where git does not know one.
std::string git_user_name();

}  // namespace perfgate::runner

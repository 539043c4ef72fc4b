// SPDX-License-Identifier: Apache-2.0
// What git knows about the folder that perfgate runs in. Results are empty without git or a
// repository; runs and baselines do not need them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace perfgate::runner {

/// HEAD of the repository that `folder` is in, "-dirty" appended if files changed; empty if there
/// is no repository or no git.
std::string git_revision(const std::filesystem::path& folder);

/// A file of a commit, as stored: nothing is checked out, and no filter is run.
struct GitFile {
    std::string path;    ///< below the current folder
    std::string mode;    ///< "100644", "100755"; "120000" is a link, "160000" a submodule
    std::string object;  ///< its name
    std::size_t size_bytes = 0;
};

/// The files of `revision` below these folders of the current one. Nothing if there is no such
/// revision, no repository or no git.
std::optional<std::vector<GitFile>> git_files(const std::string& revision,
                                              const std::vector<std::string>& folders);

/// The file's content; for a link, its target. Nothing if git does not have it.
std::optional<std::string> git_content(const GitFile& file);

/// The user's name, as used in commits; empty if git does not know one.
std::string git_user_name();

}  // namespace perfgate::runner

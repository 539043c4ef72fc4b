// SPDX-License-Identifier: Apache-2.0
// What git knows about the folder that perfgate runs in. Results are empty without git or a
// repository; runs and baselines do not need them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace perfgate::runner {

/// HEAD of the repository that `folder` is in, "-dirty" appended if files changed; empty if there
/// is no repository or no git.
std::string git_revision(const std::filesystem::path& folder);

/// The address of the pull or merge request that this process runs for, as GitHub, what runs its
/// actions (Forgejo, Gitea), or GitLab say in the environment; empty: for none, or another CI.
std::string pull_request_of_ci();

/// Whether the repository that `folder` is in has neither changed nor untracked files.
bool git_is_clean(const std::filesystem::path& folder);

/// Whether git leaves a file out of commits; false if that is not known.
bool git_ignores(const std::filesystem::path& file);

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

/// Where a folder is in its repository.
struct GitPlace {
    std::filesystem::path top;  ///< of the repository's working tree, absolute
    std::string problem;        ///< git's words why there is none; empty: there is
};
GitPlace git_place(const std::filesystem::path& folder);

/// The name of the commit that `revision` stands for; empty if the repository has none.
std::string git_commit(const std::filesystem::path& folder, const std::string& revision);

/// A commit with its parents, by name.
struct GitCommit {
    std::string name;
    std::vector<std::string> parents;
};

/// The commits after `good` up to `bad`, both names of commits, oldest first, along the first
/// parents of merges. Nothing if `good` is no ancestor of `bad`, or git fails.
std::optional<std::vector<GitCommit>> git_history(const std::filesystem::path& folder,
                                                  const std::string& good, const std::string& bad);

/// The first line of a commit's message; empty if there is none.
std::string git_subject(const std::filesystem::path& folder, const std::string& commit);

/// The best common ancestor of two commits; empty if they have none.
std::string git_merge_base(const std::filesystem::path& folder, const std::string& some,
                           const std::string& other);

/// When a commit was made, in seconds since 1970; nothing if `commit` is not the whole name of one
/// that the repository has.
std::optional<std::int64_t> git_commit_time(const std::filesystem::path& folder,
                                            const std::string& commit);

/// Whether commits were left out when the repository was cloned.
bool git_is_shallow(const std::filesystem::path& folder);

/// Checks a commit out into `path`, which does not exist yet: a worktree without a branch. No hook
/// runs, and nothing of the working tree of `folder` changes. Returns git's words if it fails.
std::string git_add_worktree(const std::filesystem::path& folder, const std::filesystem::path& path,
                             const std::string& commit);

/// Removes it again, with all that is in it, also while the terminal interrupts other processes.
/// Returns git's words if it fails.
std::string git_remove_worktree(const std::filesystem::path& folder,
                                const std::filesystem::path& path);

/// The user's name, as used in commits; empty if git does not know one.
std::string git_user_name();

}  // namespace perfgate::runner

// SPDX-License-Identifier: Apache-2.0
// Changes several files of a folder of baselines as one: after a kill, a crash or on a full disk
// either all of them have changed or none.
//
// The new contents are staged in a folder of their own, `.perfgate-change`, together with a list of
// what each replaces. Giving the list its name decides the change; only then are the files moved to
// their places. What a process that was killed has left there is finished or removed by the next
// one that holds the lock. The staging folder has a .gitignore of its own, so that nobody commits
// it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate::baseline {

/// The name of the staging folder.
inline constexpr std::string_view staging_name = ".perfgate-change";

struct FileChange {
    std::filesystem::path name;          ///< relative to the folder: "<device-key>/<suite>.json"
    std::optional<std::string> content;  ///< nothing: the file is removed
};

/// The caller holds the folder's lock. Throws Error naming the file that cannot be written; then no
/// file has changed.
void change_files(const std::filesystem::path& folder, const std::vector<FileChange>& changes);

/// Finishes a change that was decided, or removes one that was not; says so in one line, for the
/// user. Empty: nothing was left. The caller holds the folder's lock. Throws InputError if the
/// change cannot be finished, naming the remedy.
std::string finish_interrupted_change(const std::filesystem::path& folder);

/// What an interrupted change has left in the folder, in one line with the remedy; empty: nothing,
/// or a writer is at it. Reads only.
std::string interrupted_change(const std::filesystem::path& folder);

// One writer at a time for a folder of baselines: held from before a baseline is read until it and
// its ledger are written, so that none of two concurrent acceptances is lost. Readers need no lock:
// each file is replaced as a whole.

class BaselineLock {
  public:
    struct Waiting {
        double limit_s = 60;
        std::function<void()> tell = {};  ///< once, when it has to wait
        /// Told in one line what a writer that was killed had left.
        std::function<void(const std::string&)> recovered = {};
        /// Replaces flock(2) in tests, which simulate network file systems that cannot lock
        /// folders.
        std::function<int(int fd, int operation)> flock = {};
    };
    /// Locks the folder itself, which leaves no file behind and works if it is read-only; if the
    /// file system cannot lock folders, a file `.perfgate.lock` in it. The kernel releases the lock
    /// when the process ends, even by a signal. Creates the folder. Then finishes, or removes, what
    /// a writer that was killed has left. Throws util::Error naming the
    /// folder if another process holds the lock for longer than the limit, or if nothing can be
    /// locked.
    BaselineLock(std::filesystem::path folder, const Waiting& waiting);
    ~BaselineLock();
    BaselineLock& operator=(BaselineLock&&) = delete;  // nor copied

    const std::filesystem::path& folder() const { return folder_; }

  private:
    std::filesystem::path folder_;
    int fd_ = -1;
};

}  // namespace perfgate::baseline

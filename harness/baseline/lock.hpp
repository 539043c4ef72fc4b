// SPDX-License-Identifier: Apache-2.0
// One writer at a time for a folder of baselines: held from before a baseline is read until it and
// its ledger are written, so that none of two concurrent acceptances is lost. Readers need no lock:
// each file is replaced as a whole.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace perfgate::baseline {

class BaselineLock {
  public:
    struct Waiting {
        double limit_s = 60;
        std::function<void()> tell = {};  ///< once, when it has to wait
        /// Told in one line what a writer that was killed had left (file_changes.hpp).
        std::function<void(const std::string&)> recovered = {};
        /// As flock(2). Tests use it to simulate network file systems that cannot lock folders.
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

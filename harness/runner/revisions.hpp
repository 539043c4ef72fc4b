// SPDX-License-Identifier: Apache-2.0
// Git revisions of the repository that suites are in, checked out for a comparison.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/plan.hpp"
#include "util/error.hpp"
#include "util/temporary_folder.hpp"

namespace perfgate::runner {

/// The build command of a checkout failed: a revision without a build has nothing to measure.
class BuildFailed : public util::Error {
  public:
    using Error::Error;
};

/// Runs a command line (MeasuringChoice::build) in a checkout; `named` is the checkout in messages.
/// Throws BuildFailed with the last lines of its errors, and measure::Interrupted.
void build_checkout(const std::string& command, const std::string& folder,
                    const std::string& named);

/// The checkouts are worktrees in a temporary folder, which end with it. The user's working tree,
/// index and branches stay as they are.
class Revisions {
  public:
    /// `build` is a command line that makes a checkout ready; empty: none is needed. Throws
    /// util::InputError unless all suites are in one repository.
    explicit Revisions(const std::vector<std::string>& suites, std::string build = {});
    ~Revisions();
    Revisions& operator=(Revisions&&) = delete;  // nor copied

    /// The name of the commit. Throws util::InputError with the remedy if the repository does not
    /// have the revision; `named` is what names it in messages, "--base rev:main".
    std::string commit_of(const std::string& named, const std::string& revision) const;
    /// Checked out and built. Throws as commit_of does, util::InputError if git cannot check it
    /// out, and as build_checkout does.
    Checkout check_out(const std::string& named, const std::string& revision);
    /// What the user works on, as it is.
    Checkout working_tree() const;
    /// Of the repository.
    const std::filesystem::path& top() const { return top_; }

  private:
    std::filesystem::path git_top_;               ///< of the repository, as git has it
    std::filesystem::path top_;                   ///< the same as the suites' paths have it
    std::vector<std::filesystem::path> folders_;  ///< of the suites, below it
    std::string build_;
    util::TemporaryFolder temporary_;
    std::vector<std::filesystem::path> worktrees_;
};

}  // namespace perfgate::runner

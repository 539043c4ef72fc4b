// SPDX-License-Identifier: Apache-2.0
// Git revisions of the repository that suites are in, checked out for a comparison.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/plan.hpp"
#include "util/temporary_folder.hpp"

namespace perfgate::runner {

/// The checkouts are worktrees in a temporary folder, which end with it. The user's working tree,
/// index and branches stay as they are.
class Revisions {
  public:
    /// Throws util::InputError unless all suites are in one repository.
    explicit Revisions(const std::vector<std::string>& suites);
    ~Revisions();
    Revisions(const Revisions&) = delete;
    Revisions& operator=(const Revisions&) = delete;

    /// Throws util::InputError with the remedy if the repository does not have the revision, or
    /// git cannot check it out, and measure::Interrupted. `option` named it.
    Checkout check_out(const std::string& option, const std::string& revision);
    /// What the user works on, as it is.
    Checkout working_tree() const;

  private:
    std::filesystem::path git_top_;               ///< of the repository, as git has it
    std::filesystem::path top_;                   ///< the same as the suites' paths have it
    std::vector<std::filesystem::path> folders_;  ///< of the suites, below it
    util::TemporaryFolder temporary_;
    std::vector<std::filesystem::path> worktrees_;
};

}  // namespace perfgate::runner

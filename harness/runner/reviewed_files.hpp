// SPDX-License-Identifier: Apache-2.0
// The files that `review` compares, of a commit and of the working tree. They are untrusted: none
// is run, no link is followed, and sizes are bounded.
#pragma once

#include <string>

#include "review/expectations.hpp"

namespace perfgate::runner {

/// Folders (or single files) below the current one.
struct ReviewedFolders {
    std::string suites = "suites", profiles = "configs", baselines = "baselines";
};

/// Throws InputError if git does not know the revision.
review::Files files_of_revision(const std::string& revision, const ReviewedFolders& folders);
review::Files files_of_working_tree(const ReviewedFolders& folders);

}  // namespace perfgate::runner

// SPDX-License-Identifier: Apache-2.0
// The files that `review` compares, of a commit and of the working tree. They are untrusted: none
// is run, no link is followed, and sizes are bounded.
#pragma once

#include <string>
#include <vector>

#include "review/expectations.hpp"

namespace perfgate::runner {

/// Below the current folder, each a file, a folder, or a pattern as ci/action takes it: * ? []
/// stand for any text within a part of the path, and not for a leading dot. Patterns are matched
/// with the files of each state, so that a file that is gone from one of them is not overlooked.
struct ReviewedPlaces {
    std::vector<std::string> suites = {"suites/*.yaml"};
    std::vector<std::string> profiles = {"configs"};
    std::vector<std::string> baselines;  ///< none: the folders that the profiles name
    /// The folders of baselines that are outside the repository.
    std::vector<std::string> outside = {};
};

/// Throws InputError if git does not know the revision, or if a file is of two kinds.
review::Files files_of_revision(const std::string& revision, const ReviewedPlaces& places);
review::Files files_of_working_tree(const ReviewedPlaces& places);

/// The places with the baselines' folders that the profiles of either state name, if none is
/// stated.
ReviewedPlaces with_baselines_of_profiles(const std::string& revision, ReviewedPlaces places);

/// The places of one kind that neither state has a file in.
std::vector<std::string> empty_places(const std::vector<std::string>& places, review::FileRole role,
                                      const review::Files& before, const review::Files& after);

}  // namespace perfgate::runner

// SPDX-License-Identifier: Apache-2.0
// Compares two states of suites, profiles and baselines and lists where the later one weakens the
// gate. Changes that make the gate stricter, or add to it, are not listed. Only documents are read:
// the code of plugins, harness and workflows is not reviewed (SECURITY.md).
#pragma once

#include <string>
#include <vector>

#include "review/expectations.hpp"
#include "review/finding.hpp"

namespace perfgate::review {

struct Review {
    /// One finding for all cases of a place with the same change; sorted by kind, then place.
    std::vector<Finding> findings;
    std::vector<std::string> not_reviewed;  ///< parts that were not compared, one line each
    /// Why a whole kind of file was not compared, one line each: the review is none.
    std::vector<std::string> not_compared = {};
};

Review review(const Files& before, const Files& after, const model::WorkloadCatalogue& workloads);

/// 2 if files were not compared; 1 if something is looser and the review is not only advice.
int exit_code(const Review& review, bool advisory);

}  // namespace perfgate::review

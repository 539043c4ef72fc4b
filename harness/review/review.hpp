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

// The review as text, as JSON and as annotations of a pull request. Text from the change is
// untrusted and is made printable for a terminal or a job's log: output.cpp.

/// What was not compared, then a table of the findings; `base` is the commit that the change was
/// compared with.
std::string write_text(const Review& review, const std::string& base);

/// Schema perfgate.review.
std::string write_json(const Review& review, const std::string& base);

/// GitHub workflow commands: warnings if the review is only advice, else errors. Ten at most, first
/// the acknowledgements.
std::string write_annotations(const Review& review, bool advisory);

}  // namespace perfgate::review

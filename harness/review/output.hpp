// SPDX-License-Identifier: Apache-2.0
// Findings as JSON, as annotations of a pull request, and in words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "review/finding.hpp"

namespace perfgate::review {

/// Text from the change, which is untrusted, for a terminal or a job's log.
std::string cell(std::string_view text);

/// "3% → 5%".
std::string change_text(const Finding& finding);

/// Schema perfgate.review; `notes` is what was not reviewed.
std::string write_json(const std::vector<Finding>& findings, const std::vector<std::string>& notes,
                       const std::string& base);

/// GitHub workflow commands: warnings where the review is advisory, errors otherwise.
std::string write_annotations(const std::vector<Finding>& findings, bool advisory);

}  // namespace perfgate::review

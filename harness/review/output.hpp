// SPDX-License-Identifier: Apache-2.0
// A review as text, as JSON and as annotations of a pull request. Text from the change is untrusted
// and is made printable for a terminal or a job's log.
#pragma once

#include <string>

#include "review/review.hpp"

namespace perfgate::review {

/// What was not compared, then a table of the findings; `base` is the commit that the change was
/// compared with.
std::string write_text(const Review& review, const std::string& base);

/// Schema perfgate.review.
std::string write_json(const Review& review, const std::string& base);

/// GitHub workflow commands: warnings if the review is only advice, else errors.
std::string write_annotations(const Review& review, bool advisory);

}  // namespace perfgate::review

// SPDX-License-Identifier: Apache-2.0
// The text of source lines, for a page that shows where a kernel's time goes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/kernel_code.hpp"

namespace perfgate::runner {

/// The git revision that a case's code was built from; empty: it is not known.
using RevisionOf = std::function<std::string(const model::CaseCode&)>;

/// The text of the lines that the code's instructions are of. It is that of regular files that git
/// has below the current folder, at the case's revision or, of a working tree that was changed
/// ("…-dirty"), as they are there; no link is followed. Others have no text, and neither has a line
/// that differs between the revisions of two cases.
std::vector<model::SourceLine> source_lines(const std::vector<model::CaseCode>& code,
                                            const RevisionOf& revision_of);

}  // namespace perfgate::runner

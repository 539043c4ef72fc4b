// SPDX-License-Identifier: Apache-2.0
// The text of source lines, for a page that shows where a kernel's time goes.
#pragma once

#include <string>
#include <vector>

#include "model/kernel_code.hpp"

namespace perfgate::runner {

/// The text of the lines that the code's instructions are of. It is that of regular files that git
/// has below the current folder, at this revision or, of a working tree that was changed
/// ("…-dirty"), as they are there; no link is followed. Others have no text.
std::vector<model::SourceLine> source_lines(const std::string& revision,
                                            const std::vector<model::CaseCode>& code);

}  // namespace perfgate::runner

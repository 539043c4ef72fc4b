// SPDX-License-Identifier: Apache-2.0
// A workflow command of GitHub Actions, which annotates a line of a file.
#pragma once

#include <string>
#include <string_view>

#include "model/case.hpp"

namespace perfgate::report {

/// The most annotations of a kind per step; GitHub silently drops the rest.
inline constexpr std::size_t most_annotations = 10;

/// "::warning file=…,line=…,title=…::message" and a newline. `kind`: "error", "warning", "notice".
/// Title and message are plain (plain_text.hpp) and are escaped here; the message may have several
/// lines.
std::string workflow_command(std::string_view kind, const model::SourcePlace& place,
                             std::string_view title, std::string_view message);

}  // namespace perfgate::report

// SPDX-License-Identifier: Apache-2.0
// Text from outside made fit for GitHub's Markdown: it shows as it was and does nothing. No markup,
// no HTML, no cell of its own in a table, no mention of a person, no reference to an issue, no
// link.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace perfgate::report {

/// One line of at most about `limit` bytes of `text` (escapes come on top).
std::string markdown_text(std::string_view text, std::size_t limit);

/// The same as code, which is shown in full width and copied as it stands.
std::string markdown_code(std::string_view text, std::size_t limit);

}  // namespace perfgate::report

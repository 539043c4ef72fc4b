// SPDX-License-Identifier: Apache-2.0
// Escapes untrusted text for GitHub's Markdown: it is shown unchanged and has no effect: no markup,
// HTML, table cells, mentions, references to issues or links.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace perfgate::report {

/// One line of at most about `limit` bytes of `text`, not counting escapes.
std::string markdown_text(std::string_view text, std::size_t limit);

/// The same as code, which is shown in full width and can be copied.
std::string markdown_code(std::string_view text, std::size_t limit);

}  // namespace perfgate::report

// SPDX-License-Identifier: Apache-2.0
// Cleans untrusted text for files that other programs parse. Removes terminal escape sequences,
// control characters, bidirectional overrides (they make a report show what it does not say),
// everything that XML 1.0 forbids, and bytes that are not UTF-8.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perfgate::report {

/// Several lines: '\n' and tabs stay, "\r\n" and '\r' become '\n'.
std::string plain_text(std::string_view text);

/// One line: every run of white space is a single space, none at the ends; at most `limit` bytes,
/// an ellipsis last where it was cut.
std::string plain_line(std::string_view text, std::size_t limit);

/// The same without a copy if `text` already is such a line, as in most cases; otherwise `room`
/// holds the line.
std::string_view plain_line(std::string_view text, std::size_t limit, std::string& room);

/// The last lines of `text`, plain, of at most `limit` bytes.
std::string plain_tail(std::string_view text, std::size_t limit);

/// The text with each of these characters replaced.
std::string replaced(std::string_view text,
                     std::span<const std::pair<char, std::string_view>> replacements);

/// As many of the lines as fit, each with its end, and how many do not.
std::string first_lines(const std::vector<std::string>& lines, std::size_t limit);

/// One line for a terminal or the log of a CI job, as util::printable makes it, and not a command
/// for GitHub's runner, which reads "::add-mask::x" and "##[add-mask]x" wherever they are printed.
std::string log_line(std::string_view text, std::size_t limit = 1000);

}  // namespace perfgate::report

// SPDX-License-Identifier: Apache-2.0
#include "report/markdown_text.hpp"

#include "report/plain_text.hpp"

namespace perfgate::report {

namespace {

bool is_letter_or_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Numeric references are text to every reader of CommonMark and of GitHub's tables in any context;
/// a backslash before a '|' is not.
void append_reference(std::string& out, char c) {
    out += "&#" + std::to_string(static_cast<int>(c)) + ';';
}

/// An empty element that prevents a name or a number from becoming a mention.
constexpr std::string_view no_mention = "&#8203;";

/// "://" and "www." become links if they are not escaped.
bool begins_link(std::string_view text, std::size_t at) {
    if (text[at] == ':') return text.substr(at, 3) == "://";
    if (text[at] != '.' || at < 3) return false;
    for (std::size_t i = at - 3; i < at; ++i) {
        if (text[i] != 'w' && text[i] != 'W') return false;
    }
    return true;
}

/// '-', '+', '=', "1." and "1)" at the start of a line begin lists and headings.
bool begins_block(std::string_view text, std::size_t at) {
    const char c = text[at];
    if (c == '-' || c == '+' || c == '=') return at == 0;
    const bool ends_marker = at + 1 == text.size() || text[at + 1] == ' ';
    if ((c != '.' && c != ')') || !ends_marker) return false;
    for (std::size_t i = 0; i < at; ++i) {
        if (!is_digit(text[i])) return false;
    }
    return at > 0;
}

/// gpu_time is a name; _this_ would be emphasis.
bool is_inside_word(std::string_view text, std::size_t at) {
    return at > 0 && at + 1 < text.size() && is_letter_or_digit(text[at - 1]) &&
           is_letter_or_digit(text[at + 1]);
}

/// Whether the character can be markup where it stands.
bool is_markup(std::string_view line, std::size_t at) {
    const char c = line[at];
    if (std::string_view("&<>@#\\`*[]{}~|$!").find(c) != std::string_view::npos) return true;
    return c == '_' ? !is_inside_word(line, at) : begins_link(line, at) || begins_block(line, at);
}

std::string escaped(std::string_view line) {
    std::string out;
    out.reserve(line.size() + line.size() / 8);
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (!is_markup(line, i)) {
            out += c;
        } else if (c == '&' || c == '<' || c == '>') {
            out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : "&gt;";
        } else {
            append_reference(out, c);
            if (c == '@' || c == '#') out += no_mention;
        }
    }
    return out;
}

}  // namespace

std::string markdown_text(std::string_view text, std::size_t limit) {
    return escaped(plain_line(text, limit));
}

std::string markdown_code(std::string_view text, std::size_t limit) {
    const std::string line = plain_line(text, limit);
    // Only these two end a code span or the cell that contains it, and a backslash would change the
    // meaning of the second. Such names are rare and are shown as escaped text.
    if (!line.empty() && line.find_first_of("`|\\") == std::string::npos) return '`' + line + '`';
    return "<code>" + escaped(line) + "</code>";
}

}  // namespace perfgate::report

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

/// Numeric references are text to every reader of CommonMark and GitHub's tables, whatever stands
/// around them; a backslash is not, before a '|'.
void append_reference(std::string& out, char c) {
    out += "&#" + std::to_string(static_cast<int>(c)) + ';';
}

/// An empty place that keeps a name or a number from being taken for a mention.
constexpr std::string_view no_mention = "&#8203;";

/// "://" and "www." become links where they stand as they are.
bool begins_link(std::string_view text, std::size_t at) {
    if (text[at] == ':') return text.substr(at, 3) == "://";
    if (text[at] != '.' || at < 3) return false;
    for (std::size_t i = at - 3; i < at; ++i) {
        if (text[i] != 'w' && text[i] != 'W') return false;
    }
    return true;
}

/// '-', '+', '=', "1." and "1)" begin lists and headings where a line begins with them.
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

std::string escaped(std::string_view line) {
    std::string out;
    out.reserve(line.size() + line.size() / 8);
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '@':
            case '#':
                append_reference(out, c);
                out += no_mention;
                break;
            case '\\':
            case '`':
            case '*':
            case '[':
            case ']':
            case '{':
            case '}':
            case '~':
            case '|':
            case '$':
            case '!':
                append_reference(out, c);
                break;
            case '_':
                if (is_inside_word(line, i)) {
                    out += c;
                } else {
                    append_reference(out, c);
                }
                break;
            case ':':
            case '.':
            case ')':
            case '-':
            case '+':
            case '=':
                if (begins_link(line, i) || begins_block(line, i)) {
                    append_reference(out, c);
                } else {
                    out += c;
                }
                break;
            default:
                out += c;
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
    // Nothing but these two ends a code span or a cell that holds one, and a backslash would change
    // what the second means. Such names are rare enough to be shown by other means.
    if (!line.empty() && line.find_first_of("`|\\") == std::string::npos) return '`' + line + '`';
    return "<code>" + escaped(line) + "</code>";
}

}  // namespace perfgate::report

// SPDX-License-Identifier: Apache-2.0
#include "report/plain_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "util/text.hpp"

namespace perfgate::report {

namespace {

constexpr char escape = '\x1b';
constexpr std::string_view ellipsis = "\u2026";

/// How far a string sequence (a window title, a hyperlink) is searched for its end. Without an end
/// only the introducer is removed, so that a stray escape cannot remove a whole log.
constexpr std::size_t longest_string_sequence = 2048;

bool in_range(char c, char first, char last) {
    return c >= first && c <= last;
}

/// The position behind a control sequence whose parameters begin at `position`.
std::size_t skip_control_sequence(std::string_view text, std::size_t position) {
    while (position < text.size() && in_range(text[position], '\x30', '\x3f')) ++position;
    while (position < text.size() && in_range(text[position], '\x20', '\x2f')) ++position;
    if (position < text.size() && in_range(text[position], '\x40', '\x7e')) ++position;
    return position;
}

std::size_t skip_string_sequence(std::string_view text, std::size_t position) {
    const std::size_t end = std::min(text.size(), position + longest_string_sequence);
    for (std::size_t i = position; i < end && text[i] != '\n'; ++i) {
        if (text[i] == '\a') return i + 1;
        if (text[i] == escape && i + 1 < end && text[i + 1] == '\\') return i + 2;
    }
    return position;
}

/// The position behind the escape sequence (ECMA-48) that begins at `position`.
std::size_t skip_escape_sequence(std::string_view text, std::size_t position) {
    ++position;
    if (position == text.size()) return position;
    const char kind = text[position];
    if (kind == '[') return skip_control_sequence(text, position + 1);
    if (std::string_view("]PX^_").find(kind) != std::string_view::npos) {
        return skip_string_sequence(text, position + 1);
    }
    while (position < text.size() && in_range(text[position], '\x20', '\x2f')) ++position;
    if (position < text.size() && in_range(text[position], '\x30', '\x7e')) ++position;
    return position;
}

/// In valid UTF-8.
bool starts_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

bool is_kept(char32_t c) {
    if (c == '\n' || c == '\t') return true;
    return !util::is_terminal_control(c) && c != 0xFFFE && c != 0xFFFF;
}

/// Whether it is a plain line already, with nothing to drop or replace.
bool is_plain_line(std::string_view text) {
    bool after_space = true;
    for (std::size_t position = 0; position < text.size();) {
        const char c = text[position];
        if (in_range(c, ' ', '~')) {
            if (c == ' ' && after_space) return false;
            after_space = c == ' ';
            ++position;
            continue;
        }
        const util::Utf8Step step = util::utf8_step(text, position);
        if (step.length == 1 || !step.valid || !is_kept(step.code_point)) return false;
        after_space = false;
        position += step.length;
    }
    return text.empty() || !after_space;
}

/// Makes every run of white space a single space, and drops those at the ends.
void join_words(std::string& text) {
    std::size_t end = 0;
    bool space_due = false;
    for (const char c : text) {
        if (c == ' ' || c == '\n' || c == '\t') {
            space_due = end > 0;
            continue;
        }
        if (space_due) text[end++] = ' ';
        space_due = false;
        text[end++] = c;
    }
    text.resize(end);
}

}  // namespace

std::string plain_text(std::string_view text) {
    constexpr char32_t control_sequence_introducer = 0x9B;
    std::string plain;
    plain.reserve(text.size());
    std::size_t position = 0;
    while (true) {
        const std::size_t ascii = util::printable_ascii_length(text.substr(position));
        plain += text.substr(position, ascii);
        position += ascii;
        if (position == text.size()) return plain;
        if (text[position] == escape) {
            position = skip_escape_sequence(text, position);
            continue;
        }
        const util::Utf8Step step = util::utf8_step(text, position);
        const std::string_view bytes = text.substr(position, step.length);
        position += step.length;
        if (!step.valid) continue;
        if (step.code_point == control_sequence_introducer) {
            position = skip_control_sequence(text, position);
        } else if (bytes == "\r") {
            if (position == text.size() || text[position] != '\n') plain += '\n';
        } else if (is_kept(step.code_point)) {
            plain += bytes;
        }
    }
}

std::string plain_line(std::string_view text, std::size_t limit) {
    std::string room;
    const std::string_view line = plain_line(text, limit, room);
    return room.empty() ? std::string(line) : std::move(room);
}

std::string_view plain_line(std::string_view text, std::size_t limit, std::string& room) {
    if (text.size() <= limit && is_plain_line(text)) return text;
    room = plain_text(text);
    join_words(room);
    if (room.size() > limit) {
        std::size_t cut = limit - std::min(limit, ellipsis.size());
        while (cut > 0 && !starts_character(room[cut])) --cut;
        room.resize(cut);
        room += ellipsis;
    }
    return room;
}

std::string replaced(std::string_view text,
                     std::span<const std::pair<char, std::string_view>> replacements) {
    std::string out;
    for (const char c : text) {
        const auto found = std::find_if(replacements.begin(), replacements.end(),
                                        [c](const auto& known) { return known.first == c; });
        if (found == replacements.end()) {
            out += c;
        } else {
            out += found->second;
        }
    }
    return out;
}

std::string first_lines(const std::vector<std::string>& lines, std::size_t limit) {
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (text.size() + lines[i].size() + 1 > limit) {
            return text + fmt::format("({} more lines left out)\n", lines.size() - i);
        }
        text += lines[i] + '\n';
    }
    return text;
}

std::string log_line(std::string_view text, std::size_t limit) {
    std::string line = util::printable(text, limit);
    // The runner first skips Unicode white space.
    const auto visible =
        std::find_if(line.begin(), line.end(), [](char c) { return in_range(c, '\x21', '\x7e'); });
    const auto begin = static_cast<std::size_t>(visible - line.begin());
    if (line.compare(begin, 2, "::") == 0) line.insert(begin + 1, 1, ' ');
    constexpr std::string_view old_form = "##[";
    for (std::size_t at = line.find(old_form); at != std::string::npos;
         at = line.find(old_form, at)) {
        line.insert(at + old_form.size() - 1, 1, ' ');
    }
    return line;
}

std::string plain_tail(std::string_view text, std::size_t limit) {
    std::string plain = plain_text(text);
    if (plain.size() <= limit) return plain;
    // Starts at the beginning of a line, unless the last line alone is too long.
    std::size_t start = plain.size() - limit;
    const std::size_t newline = plain.find('\n', start);
    if (newline != std::string::npos && newline + 1 < plain.size()) start = newline + 1;
    while (start < plain.size() && !starts_character(plain[start])) ++start;
    plain.erase(0, start);
    return plain;
}

}  // namespace perfgate::report

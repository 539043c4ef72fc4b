// SPDX-License-Identifier: Apache-2.0
#include "suite/placed_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace perfgate::suite {

PlacedText PlacedText::behind(std::string_view prefix) const {
    PlacedText longer = *this;
    longer.text_.insert(0, prefix);
    longer.prefix_bytes_ += prefix.size();
    return longer;
}

void PlacedText::add(std::size_t offset, std::string message, Problems& problems) const {
    if (!exact_) {
        message += fmt::format(" (character {} of the text)",
                               offset - std::min(offset, prefix_bytes_) + 1);
    }
    problems.add(at(offset), std::move(message));
}

Position PlacedText::at(std::size_t offset) const {
    if (!exact_) return start_;
    return {start_.line,
            start_.column + static_cast<std::int64_t>(offset - std::min(offset, prefix_bytes_))};
}

SourceText::SourceText(std::string_view yaml) : yaml_(yaml), line_starts_{0} {
    for (std::size_t i = 0; i < yaml.size(); ++i) {
        if (yaml[i] == '\n') line_starts_.push_back(i + 1);
    }
}

PlacedText SourceText::place(const YamlNode& scalar) const {
    const auto line = static_cast<std::size_t>(scalar.at.line) - 1;
    if (line >= line_starts_.size()) return {scalar.text, scalar.at, false};
    const std::size_t begin = line_starts_[line] + static_cast<std::size_t>(scalar.at.column) - 1;
    if (begin >= yaml_.size()) return {scalar.text, scalar.at, false};
    const char quote = yaml_[begin];
    const std::size_t skip = !scalar.plain && (quote == '"' || quote == '\'') ? 1 : 0;
    // The file has the same bytes there: no escape, fold or alias in between.
    const bool exact = yaml_.substr(begin + skip, scalar.text.size()) == scalar.text;
    if (!exact) return {scalar.text, scalar.at, false};
    return {
        scalar.text, {scalar.at.line, scalar.at.column + static_cast<std::int64_t>(skip)}, true};
}

Cursor::Cursor(const PlacedText& placed, std::size_t longest, Problems& problems)
    : placed_(placed), text_(placed.text()), problems_(problems) {
    if (text_.size() > longest) {
        fail(0,
             fmt::format("an expression of {} bytes; expected at most {}", text_.size(), longest));
    }
}

void Cursor::fail(std::size_t offset, std::string message) const {
    add(offset, std::move(message));
    throw SyntaxError{};
}

void Cursor::fail_unexpected_word(std::string_view expected) const {
    fail(at_, fmt::format("unexpected {}; expected {}", found_word(), expected));
}

void Cursor::add(std::size_t offset, std::string message) const {
    placed_.add(offset, std::move(message), problems_);
}

void Cursor::skip_spaces() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n') ++at_;
}

char Cursor::take(std::string_view any_of) {
    skip_spaces();
    if (at_end() || any_of.find(peek()) == std::string_view::npos) return '\0';
    return text_[at_++];
}

std::string Cursor::found() const {
    return at_end() ? "the end" : in_quotes(rest().substr(0, 1));
}

std::string Cursor::found_word() const {
    const std::string_view next = rest();
    const auto end = std::ranges::find_if_not(next, is_word_char);
    if (end == next.begin()) return found();
    return in_quotes(next.substr(0, static_cast<std::size_t>(end - next.begin())));
}

}  // namespace perfgate::suite

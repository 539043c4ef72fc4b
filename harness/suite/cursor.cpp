// SPDX-License-Identifier: Apache-2.0
#include "suite/cursor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace perfgate::suite {

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
    const auto end = std::find_if_not(next.begin(), next.end(), is_word_char);
    if (end == next.begin()) return found();
    return in_quotes(next.substr(0, static_cast<std::size_t>(end - next.begin())));
}

}  // namespace perfgate::suite

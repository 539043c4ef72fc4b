// SPDX-License-Identifier: Apache-2.0
// The text of a YAML scalar with the location of each of its bytes in the file, for messages that
// point into it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/fields.hpp"
#include "suite/problems.hpp"
#include "suite/yaml_reader.hpp"

namespace perfgate::suite {

class PlacedText {
  public:
    /// `exact`: the text stands in the file from `start` on, byte by byte.
    PlacedText(std::string_view text, Position start, bool exact)
        : text_(text), start_(start), exact_(exact) {}

    /// The same with a prefix that is not in the file; its location is the beginning.
    PlacedText behind(std::string_view prefix) const;

    const std::string& text() const { return text_; }
    Position start() const { return start_; }

    /// Adds a problem at a byte of the text. If escapes or folding leave only the location of the
    /// whole scalar, the message gives the number of the character.
    void add(std::size_t offset, std::string message, Problems& problems) const;
    Position at(std::size_t offset) const;

  private:
    std::string text_;
    Position start_;
    bool exact_;
    std::size_t prefix_bytes_ = 0;
};

class SourceText {
  public:
    /// Keeps `yaml`, which must outlive it.
    explicit SourceText(std::string_view yaml);

    PlacedText place(const YamlNode& scalar) const;

  private:
    std::string_view yaml_;
    std::vector<std::size_t> line_starts_;
};

// A place in an expression that is read from left to right, with messages that point there.

/// Ends the reading of a text; the problem has been reported.
struct SyntaxError {};

constexpr bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// In words that messages quote, and in names of metrics.
constexpr bool is_word_char(char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '.';
}

class Cursor {
  public:
    /// At the start of the text, which must outlive it. Fails if that has more than `longest`
    /// bytes.
    Cursor(const PlacedText& placed, std::size_t longest, Problems& problems);

    /// Adds a problem at a byte of the text.
    void add(std::size_t offset, std::string message) const;
    /// The same, and throws SyntaxError.
    [[noreturn]] void fail(std::size_t offset, std::string message) const;
    /// "unexpected 'word'; expected …", of what is next.
    [[noreturn]] void fail_unexpected_word(std::string_view expected) const;
    Position place(std::size_t offset) const { return placed_.at(offset); }

    std::size_t at() const { return at_; }
    void move_to(std::size_t at) { at_ = at; }
    bool at_end() const { return at_ >= text_.size(); }
    char peek() const { return at_end() ? '\0' : text_[at_]; }
    std::string_view rest() const { return text_.substr(at_); }
    std::string from(std::size_t begin) const {
        return std::string(text_.substr(begin, at_ - begin));
    }

    void skip() { ++at_; }  ///< the next character
    void skip_spaces();
    /// Skips spaces, then the character that is next if it is one of these, and returns it; '\0':
    /// it is none.
    char take(std::string_view any_of);
    template <typename Predicate>
    std::string take_while(Predicate belongs) {
        const std::size_t begin = at_;
        while (!at_end() && belongs(peek())) ++at_;
        return from(begin);
    }

    /// What is next, for messages: a character or a word in quotes, or "the end".
    std::string found() const;
    std::string found_word() const;

  private:
    const PlacedText& placed_;
    std::string_view text_;
    Problems& problems_;
    std::size_t at_ = 0;
};

/// The result of `read`, or nothing after a syntax error.
template <typename Read>
auto unless_wrong(const Read& read) -> std::optional<decltype(read())> {
    try {
        return read();
    } catch (const SyntaxError&) {
        return std::nullopt;
    }
}

}  // namespace perfgate::suite

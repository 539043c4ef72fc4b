// SPDX-License-Identifier: Apache-2.0
// Python's tokens, as far as decorators and parameters need them. Untrusted input.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate::python {

struct Token {
    enum class Kind { name, number, text, symbol, newline, end };
    Kind kind = Kind::end;
    std::string text;  ///< of a text: its content
    std::size_t line = 0;
    bool first = false;   ///< at the beginning of an unindented line
    bool literal = true;  ///< of a text: false if it has escapes or a prefix that are not read
};

/// The tokens of a whole file, ended by one of the kind `end`. Throws util::InputError `file:line:
/// …` for a text that ends in the middle of a string or parenthesis.
std::vector<Token> tokens_of(std::string_view text, const std::string& file);

/// Behind the block of the top level that begins at or before `at`: where the next line begins that
/// is not indented.
std::size_t end_of_block(const std::vector<Token>& tokens, std::size_t at);

}  // namespace perfgate::python

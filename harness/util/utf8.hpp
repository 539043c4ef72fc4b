// SPDX-License-Identifier: Apache-2.0
// One step through text that may not be UTF-8: shared by all code that handles untrusted text.
#pragma once

#include <cstddef>
#include <string_view>

namespace perfgate::util {

/// The replacement for ill-formed sequences, U+FFFD.
inline constexpr std::string_view replacement_character = "\xef\xbf\xbd";

struct Utf8Step {
    std::size_t length = 0;   ///< bytes to advance, at least 1; 0 only at the end of the text
    char32_t code_point = 0;  ///< meaningful if `valid`
    bool valid =
        false;  ///< false: these bytes are an ill-formed sequence (Unicode's maximal subpart)
};

/// The sequence that starts at `position`. Overlong forms, surrogates and code points over U+10FFFF
/// are ill-formed.
Utf8Step utf8_step(std::string_view text, std::size_t position);

/// Number of printable ASCII bytes at the start of `text`: nearly every text is all ASCII and needs
/// no decoding.
std::size_t printable_ascii_length(std::string_view text);

/// True for code points that must not reach a terminal: C0, C1, DEL, line and paragraph separators,
/// and the bidirectional controls, which can make text appear as something else.
bool is_terminal_control(char32_t code_point);

}  // namespace perfgate::util

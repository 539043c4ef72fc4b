// SPDX-License-Identifier: Apache-2.0
// Numbers in text, as std::from_chars reads them: no blanks, no '+'. In a header alone, since
// recorded programs have it too.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace perfgate::util {

/// The number that the whole text is; nothing if it is none, or out of range. `format` is the base
/// of an integer.
template <class Number, class... Format>
std::optional<Number> parsed(std::string_view text, Format... format) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value, format...);
    return error == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

}  // namespace perfgate::util

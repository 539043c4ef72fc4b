// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace perfgate::util {

/// What a to_text says of what is no value of its enum.
inline constexpr std::string_view no_word = "unknown";

/// The word for a value of an enum, of the words for all of its values in their order; `last` is
/// its last value.
template <auto last, std::size_t count>
constexpr std::string_view word_of(decltype(last) value, const std::string_view (&words)[count]) {
    static_assert(count == static_cast<std::size_t>(last) + 1, "a word for each value");
    const auto at = static_cast<std::size_t>(value);
    return at < count ? words[at] : no_word;
}

}  // namespace perfgate::util

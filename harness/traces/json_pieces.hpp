// SPDX-License-Identifier: Apache-2.0
// Splits the JSON of a trace into the members of its root and the elements of its arrays, and holds
// one of them at a time: a trace may be larger than memory, and most of it is not needed.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate::traces {

/// Fills as much of a buffer as there is left and returns how much that is.
using Fill = std::function<std::size_t(char* to, std::size_t size)>;

class JsonPieces {
  public:
    /// Bytes that simdjson reads behind a text.
    static constexpr std::size_t padding = 64;
    /// The longest value that is looked at.
    static constexpr std::size_t longest_value = std::size_t{16} << 20;
    /// The longest text, inflated: reading it takes some ten seconds.
    static constexpr std::size_t most_bytes = std::size_t{8} << 30;

    /// `source` names the text in messages. All throw util::InputError with the byte at which it is
    /// no JSON. The values that are skipped need not be JSON.
    JsonPieces(Fill fill, std::string source);

    /// Whether the root is an object; enters it.
    bool enter_object();
    /// The next key of the root, without its escapes read; nothing at its end. Its value is next.
    std::optional<std::string> key();
    /// Whether the next value is an array; enters it.
    bool enter_array();
    /// The next element of the array that was entered; nothing at its end.
    std::optional<std::string_view> element();
    /// The value; valid until the next call, with `padding` readable bytes behind it.
    std::string_view value();
    void skip();
    /// Throws if anything follows the root.
    void finish();

    /// Throws util::InputError that names the place of the last value.
    [[noreturn]] void fail(std::string_view what) const;

  private:
    bool more();
    char next();
    char next_visible();
    void pass_value();
    void pass_container();

    Fill fill_;
    std::string source_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0, at_ = 0, end_ = 0;  ///< in the buffer: of the piece, read, filled
    std::size_t before_ = 0;                    ///< bytes that were in front of the buffer
    bool keep_ = false, first_ = true;
};

}  // namespace perfgate::traces

// SPDX-License-Identifier: Apache-2.0
// The JSON that benchmarks write, which is not always JSON: NaN and Infinity are bare words, a line
// is a document, a counter has the name of another key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "document/json_reader.hpp"

namespace perfgate::benchmark {

enum class RepeatedKeys : std::uint8_t { are_refused, are_renamed };

/// What the second key of a name is called, with RepeatedKeys::are_renamed.
std::string again(std::string_view key);

/// Bare NaN and Infinity become texts, which number_of reads. Throws util::InputError that begins
/// with `source`.
document::JsonDocument parse_json(std::string_view text, std::string_view source,
                                  RepeatedKeys repeated = RepeatedKeys::are_refused);

/// A document on each line: an array of them.
document::JsonDocument parse_json_lines(std::string_view text, std::string_view source);

/// Whether the text is several documents, each on a line.
bool has_json_lines(std::string_view text);

/// A number, also what is none. Throws where the value is neither.
double number_of(document::JsonValue value);

}  // namespace perfgate::benchmark

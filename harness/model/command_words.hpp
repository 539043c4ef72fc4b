// SPDX-License-Identifier: Apache-2.0
// What a suite may state about a program (kinds/command): limits on its words, and `{param}` in
// them, which is replaced by a parameter of the matrix.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace perfgate::model {

inline constexpr std::size_t most_words = 1000;
inline constexpr std::size_t longest_word = 4096;    ///< bytes
inline constexpr std::size_t longest_pattern = 256;  ///< of ranges and kernels, bytes

/// What is replaced in the words of a benchmark by the file to write.
inline constexpr const char* out_word = "{out}";

/// Letters, digits and '_', not starting with a digit: a parameter or an environment variable.
bool is_identifier(std::string_view text);

/// The word with each `{identifier}` replaced by `value_of(identifier)`. Other braces are kept.
std::string with_parameters(std::string_view word,
                            const std::function<std::string(const std::string& name)>& value_of);

/// Whether the word has a `{identifier}`.
bool has_parameter(std::string_view word);

}  // namespace perfgate::model

// SPDX-License-Identifier: Apache-2.0
// Small text functions that every module needs: globs, nearest names, printable text, numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate::util {

/// `*` any run of characters, `?` any one; all other characters, including `[`, match themselves.
/// Linear in practice: O(pattern · text) at worst, no recursion.
bool glob_match(std::string_view pattern, std::string_view text);

/// Whether the pattern can match some text that begins with `prefix`. May say so of a pattern with
/// wildcards that cannot, never the reverse.
bool glob_may_match(std::string_view pattern, std::string_view prefix);

/// The candidate nearest to `name` by edit distance, if near enough to be a likely typo.
std::optional<std::string> nearest_name(std::string_view name,
                                        const std::vector<std::string>& candidates);

/// "; did you mean 'x'?" or nothing.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

/// "1 case", "2 cases", "1 process", "2 processes".
std::string counted(std::size_t count, std::string_view noun);

/// A word that a shell reads as it is: quoted if it must be.
std::string shell_word(std::string_view word);

/// Text from outside made safe for one terminal line: control characters (C1, line separators and
/// bidirectional controls included) and invalid UTF-8 become '?', and text longer than `limit`
/// bytes is cut with an ellipsis.
std::string printable(std::string_view text, std::size_t limit = 400);

/// `text` with every invalid UTF-8 sequence (surrogates and overlong forms included) replaced by
/// U+FFFD, so that JSON and XML writers can take it.
std::string valid_utf8(std::string_view text);

/// The shortest decimal text that reads back as the same double, independent of the locale.
std::string number_text(double value);

/// The same, appended to `out`.
void append_number(std::string& out, double value);

/// Whether it is this many hexadecimal digits in lower case.
bool is_hex(std::string_view text, std::size_t digits);

/// Lower case, every run of characters outside [a-z0-9] a single '-': "NVIDIA H100 80GB HBM3"
/// becomes "nvidia-h100-80gb-hbm3". No '-' at either end; never empty: "unknown" if nothing is
/// left, so that it can name a folder.
std::string slug(std::string_view text);

/// The demangled form of a symbol; a name that is not mangled is returned unchanged.
std::string demangled(const std::string& symbol);

}  // namespace perfgate::util

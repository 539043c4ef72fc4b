// SPDX-License-Identifier: Apache-2.0
// The JSON that benchmarks write, which is not always JSON: NaN and Infinity are bare words, a line
// is a document, a counter has the name of another key.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

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

// A path into JSON: a JSON pointer (RFC 6901) in which `*` stands for every element of an array and
// every member of an object: "/results/*/times/*".

class JsonPath {
  public:
    /// Throws util::InputError for text that does not begin with '/', is too long or has a '~'
    /// that escapes nothing. Empty text is the value itself.
    explicit JsonPath(std::string_view text);

    /// The member that it begins with; "*" for all of them, and for the value itself.
    [[nodiscard]] std::string first() const { return steps_.empty() ? "*" : steps_.front().key; }

    /// Calls `visit(key, value)` for each value that the path leads to; `key` is of the last member
    /// that a `*` stood for, or empty. Calls `missed`, if there is one, with each value at which
    /// the path ends early, which has not what the next step names.
    void each(document::JsonValue from,
              const std::function<void(std::string_view key, document::JsonValue value)>& visit,
              const std::function<void(document::JsonValue at)>& missed = nullptr) const;

  private:
    struct Step {
        std::string key;
        bool all = false;  ///< `*`
    };
    struct Visit {
        const std::function<void(std::string_view key, document::JsonValue value)>& found;
        const std::function<void(document::JsonValue at)>& missed;
    };
    void follow(std::size_t step, std::string_view key, document::JsonValue value,
                const Visit& visit) const;

    std::vector<Step> steps_;
};

}  // namespace perfgate::benchmark

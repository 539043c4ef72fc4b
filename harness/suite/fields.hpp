// SPDX-License-Identifier: Apache-2.0
// Typed reading of YAML nodes: what a scalar is, the keys that a map may have, lists of names.
// Every function adds what is wrong to the problems and returns nothing for it, so that reading
// continues and all problems are reported at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/problems.hpp"
#include "suite/yaml_reader.hpp"

namespace perfgate::suite {

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// What the node is, for "expected …, found …": "a list", "text 'abc'", "3", "nothing".
std::string describe(const YamlNode& node);

/// "wrong type for 'cache'; expected …, found …".
void add_wrong_type(const YamlNode& node, std::string_view what, std::string_view expected,
                    Problems& problems);

/// YAML 1.2's core schema: a plain `true`, `42`, `0x2a`, `0.5`, `.inf`. In quotes it is text.
std::optional<bool> boolean_of(const YamlNode& node);
std::optional<std::int64_t> integer_of(const YamlNode& node);
std::optional<double> number_of(const YamlNode& node);  ///< integers too; may be infinite or NaN
std::optional<std::string> text_of(const YamlNode& node);

/// A map with a known set of keys. Other keys are problems; so is a node that is not a map, which
/// then reads as an empty one.
class Fields {
  public:
    Fields(const YamlNode& node, std::string_view what, const std::vector<std::string>& keys,
           Problems& problems);

    /// The value of `key`, or null if the map does not have it.
    const YamlNode* find(std::string_view key) const;
    /// The same; its absence is a problem.
    const YamlNode* require(std::string_view key, Problems& problems) const;

  private:
    const YamlNode& node_;
    std::string what_;
    bool is_map_;
};

/// The items of a list, or nothing if the node is not a list or is empty.
std::vector<const YamlNode*> read_list(const YamlNode& node, std::string_view what,
                                       std::string_view expected, Problems& problems);

/// Text of 1 to `longest` bytes.
std::optional<std::string> read_text(const YamlNode& node, std::string_view what,
                                     std::string_view expected, std::size_t longest,
                                     Problems& problems);

/// Text that is one of `choices`; gives its index.
std::optional<std::size_t> read_choice(const YamlNode& node, std::string_view what,
                                       const std::vector<std::string>& choices, Problems& problems);

/// A name of [a-z0-9_-], at most 64 long: suites and tags.
std::optional<std::string> read_slug(const YamlNode& node, std::string_view what,
                                     Problems& problems);

}  // namespace perfgate::suite

// SPDX-License-Identifier: Apache-2.0
// YAML text to a tree of nodes with their locations. The text is untrusted: its size, encoding,
// nesting and number of nodes (aliases expanded) are bounded before the tree is used. Only this
// part of the module uses the YAML library.
//
// Not supported: several documents, tags (`!!str`), merge keys (`<<`), keys that are not text,
// duplicate keys. Anchors and aliases are allowed.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "suite/problems.hpp"

namespace perfgate::suite {

/// Limits of one file. A real suite is far below each.
inline constexpr std::size_t most_yaml_bytes = std::size_t{256} * 1024;
inline constexpr std::size_t most_yaml_nodes = 100'000;
inline constexpr std::size_t most_yaml_depth = 32;

struct YamlNode {
    enum class Kind { null, scalar, list, map };
    struct Entry {
        const YamlNode* key = nullptr;  ///< a scalar
        const YamlNode* value = nullptr;
    };

    Kind kind = Kind::null;
    Position at;
    bool plain = false;                  ///< a scalar without quotes: may be a number or a boolean
    std::string text;                    ///< of a scalar
    std::vector<const YamlNode*> items;  ///< of a list
    std::vector<Entry> entries;          ///< of a map, in the file's order, each key once
    std::size_t expanded_nodes = 1;      ///< of the tree below, with aliases expanded

    /// The value of a map's key; null if there is none.
    const YamlNode* find(std::string_view key) const;
};

struct YamlDocument {
    std::deque<YamlNode> nodes;  ///< owns; addresses are stable
    const YamlNode* root = nullptr;
};

/// Problems after which there is still a tree (a duplicate key, a tag) are added to `problems`;
/// others throw util::InputError at once.
YamlDocument read_yaml(std::string_view text, Problems& problems);

}  // namespace perfgate::suite

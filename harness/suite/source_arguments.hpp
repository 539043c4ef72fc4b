// SPDX-License-Identifier: Apache-2.0
// Reads `launch`, `arguments` and `work` of a source entry.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "suite/placed_text.hpp"
#include "suite/source_entry.hpp"

namespace perfgate::suite {

/// The parameters that an entry uses, and where.
struct ParameterUses {
    std::vector<std::pair<std::string, Position>> anywhere;
    std::vector<std::pair<std::string, Position>> as_integers;  ///< of these, in expressions
};

/// Fills in the grid, the block and the shared memory of `read`.
void read_launch(const YamlNode& node, const SourceText& text, ReadSource& read,
                 ParameterUses& uses, Problems& problems);

/// Fills in the arguments of `read` and of its kernel.
void read_arguments(const YamlNode& node, const SourceText& text, ReadSource& read,
                    ParameterUses& uses, Problems& problems);

/// Fills in the stated work of `read` and its type.
void read_work(const YamlNode& node, const SourceText& text, ReadSource& read, ParameterUses& uses,
               Problems& problems);

/// The least and the most that an integer type holds; of u64 what a suite can write.
std::pair<std::int64_t, std::int64_t> integers_of(model::ElementType type);

}  // namespace perfgate::suite

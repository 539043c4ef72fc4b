// SPDX-License-Identifier: Apache-2.0
// An item of `workloads` that is a source, as it is written (texts with their `{param}`, numbers as
// expressions over the parameters of the matrix), and reading it: source_reader.cpp and, for its
// `launch`, `arguments` and `work`, source_arguments.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/catalogue.hpp"
#include "model/source_kernel.hpp"
#include "suite/entry.hpp"
#include "suite/integer_expression.hpp"
#include "suite/placed_text.hpp"
#include "suite/yaml_reader.hpp"

namespace perfgate::suite {

struct ReadSource {
    struct Argument {
        std::optional<IntegerExpression> size;   ///< of a buffer, in elements
        std::optional<IntegerExpression> value;  ///< of a value that is no constant
        std::string real_parameter;              ///< whose value it is; empty: of none
        Position at;
    };

    Entry entry;
    model::SourceKernel kernel;                  ///< with its {param}; numbers are those of a case
    std::vector<IntegerExpression> grid, block;  ///< x, y, z; at most three
    std::optional<IntegerExpression> shared;
    std::vector<Argument> arguments;                ///< parallel to the kernel's
    std::optional<IntegerExpression> flops, bytes;  ///< of the stated work
    Position check_at;                              ///< of what the check is against
    std::optional<Position> work_at;                ///< nothing: no work is stated
    /// The workload that this is a variant of: the file's name, or `name`.
    model::WorkloadInfo workload;
    const YamlNode* matrix = nullptr;
};

/// The kernel with the parameters of a case in place. Numbers that no launch can have are problems,
/// at their expressions.
model::SourceKernel filled_in(const ReadSource& read, const model::Params& params,
                              Problems& problems);

// Reads an item of `workloads` that is a source: a file with a kernel, its launch, arguments and
// check. Sizes and launches are integer expressions over the parameters of the matrix; the texts
// may contain `{param}`. The file itself is not read here.

ReadSource read_source(const YamlNode& entry, const SourceText& text, Problems& problems);

/// "90", "90a", "103f".
bool is_architecture(std::string_view text);

// Reads `launch`, `arguments` and `work` of a source entry.

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

/// "f16", …
std::vector<std::string> element_names();

/// The least and the most that an integer type holds; of u64 what a suite can write.
std::pair<std::int64_t, std::int64_t> integers_of(model::ElementType type);

}  // namespace perfgate::suite

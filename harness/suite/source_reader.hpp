// SPDX-License-Identifier: Apache-2.0
// Reads an item of `workloads` that is a source: a file with a kernel, its launch, arguments and
// check. Sizes and launches are integer expressions over the parameters of the matrix; the texts
// may contain `{param}`. The file itself is not read here.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/catalogue.hpp"
#include "model/source_kernel.hpp"
#include "suite/entry.hpp"
#include "suite/integer_expression.hpp"
#include "suite/placed_text.hpp"

namespace perfgate::suite {

struct ReadSource {
    struct Argument {
        std::optional<IntegerExpression> size;   ///< of a buffer, in elements
        std::optional<IntegerExpression> value;  ///< of a value that is no constant
        std::string real_parameter;              ///< whose value it is; empty: of none
        Position at;
    };

    Entry entry;
    model::SourceKernel kernel;  ///< with its {param}; numbers are filled in by `filled_in`
    std::vector<IntegerExpression> grid, block;  ///< x, y, z; at most three
    std::optional<IntegerExpression> shared;
    std::vector<Argument> arguments;  ///< parallel to the kernel's
    /// The workload that this is a variant of: the file's name, or `name`.
    model::WorkloadInfo workload;
    const YamlNode* matrix = nullptr;
};

ReadSource read_source(const YamlNode& entry, const SourceText& text, Problems& problems);

/// With the parameters of a case in place. Numbers that no launch can have are problems, at their
/// expressions.
model::SourceKernel filled_in(const ReadSource& read, const model::Params& params,
                              Problems& problems);

/// "90", "90a", "103f".
bool is_architecture(std::string_view text);

}  // namespace perfgate::suite

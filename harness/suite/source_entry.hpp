// SPDX-License-Identifier: Apache-2.0
// A source entry as it is written: texts with their `{param}`, numbers as expressions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/catalogue.hpp"
#include "model/source_kernel.hpp"
#include "suite/entry.hpp"
#include "suite/integer_expression.hpp"
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

}  // namespace perfgate::suite

// SPDX-License-Identifier: Apache-2.0
// The two sides of a relation, read: arithmetic over metrics of cases.
//
//     sum       = product { ("+" | "-") product }
//     product   = factor { ("*" | "/") factor }
//     factor    = "-" factor | "(" sum ")" | number [unit] | reference "." metric
//     reference = workload "/" variant ["[" param "=" value {"," param "=" value} "]"] ["@" cache]
//
// The text is hostile: its length, depth and number of steps are bounded. Which cases a reference
// stands for is found in relations.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/case.hpp"
#include "model/catalogue.hpp"
#include "model/relation.hpp"
#include "suite/placed_text.hpp"

namespace perfgate::suite {

inline constexpr std::size_t longest_expression = 1000;
inline constexpr std::size_t deepest_expression = 32;
inline constexpr std::size_t most_operands = 16;

/// A workload with the variants of it that the suite has.
struct KnownWorkload {
    const model::WorkloadInfo* info = nullptr;
    std::vector<const model::VariantInfo*> variants;
};

/// What stands before the dot, once for all places that write it alike.
struct Operand {
    /// A metric that is asked of it, and where.
    struct Use {
        std::string metric;
        Position at;
    };

    std::string text;  ///< "transpose/naive[dtype=f32]@hot"
    Position at;
    const model::WorkloadInfo* workload = nullptr;
    const model::VariantInfo* variant = nullptr;
    model::Params fixed;
    std::optional<model::Cache> cache;
    std::vector<Use> uses;
};

struct RelationExpression {
    model::Comparator comparator = model::Comparator::less_equal;
    std::string unit;  ///< that both sides are told in
    std::vector<Operand> operands;
    model::PostfixExpression left, right;
};

/// `left` is an expression with at least one reference, `right` a comparison and an expression.
/// Nothing, and problems, where either is wrong. A syntax error ends the reading of its side; other
/// problems (unknown names, units that do not fit) are all told.
std::optional<RelationExpression> parse_relation(const PlacedText& left, const PlacedText& right,
                                                 const std::vector<KnownWorkload>& workloads,
                                                 Problems& problems);

}  // namespace perfgate::suite

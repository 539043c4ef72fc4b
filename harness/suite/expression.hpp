// SPDX-License-Identifier: Apache-2.0
// Parses the two sides of a relation: arithmetic over metrics of cases.
//
//     sum       = product { ("+" | "-") product }
//     product   = factor { ("*" | "/") factor }
//     factor    = "-" factor | "(" sum ")" | number [unit] | reference "." metric
//     reference = workload "/" variant ["[" param "=" value {"," param "=" value} "]"] ["@" cache]
//
// The variant of a benchmark is a name that the benchmark reports: any text without spaces and
// "()*+[@" up to "[", "@" or "." with a metric of the benchmark; other text in double quotes.
//
// The text is untrusted: its length, depth and number of steps are bounded. relations.hpp finds the
// cases that a reference stands for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/case.hpp"
#include "model/catalogue.hpp"
#include "model/relation.hpp"
#include "suite/placed_text.hpp"
#include "suite/settings.hpp"

namespace perfgate::suite {

inline constexpr std::size_t longest_expression = 1000;
inline constexpr std::size_t deepest_expression = 32;
inline constexpr std::size_t most_operands = 16;

/// A workload with the variants of it that the suite has.
struct KnownWorkload {
    const model::WorkloadInfo* info = nullptr;
    std::vector<const model::VariantInfo*> variants;
    /// Of a benchmark: the metrics that it reports. Null: it is none.
    const Settings* benchmark = nullptr;
    /// It is a benchmark, and not all of its cases are known: any name may be one of them.
    bool open = false;
};

/// What is before the dot, once for all places with the same text.
struct Operand {
    /// A metric of it that the relation uses, and where.
    struct Use {
        std::string metric;
        Position at;
    };

    std::string text;  ///< "transpose/naive[dtype=f32]@hot"
    Position at;
    const model::WorkloadInfo* workload = nullptr;
    const model::VariantInfo* variant = nullptr;  ///< null: not a known one of an open benchmark
    std::string variant_name;
    bool open = false;    ///< of an open benchmark: `fixed` is not checked
    model::Params fixed;  ///< of a benchmark: as text
    std::optional<model::Cache> cache;
    std::vector<Use> uses;
};

struct RelationExpression {
    model::Comparator comparator = model::Comparator::less_equal;
    std::string unit;  ///< in which both sides are reported
    std::vector<Operand> operands;
    model::PostfixExpression left, right;
};

/// `left` is an expression with at least one reference, `right` a comparison and an expression.
/// Nothing, and problems, if either is wrong. A syntax error ends the reading of its side; other
/// problems (unknown names, units that do not fit) are all reported.
std::optional<RelationExpression> parse_relation(const PlacedText& left, const PlacedText& right,
                                                 const std::vector<KnownWorkload>& workloads,
                                                 Problems& problems);

}  // namespace perfgate::suite

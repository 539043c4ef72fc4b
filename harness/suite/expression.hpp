// SPDX-License-Identifier: Apache-2.0
// Parses the two sides of a relation: a metric of a case, or a number it is compared with.
//
//     side      = term [("*" | "/") term]
//     term      = ["-"] number [unit] | reference "." metric
//     reference = workload "/" variant ["[" param "=" value {"," param "=" value} "]"] ["@" cache]
//
// A product has one plain number, a quotient has a metric first. The variant of a benchmark is a
// name that the benchmark reports: any text without spaces and "()*+[@" up to "[", "@" or "." with
// a metric of the benchmark; other text in double quotes. A label of its `measure` is a variant as
// of other programs.
//
// The text is untrusted: its length is bounded. relations.hpp finds the cases that a reference
// stands for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/relation.hpp"
#include "suite/case_reference.hpp"
#include "suite/placed_text.hpp"

namespace perfgate::suite {

inline constexpr std::size_t longest_expression = 1000;

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

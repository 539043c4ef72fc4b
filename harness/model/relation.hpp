// SPDX-License-Identifier: Apache-2.0
// What a suite states of its own cases against each other, as a value: read from an expression by
// the suite room, carried by Plan and Run, judged by the gate. Nothing in it needs to be parsed or
// matched again.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/case.hpp"

namespace perfgate::model {

enum class Comparator { less, less_equal, greater, greater_equal, equal, not_equal };
enum class Operator { add, subtract, multiply, divide, negate };

std::string_view to_text(Comparator comparator);  ///< "<="
std::string_view to_text(Operator op);            ///< "+", "negate"

/// The metric of the case that an operand stands for.
struct OperandMetric {
    std::size_t operand = 0;  ///< index into Relation::operands and each instance
    std::string metric;

    bool operator==(const OperandMetric&) const = default;
};

/// A step of an expression in postfix order. Numbers are plain or in seconds, bytes, operations.
using ExpressionStep = std::variant<double, OperandMetric, Operator>;
using PostfixExpression = std::vector<ExpressionStep>;

/// Whether the steps leave one value, never take one that is not there, and name operands below
/// `operands`.
bool is_complete(const PostfixExpression& expression, std::size_t operands);

struct Relation {
    SourcePlace place;
    std::string left_text, right_text;  ///< as the suite has them
    Comparator comparator = Comparator::less_equal;
    std::string unit;                   ///< both sides are told in it; empty: plain numbers
    std::vector<std::string> operands;  ///< "transpose/naive[dtype=f32]"
    PostfixExpression left, right;
    /// The ids of the cases that belong together, one per operand; the first leads.
    std::vector<std::vector<std::string>> instances;

    bool operator==(const Relation&) const = default;
};

/// "transpose/swizzled.gpu_time <= 0.25 * transpose/naive.gpu_time".
std::string to_text(const Relation& relation);

}  // namespace perfgate::model

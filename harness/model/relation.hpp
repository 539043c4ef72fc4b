// SPDX-License-Identifier: Apache-2.0
// A condition between a suite's own cases, as a value. The suite module parses it and finds its
// cases, Plan and Run carry it, the gate judges it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/case.hpp"

namespace perfgate::model {

enum class Comparator { less, less_equal, greater, greater_equal, equal, not_equal };
enum class Operator { multiply, divide };

std::string_view to_text(Comparator comparator);   ///< "<="
std::string_view in_words(Comparator comparator);  ///< "at most"
std::string_view to_text(Operator op);             ///< "*"

/// False if either is NaN.
bool holds(double left, Comparator comparator, double right);
double apply(Operator op, double left, double right);

/// The metric of the case that an operand stands for.
struct OperandMetric {
    std::size_t operand = 0;  ///< index into Relation::operands and each instance
    std::string metric;

    bool operator==(const OperandMetric&) const = default;
};

/// A step of a side in postfix order: a value, or two values and what is done with them. Numbers
/// are plain or in seconds, bytes, operations.
using ExpressionStep = std::variant<double, OperandMetric, Operator>;
using PostfixExpression = std::vector<ExpressionStep>;

/// Whether it is a value, or two and an operator, and names operands below `operands`.
bool is_complete(const PostfixExpression& expression, std::size_t operands);

struct Relation {
    SourcePlace place;
    std::string left_text, right_text;  ///< as written in the suite
    Comparator comparator = Comparator::less_equal;
    std::string reason;                 ///< why it should hold, in a few words; empty: not stated
    std::string unit;                   ///< in which both sides are reported; empty: plain numbers
    std::vector<std::string> operands;  ///< "transpose/naive[dtype=f32]"
    PostfixExpression left, right;
    /// The ids of the cases of each instance, one per operand; the first is the leading case.
    std::vector<std::vector<std::string>> instances;

    bool operator==(const Relation&) const = default;
};

/// Whether it compares a property of its leading case that is no number (such as `bound`) with one
/// that it should have, or should not have: the left side is that operand alone, the right side a
/// number that stands for a word.
bool compares_property(const Relation& relation, std::string_view property);

/// "transpose/swizzled.gpu_time <= 0.25 * transpose/naive.gpu_time".
std::string to_text(const Relation& relation);

}  // namespace perfgate::model

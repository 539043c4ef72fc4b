// SPDX-License-Identifier: Apache-2.0
#include "model/relation.hpp"

#include <fmt/format.h>

#include <array>

#include "util/text.hpp"

namespace perfgate::model {

namespace {

struct ComparatorRow {
    std::string_view text, words;
    bool less, equal, greater;  ///< whether it holds if left is less than right, …
};

constexpr std::array<ComparatorRow, 6> comparators{{
    {"<", "less than", true, false, false},
    {"<=", "at most", true, true, false},
    {">", "more than", false, false, true},
    {">=", "at least", false, true, true},
    {"==", "exactly", false, true, false},
    {"!=", "anything but", true, false, true},
}};

const ComparatorRow& row(Comparator comparator) {
    return comparators[static_cast<std::size_t>(comparator)];
}

}  // namespace

std::string_view to_text(Comparator comparator) {
    return comparator <= Comparator::not_equal ? row(comparator).text : util::no_word;
}

std::string_view in_words(Comparator comparator) {
    return row(comparator).words;
}

bool holds(double left, Comparator comparator, double right) {
    if (left < right) return row(comparator).less;
    if (left > right) return row(comparator).greater;
    return left == right && row(comparator).equal;
}

std::string_view to_text(Operator op) {
    return util::word_of<Operator::divide>(op, {"*", "/"});
}

double apply(Operator op, double left, double right) {
    return op == Operator::multiply ? left * right : left / right;
}

bool is_complete(const PostfixExpression& expression, std::size_t operands) {
    const auto is_value = [&](const ExpressionStep& step) {
        const auto* metric = std::get_if<OperandMetric>(&step);
        return metric == nullptr ? std::holds_alternative<double>(step)
                                 : metric->operand < operands;
    };
    if (expression.size() == 1) return is_value(expression[0]);
    return expression.size() == 3 && is_value(expression[0]) && is_value(expression[1]) &&
           std::holds_alternative<Operator>(expression[2]);
}

bool compares_property(const Relation& relation, std::string_view property) {
    if (relation.left.size() != 1 || relation.right.size() != 1 ||
        (relation.comparator != Comparator::equal &&
         relation.comparator != Comparator::not_equal)) {
        return false;
    }
    const auto* operand = std::get_if<OperandMetric>(&relation.left.front());
    return operand != nullptr && operand->metric == property && operand->operand == 0 &&
           std::holds_alternative<double>(relation.right.front());
}

std::string to_text(const Relation& relation) {
    return fmt::format("{} {} {}", relation.left_text, to_text(relation.comparator),
                       relation.right_text);
}

}  // namespace perfgate::model

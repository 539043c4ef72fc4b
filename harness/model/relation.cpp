// SPDX-License-Identifier: Apache-2.0
#include "model/relation.hpp"

#include <fmt/format.h>

namespace perfgate::model {

std::string_view to_text(Comparator comparator) {
    switch (comparator) {
        case Comparator::less:
            return "<";
        case Comparator::less_equal:
            return "<=";
        case Comparator::greater:
            return ">";
        case Comparator::greater_equal:
            return ">=";
        case Comparator::equal:
            return "==";
        case Comparator::not_equal:
            return "!=";
    }
    return "unknown";
}

std::string_view to_text(Operator op) {
    switch (op) {
        case Operator::add:
            return "+";
        case Operator::subtract:
            return "-";
        case Operator::multiply:
            return "*";
        case Operator::divide:
            return "/";
        case Operator::negate:
            return "negate";
    }
    return "unknown";
}

bool is_complete(const PostfixExpression& expression, std::size_t operands) {
    std::size_t values = 0;
    for (const ExpressionStep& step : expression) {
        if (const auto* op = std::get_if<Operator>(&step)) {
            const std::size_t takes = *op == Operator::negate ? 1 : 2;
            if (values < takes) return false;
            values -= takes - 1;
            continue;
        }
        const auto* metric = std::get_if<OperandMetric>(&step);
        if (metric != nullptr && metric->operand >= operands) return false;
        ++values;
    }
    return values == 1;
}

std::string to_text(const Relation& relation) {
    return fmt::format("{} {} {}", relation.left_text, to_text(relation.comparator),
                       relation.right_text);
}

}  // namespace perfgate::model

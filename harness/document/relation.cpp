// SPDX-License-Identifier: Apache-2.0
#include "model/relation.hpp"

#include <fmt/format.h>

#include "document/shared.hpp"

namespace perfgate::document {

using model::Comparator;
using model::ExpressionStep;
using model::Operator;
using model::PostfixExpression;

PERFGATE_FIELDS(model::OperandMetric, required(operand, metric))

// Not in an unnamed namespace: the archives find read and write by their arguments.

static void write(JsonWriter& json, const ExpressionStep& step) {
    std::visit([&](const auto& value) { write(json, value); }, step);
}

static void read(JsonValue value, ExpressionStep& step) {
    switch (value.kind()) {
        case JsonKind::object:
            return read(value, step.emplace<model::OperandMetric>());
        case JsonKind::text:
            return read(value, step.emplace<Operator>());
        default:
            return read(value, step.emplace<double>());
    }
}

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Relation>& of) {
    const auto& operands = of.operands;
    const auto is_not_empty = [](JsonValue value, const std::vector<std::string>& read_operands) {
        if (read_operands.empty()) value.fail("expected at least one operand");
    };
    const auto is_a_side = [&](JsonValue value, const PostfixExpression& expression) {
        if (is_complete(expression, operands.size())) return;
        value.fail("expected a number or a metric of an operand, or two of them and '*' or '/'");
    };
    const auto one_case_per_operand = [&](JsonValue value, const auto& instances) {
        auto next = instances.begin();
        value.elements([&](JsonValue instance) {
            if ((next++)->size() == operands.size()) return;
            instance.fail(fmt::format("expected {} case ids, one per operand", operands.size()));
        });
    };
    PERFGATE_GROUPS(required(left_text, comparator, right_text), optional(place, reason, unit),
                    with(required, operands, is_not_empty), with(required, left, is_a_side),
                    with(required, right, is_a_side),
                    with(required, instances, lines, one_case_per_operand));
}
template void describe(Reader&, model::Relation&);
template void describe(Writer&, const model::Relation&);

}  // namespace perfgate::document

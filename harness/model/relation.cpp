// SPDX-License-Identifier: Apache-2.0
#include "model/relation.hpp"

#include <fmt/format.h>

#include <array>

#include "document/shared.hpp"

namespace perfgate::model {

namespace {

constexpr std::array comparators{Comparator::less,    Comparator::less_equal,
                                 Comparator::greater, Comparator::greater_equal,
                                 Comparator::equal,   Comparator::not_equal};
constexpr std::array operators{Operator::add, Operator::subtract, Operator::multiply,
                               Operator::divide, Operator::negate};

struct StepWriter {
    JsonWriter& json;
    void operator()(double value) const { json.value(value); }
    void operator()(Operator op) const { json.value(to_text(op)); }
    void operator()(const OperandMetric& metric) const {
        json.begin_object(JsonLayout::compact);
        write_field(json, "operand", static_cast<std::int64_t>(metric.operand));
        write_field(json, "metric", metric.metric);
        json.end_object();
    }
};

void write_expression(JsonWriter& json, std::string_view key, const PostfixExpression& expression) {
    json.key(key);
    json.begin_array(JsonLayout::compact);
    for (const ExpressionStep& step : expression) std::visit(StepWriter{json}, step);
    json.end_array();
}

template <class Enum, std::size_t N>
Enum choice_of(JsonValue value, const std::array<Enum, N>& choices) {
    std::array<std::string_view, N> texts;
    for (std::size_t i = 0; i < N; ++i) {
        texts[i] = to_text(choices[i]);
        if (value.text() == texts[i]) return choices[i];
    }
    fail_choice(value, texts);
}

ExpressionStep read_step(JsonValue value) {
    switch (value.kind()) {
        case JsonKind::object: {
            OperandMetric metric;
            metric.operand = static_cast<std::size_t>(value.at("operand").count());
            read_field(value, "metric", metric.metric);
            return metric;
        }
        case JsonKind::text:
            return choice_of(value, operators);
        default:
            return value.number();
    }
}

PostfixExpression read_expression(JsonValue value, std::size_t operands) {
    PostfixExpression expression;
    value.elements([&](JsonValue step) { expression.push_back(read_step(step)); });
    if (!is_complete(expression, operands)) {
        value.fail("expected the steps of an expression in postfix order that leave one value");
    }
    return expression;
}

}  // namespace

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

void write(JsonWriter& json, const Relation& relation) {
    json.begin_object(JsonLayout::lines);
    write_field(json, "left_text", relation.left_text);
    write_field(json, "comparator", to_text(relation.comparator));
    write_field(json, "right_text", relation.right_text);
    write_unless_default(json, "place", relation.place);
    write_unless_default(json, "unit", relation.unit);
    write_field(json, "operands", relation.operands);
    write_expression(json, "left", relation.left);
    write_expression(json, "right", relation.right);
    json.key("instances");
    json.begin_array(JsonLayout::lines);
    for (const auto& instance : relation.instances) write(json, instance);
    json.end_array();
    json.end_object();
}

void read(JsonValue value, Relation& relation) {
    read_field(value, "left_text", relation.left_text);
    relation.comparator = choice_of(value.at("comparator"), comparators);
    read_field(value, "right_text", relation.right_text);
    read_optional(value, "place", relation.place);
    read_optional(value, "unit", relation.unit);
    read_field(value, "operands", relation.operands);
    if (relation.operands.empty()) value.at("operands").fail("expected at least one operand");
    relation.left = read_expression(value.at("left"), relation.operands.size());
    relation.right = read_expression(value.at("right"), relation.operands.size());
    value.at("instances").elements([&](JsonValue instance) {
        read(instance, relation.instances.emplace_back());
        if (relation.instances.back().size() != relation.operands.size()) {
            instance.fail(
                fmt::format("expected {} case ids, one per operand", relation.operands.size()));
        }
    });
}

}  // namespace perfgate::model

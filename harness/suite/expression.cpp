// SPDX-License-Identifier: Apache-2.0
#include "suite/expression.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "model/command_words.hpp"
#include "model/hottest_kernel.hpp"
#include "model/roofline.hpp"
#include "model/unit.hpp"
#include "suite/amount.hpp"
#include "suite/fields.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace {

using model::Dimension;
using model::Operator;

/// A term, or two of them: its dimension (nothing: unknown, because of a problem that has been
/// reported), and its unit if it is a single metric.
struct Part {
    std::optional<Dimension> dimension;
    std::string unit = {};
    std::optional<double> constant = {};  ///< the value of a number
};

class SideParser {
  public:
    SideParser(const PlacedText& placed, const std::vector<KnownWorkload>& workloads,
               std::vector<Operand>& operands, Problems& problems)
        : cursor_(placed, longest_expression, problems),
          workloads_(workloads),
          operands_(operands),
          problems_(problems) {}

    model::Comparator comparator() {
        cursor_.skip_spaces();
        constexpr std::array longest_first{
            model::Comparator::less_equal, model::Comparator::greater_equal,
            model::Comparator::equal,      model::Comparator::not_equal,
            model::Comparator::less,       model::Comparator::greater};
        for (const model::Comparator candidate : longest_first) {
            const std::string_view spelled = to_text(candidate);
            if (!cursor_.rest().starts_with(spelled)) continue;
            cursor_.move_to(cursor_.at() + spelled.size());
            return candidate;
        }
        cursor_.fail(cursor_.at(),
                     fmt::format("no comparison at {}; expected one of <=, <, >=, >, ==, != before "
                                 "the expression",
                                 cursor_.found_word()));
    }

    /// The whole rest of the text.
    Part expression() {
        Part part = term();
        cursor_.skip_spaces();
        const std::size_t where = cursor_.at();
        if (const char symbol = cursor_.take("*/"); symbol != '\0') {
            cursor_.skip_spaces();
            const std::size_t right_at = cursor_.at();
            const Part right = term();
            part =
                joined(part, symbol == '*' ? Operator::multiply : Operator::divide, where, right);
            if (symbol == '/' && right.constant == 0.0) {
                cursor_.add(right_at, "division by zero; expected another divisor");
            }
            cursor_.skip_spaces();
        }
        if (!cursor_.at_end()) refuse_rest();
        return part;
    }

    /// Reads the word that the left side's property is compared with: the whole rest of the text.
    void word_of(std::string_view property) {
        if (property == model::bound_operand) {
            bound();
        } else {
            kernel_pattern();
        }
    }

    /// The name of a bound.
    void bound() {
        cursor_.skip_spaces();
        const std::size_t where = cursor_.at();
        const std::string_view text = cursor_.rest();
        const std::optional<model::Bound> named =
            model::bound_named(cursor_.take_while([](char c) { return c >= 'a' && c <= 'z'; }));
        cursor_.skip_spaces();
        if (!named || !cursor_.at_end()) {
            cursor_.fail(where, fmt::format("unexpected {}; expected memory, compute or latency",
                                            in_quotes(text.substr(0, 100))));
        }
        steps_.emplace_back(static_cast<double>(*named));
    }

    /// A glob; the relation has it as its text.
    void kernel_pattern() {
        cursor_.skip_spaces();
        const std::size_t length = cursor_.rest().size();
        if (length == 0 || length > model::longest_pattern) {
            cursor_.fail(cursor_.at(),
                         fmt::format("a pattern of {} bytes; expected a glob of 1 to {}", length,
                                     model::longest_pattern));
        }
        cursor_.move_to(cursor_.at() + length);
        steps_.emplace_back(0.0);
    }

    model::PostfixExpression take_steps() { return std::move(steps_); }
    /// The property of a case in this expression that is no number; empty: none is.
    std::string_view property() const { return property_; }
    /// Reports a property that is not the whole expression.
    void refuse_mixed_property() {
        if (!property_.empty() && steps_.size() != 1) refuse_property("in an expression");
    }
    void refuse_property(std::string_view where = "on the right side") {
        if (property_.empty()) return;
        cursor_.fail(
            property_at_,
            fmt::format("'{}' {}; expected it alone on the left side, as in {}", property_, where,
                        property_ == model::bound_operand
                            ? "{softmax/online.bound: \"== memory\"}"
                            : "{train/step.hottest_kernel: \"== *flash*\"}"));
    }

  private:
    [[noreturn]] void refuse_rest() {
        if (std::string_view("+-*/").find(cursor_.peek()) != std::string_view::npos) {
            refuse_arithmetic(cursor_.at());
        }
        const bool compares =
            std::string_view("<>=!").find(cursor_.peek()) != std::string_view::npos;
        cursor_.fail_unexpected_word(compares ? "one comparison, at the start of the right side"
                                              : "'*', '/' or the end");
    }

    /// Also names what replaces the arithmetic that earlier versions read.
    [[noreturn]] void refuse_arithmetic(std::size_t where) {
        cursor_.fail(where,
                     "more arithmetic than a relation has; expected a number, a metric, a plain "
                     "number times a metric, or a metric divided by a metric or a number: state a "
                     "relation of its own for each metric of a sum or difference, and multiply "
                     "constants out");
    }

    Part joined(const Part& left, Operator op, std::size_t where, const Part& right) {
        const auto is_plain = [](const Part& part) {
            return part.constant && part.dimension == Dimension{};
        };
        const bool is_product = op == Operator::multiply;
        if (is_product ? is_plain(left) == is_plain(right) || (left.constant && right.constant)
                       : left.constant.has_value()) {
            refuse_arithmetic(where);
        }
        Part part;
        if (left.dimension && right.dimension) {
            part.dimension = !is_product     ? *left.dimension / *right.dimension
                             : left.constant ? right.dimension
                                             : left.dimension;
        }
        steps_.emplace_back(op);
        return part;
    }

    Part term() {
        cursor_.skip_spaces();
        const std::size_t begin = cursor_.at();
        if (begins_reference(cursor_, workloads_)) return metric();
        const bool negative = cursor_.take("-") != '\0';
        if (is_digit(cursor_.peek()) || cursor_.peek() == '.') return number(negative ? -1 : 1);
        if (negative || cursor_.peek() == '(') refuse_arithmetic(begin);
        cursor_.fail_unexpected_word("a number, or a metric of a case such as gemm/tiled.gpu_time");
    }

    Part number(double sign) {
        const std::size_t begin = cursor_.at();
        const std::string_view text = cursor_.rest();
        std::string_view after = text;
        const std::optional<double> value = take_number(after);
        if (!value || !std::isfinite(*value)) {
            cursor_.fail(begin, fmt::format("no number at {}; expected one such as 0.25 or 5us",
                                            cursor_.found_word()));
        }
        cursor_.move_to(begin + text.size() - after.size());
        const bool spaced = after.starts_with(' ');
        if (spaced) after.remove_prefix(1);
        const std::optional<AmountUnit> unit = take_unit(after);
        const char next = cursor_.peek();
        if (unit) {
            cursor_.move_to(begin + text.size() - after.size());
        } else if (!spaced && (is_letter(next) || next == '_' || next == '%')) {
            const std::string_view rest = cursor_.rest();
            const std::string suffix(rest.substr(0, rest.find_first_of(" \t\n*/+-)")));
            cursor_.fail(cursor_.at(),
                         fmt::format("unknown unit {}; expected one such as us, MiB, GB/s, %, or "
                                     "none for a plain number{}",
                                     in_quotes(suffix), util::did_you_mean(suffix, unit_names())));
        }
        const model::UnitMeaning meaning = model::meaning_of(unit ? unit->base : "");
        const double scaled = sign * *value * (unit ? unit->factor : 1) * meaning.scale;
        if (!std::isfinite(scaled)) {
            cursor_.fail(begin, fmt::format("the number {} is too large; expected a smaller one",
                                            in_quotes(cursor_.from(begin))));
        }
        steps_.emplace_back(scaled);
        return {meaning.dimension, {}, scaled};
    }

    Part metric() {
        Operand operand = read_reference(cursor_, workloads_, problems_);
        const Operand::Use use = read_metric(cursor_, operand);
        const std::size_t index = index_of(std::move(operand));
        operands_[index].uses.push_back(use);
        steps_.emplace_back(model::OperandMetric{index, use.metric});

        for (const std::string_view property : {model::bound_operand, model::hottest_operand}) {
            if (use.metric != property) continue;
            property_ = property;
            property_at_ = cursor_.at() - use.metric.size();
            return {};
        }
        const std::optional<model::MetricDefinition> known =
            definition_of(operands_[index], use, problems_);
        if (!known) return {};
        return {model::meaning_of(known->unit).dimension, known->unit};
    }

    std::size_t index_of(Operand operand) {
        for (std::size_t i = 0; i < operands_.size(); ++i) {
            if (operands_[i].text == operand.text) return i;
        }
        operands_.push_back(std::move(operand));
        return operands_.size() - 1;
    }

    Cursor cursor_;
    const std::vector<KnownWorkload>& workloads_;
    std::vector<Operand>& operands_;
    Problems& problems_;
    std::string_view property_;
    std::size_t property_at_ = 0;
    model::PostfixExpression steps_;
};

/// Properties are equal or not.
void refuse_order(model::Comparator comparator, std::string_view property, const PlacedText& right,
                  Problems& problems) {
    if (comparator == model::Comparator::equal || comparator == model::Comparator::not_equal) {
        return;
    }
    right.add(0, fmt::format("'{}' with '{}'; expected == or !=", to_text(comparator), property),
              problems);
    throw SyntaxError{};
}

}  // namespace

std::optional<RelationExpression> parse_relation(const PlacedText& left, const PlacedText& right,
                                                 const std::vector<KnownWorkload>& workloads,
                                                 Problems& problems) {
    const std::size_t before = problems.count();
    RelationExpression relation;
    std::string_view property;
    const std::optional<Part> left_part = unless_wrong([&] {
        SideParser parser(left, workloads, relation.operands, problems);
        Part part = parser.expression();
        parser.refuse_mixed_property();
        property = parser.property();
        relation.left = parser.take_steps();
        return part;
    });
    if (left_part && relation.operands.empty()) {
        left.add(0, "no metric on the left side; expected one, such as gemm/tiled.gpu_time",
                 problems);
    }
    const std::optional<Part> right_part = unless_wrong([&] {
        SideParser parser(right, workloads, relation.operands, problems);
        relation.comparator = parser.comparator();
        Part part;
        if (property.empty()) {
            part = parser.expression();
            parser.refuse_property();
        } else {
            refuse_order(relation.comparator, property, right, problems);
            parser.word_of(property);
        }
        relation.right = parser.take_steps();
        return part;
    });
    if (left_part && right_part && left_part->dimension && right_part->dimension) {
        if (*left_part->dimension != *right_part->dimension) {
            right.add(0,
                      fmt::format("compares {} with {}; expected {} on both sides{}",
                                  in_words(*left_part->dimension), in_words(*right_part->dimension),
                                  in_words(*left_part->dimension),
                                  *right_part->dimension == Dimension{}
                                      ? ": give numbers their unit, such as 5us"
                                      : ""),
                      problems);
        }
        relation.unit = left_part->unit.empty() ? unit_of(*left_part->dimension) : left_part->unit;
    }
    if (problems.count() != before) return std::nullopt;
    return relation;
}

}  // namespace perfgate::suite

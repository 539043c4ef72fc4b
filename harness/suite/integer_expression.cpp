// SPDX-License-Identifier: Apache-2.0
#include "suite/integer_expression.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <utility>

#include "suite/fields.hpp"
#include "suite/placed_text.hpp"

namespace perfgate::suite {

namespace {

bool begins_name(char c) {
    return is_letter(c) || c == '_';
}

/// False: the result does not fit, or there is none.
bool apply(char op, std::int64_t left, std::int64_t right, std::int64_t& result) {
    constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    switch (op) {
        case '+':
            return !__builtin_add_overflow(left, right, &result);
        case '-':
            return !__builtin_sub_overflow(left, right, &result);
        case '*':
            return !__builtin_mul_overflow(left, right, &result);
        default:
            if (left == lowest && right == -1) return false;
            result = op == '/' ? left / right : left % right;
            return true;
    }
}

}  // namespace

class IntegerParser {
  public:
    IntegerParser(const PlacedText& placed, Problems& problems)
        : cursor_(placed, longest_integer_expression, problems) {
        parsed_.text_ = placed.text();
        parsed_.at_ = placed.start();
    }

    IntegerExpression parse() {
        sum();
        cursor_.skip_spaces();
        if (!cursor_.at_end()) fail_unexpected("'+', '-', '*', '/', '%' or the end");
        return std::move(parsed_);
    }

  private:
    [[noreturn]] void fail_unexpected(std::string_view expected) const {
        cursor_.fail(cursor_.at(),
                     fmt::format("unexpected {}; expected {}", cursor_.found(), expected));
    }

    void sum() {
        product();
        while (const char op = cursor_.take("+-")) {
            product();
            parsed_.steps_.emplace_back(op);
        }
    }

    void product() {
        factor();
        while (const char op = cursor_.take("*/%")) {
            factor();
            parsed_.steps_.emplace_back(op);
        }
    }

    /// Every recursion passes here: bounds the depth.
    void factor() {
        if (++depth_ > deepest_integer_expression) {
            cursor_.fail(cursor_.at(),
                         fmt::format("an expression nested deeper than {}; expected a simpler one",
                                     deepest_integer_expression));
        }
        if (cursor_.take("-") != '\0') {
            factor();
            parsed_.steps_.emplace_back('n');
        } else if (cursor_.take("(") != '\0') {
            sum();
            if (cursor_.take(")") == '\0') fail_unexpected("')'");
        } else if (is_digit(cursor_.peek())) {
            number();
        } else if (begins_name(cursor_.peek())) {
            const std::size_t begin = cursor_.at();
            const std::string name =
                cursor_.take_while([](char c) { return begins_name(c) || is_digit(c); });
            parsed_.steps_.emplace_back(parsed_.names_.size());
            parsed_.names_.push_back({name, cursor_.place(begin)});
        } else {
            fail_unexpected("an integer, a parameter of 'matrix' or '('");
        }
        --depth_;
    }

    void number() {
        std::int64_t value = 0;
        const std::size_t start = cursor_.at();
        const std::string_view digits = cursor_.rest();
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc{}) {
            cursor_.fail(start, "an integer of more than 64 bits; expected a smaller one");
        }
        cursor_.move_to(start + static_cast<std::size_t>(end - digits.data()));
        if (cursor_.peek() == '.' || begins_name(cursor_.peek())) {
            cursor_.fail(start, "not an integer; expected digits alone, such as 256");
        }
        parsed_.steps_.emplace_back(value);
    }

    Cursor cursor_;
    IntegerExpression parsed_;
    std::size_t depth_ = 0;
};

std::optional<IntegerExpression> IntegerExpression::parse(const PlacedText& text,
                                                          Problems& problems) {
    return unless_wrong([&] { return IntegerParser(text, problems).parse(); });
}

IntegerExpression::Value IntegerExpression::evaluate(const model::Params& params) const {
    std::vector<std::int64_t> stack;
    const auto pop = [&] {
        const std::int64_t top = stack.back();
        stack.pop_back();
        return top;
    };
    for (const Step& step : steps_) {
        if (const auto* integer = std::get_if<std::int64_t>(&step)) {
            stack.push_back(*integer);
        } else if (const auto* index = std::get_if<std::size_t>(&step)) {
            const std::string& name = names_[*index].name;
            const auto found = params.find(name);
            const auto* value =
                found == params.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
            if (value == nullptr) {
                return {0, fmt::format("{} is not an integer here", in_quotes(name))};
            }
            stack.push_back(*value);
        } else {
            const char op = std::get<char>(step);
            const std::int64_t right = pop();
            const std::int64_t left = op == 'n' ? 0 : pop();
            if ((op == '/' || op == '%') && right == 0) return {0, "division by zero"};
            std::int64_t result = 0;
            if (!apply(op == 'n' ? '-' : op, left, right, result)) {
                return {0, "more than 64 bits"};
            }
            stack.push_back(result);
        }
    }
    return {stack.back(), {}};
}

}  // namespace perfgate::suite

// SPDX-License-Identifier: Apache-2.0
#include "suite/integer_expression.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "suite/fields.hpp"

namespace perfgate::suite {

namespace {

bool begins_name(char c) {
    return is_letter(c) || c == '_';
}

/// Why there is no result; empty: there is.
const char* apply(char op, std::int64_t left, std::int64_t right, std::int64_t& result) {
    constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    constexpr const char* too_large = "more than 64 bits";
    switch (op) {
        case '+':
            return __builtin_add_overflow(left, right, &result) ? too_large : "";
        case '-':
            return __builtin_sub_overflow(left, right, &result) ? too_large : "";
        case '*':
            return __builtin_mul_overflow(left, right, &result) ? too_large : "";
        default:
            if (right == 0) return "division by zero";
            if (left == lowest && right == -1) return too_large;
            result = op == '/' ? left / right : left % right;
            return "";
    }
}

/// Reads an expression from left to right and computes it on the way.
class IntegerReader {
  public:
    /// `params` null: the text is only checked, and its names noted in `names`.
    IntegerReader(const PlacedText& placed, const model::Params* params,
                  std::vector<IntegerExpression::Name>* names, Problems& problems)
        : cursor_(placed, longest_integer_expression, problems), params_(params), names_(names) {}

    IntegerExpression::Value read() {
        const std::int64_t value = sum();
        cursor_.skip_spaces();
        if (!cursor_.at_end()) fail_unexpected("'+', '-', '*', '/', '%' or the end");
        return {value, std::move(problem_)};
    }

  private:
    [[noreturn]] void fail_unexpected(std::string_view expected) const {
        cursor_.fail(cursor_.at(),
                     fmt::format("unexpected {}; expected {}", cursor_.found(), expected));
    }

    std::int64_t sum() {
        std::int64_t left = product();
        while (const char op = cursor_.take("+-")) left = result(op, left, product());
        return left;
    }

    std::int64_t product() {
        std::int64_t left = factor();
        while (const char op = cursor_.take("*/%")) left = result(op, left, factor());
        return left;
    }

    /// The first problem is the one that is reported.
    std::int64_t result(char op, std::int64_t left, std::int64_t right) {
        std::int64_t result = 0;
        if (params_ != nullptr && problem_.empty()) problem_ = apply(op, left, right, result);
        return result;
    }

    /// Every recursion passes here: bounds the depth.
    std::int64_t factor() {
        if (++depth_ > deepest_integer_expression) {
            cursor_.fail(cursor_.at(),
                         fmt::format("an expression nested deeper than {}; expected a simpler one",
                                     deepest_integer_expression));
        }
        std::int64_t value = 0;
        if (cursor_.take("-") != '\0') {
            value = result('-', 0, factor());
        } else if (cursor_.take("(") != '\0') {
            value = sum();
            if (cursor_.take(")") == '\0') fail_unexpected("')'");
        } else if (is_digit(cursor_.peek())) {
            value = number();
        } else if (begins_name(cursor_.peek())) {
            value = parameter();
        } else {
            fail_unexpected("an integer, a parameter of 'matrix' or '('");
        }
        --depth_;
        return value;
    }

    std::int64_t parameter() {
        const std::size_t begin = cursor_.at();
        const std::string name =
            cursor_.take_while([](char c) { return begins_name(c) || is_digit(c); });
        if (params_ == nullptr) {
            names_->push_back({name, cursor_.place(begin)});
            return 0;
        }
        const auto found = params_->find(name);
        const auto* value =
            found == params_->end() ? nullptr : std::get_if<std::int64_t>(&found->second);
        if (value != nullptr) return *value;
        if (problem_.empty()) problem_ = fmt::format("{} is not an integer here", in_quotes(name));
        return 0;
    }

    std::int64_t number() {
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
        return value;
    }

    Cursor cursor_;
    const model::Params* params_;
    std::vector<IntegerExpression::Name>* names_;
    std::size_t depth_ = 0;
    std::string problem_;
};

}  // namespace

std::optional<IntegerExpression> IntegerExpression::parse(const PlacedText& text,
                                                          Problems& problems) {
    return unless_wrong([&] {
        IntegerExpression parsed(text);
        IntegerReader(parsed.text_, nullptr, &parsed.names_, problems).read();
        return parsed;
    });
}

IntegerExpression::Value IntegerExpression::evaluate(const model::Params& params) const {
    Problems none("");  // the syntax has been checked
    return IntegerReader(text_, &params, nullptr, none).read();
}

}  // namespace perfgate::suite

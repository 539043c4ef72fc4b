// SPDX-License-Identifier: Apache-2.0
#include "suite/integer_expression.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <utility>

#include "suite/fields.hpp"

namespace perfgate::suite {

namespace {

/// Ends the reading; the problem has been reported.
struct SyntaxError {};

bool begins_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
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
        : placed_(placed), text_(placed.text()), problems_(problems) {}

    IntegerExpression parse() {
        if (text_.size() > longest_integer_expression) {
            fail(0, fmt::format("an expression of {} bytes; expected at most {}", text_.size(),
                                longest_integer_expression));
        }
        parsed_.text_ = text_;
        parsed_.at_ = placed_.start();
        sum();
        skip_spaces();
        if (at_ < text_.size()) {
            fail(at_, fmt::format("unexpected {}; expected '+', '-', '*', '/', '%' or the end",
                                  found()));
        }
        return std::move(parsed_);
    }

  private:
    [[noreturn]] void fail(std::size_t offset, std::string message) {
        placed_.add(offset, std::move(message), problems_);
        throw SyntaxError{};
    }

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void skip_spaces() {
        while (peek() == ' ' || peek() == '\t' || peek() == '\n') ++at_;
    }
    std::string found() const {
        return at_ < text_.size() ? in_quotes(std::string_view(text_).substr(at_, 1)) : "the end";
    }

    /// The operator of `ops` that is next; '\0': none.
    char take(std::string_view ops) {
        skip_spaces();
        if (at_ >= text_.size() || ops.find(peek()) == std::string_view::npos) return '\0';
        return text_[at_++];
    }

    void sum() {
        product();
        while (const char op = take("+-")) {
            product();
            parsed_.steps_.emplace_back(op);
        }
    }

    void product() {
        factor();
        while (const char op = take("*/%")) {
            factor();
            parsed_.steps_.emplace_back(op);
        }
    }

    /// Every recursion passes here: bounds the depth.
    void factor() {
        if (++depth_ > deepest_integer_expression) {
            fail(at_, fmt::format("an expression nested deeper than {}; expected a simpler one",
                                  deepest_integer_expression));
        }
        if (take("-") != '\0') {
            factor();
            parsed_.steps_.emplace_back('n');
        } else if (take("(") != '\0') {
            sum();
            if (take(")") == '\0') fail(at_, fmt::format("unexpected {}; expected ')'", found()));
        } else if (is_digit(peek())) {
            number();
        } else if (begins_name(peek())) {
            const std::size_t begin = at_;
            while (begins_name(peek()) || is_digit(peek())) ++at_;
            parsed_.steps_.emplace_back(parsed_.names_.size());
            parsed_.names_.push_back({text_.substr(begin, at_ - begin), placed_.at(begin)});
        } else {
            fail(at_, fmt::format("unexpected {}; expected an integer, a parameter of 'matrix' or "
                                  "'('",
                                  found()));
        }
        --depth_;
    }

    void number() {
        std::int64_t value = 0;
        const char* const begin = text_.data() + at_;
        const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (error != std::errc{}) {
            fail(at_, "an integer of more than 64 bits; expected a smaller one");
        }
        const std::size_t start = at_;
        at_ += static_cast<std::size_t>(end - begin);
        if (peek() == '.' || begins_name(peek())) {
            fail(start, "not an integer; expected digits alone, such as 256");
        }
        parsed_.steps_.emplace_back(value);
    }

    const PlacedText& placed_;
    const std::string& text_;
    Problems& problems_;
    IntegerExpression parsed_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;
};

std::optional<IntegerExpression> IntegerExpression::parse(const PlacedText& text,
                                                          Problems& problems) {
    try {
        return IntegerParser(text, problems).parse();
    } catch (const SyntaxError&) {
        return std::nullopt;
    }
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

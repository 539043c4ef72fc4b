// SPDX-License-Identifier: Apache-2.0
#include "kinds/python/reader.hpp"

#include <cctype>
#include <charconv>
#include <cstdint>
#include <limits>
#include <variant>

namespace perfgate::python {
namespace {

constexpr std::size_t most_values = 10000;
constexpr int deepest = 64;

}  // namespace

bool Reader::is(std::string_view symbol) const {
    return now().kind == Token::Kind::symbol && now().text == symbol;
}

bool Reader::take(std::string_view symbol) {
    if (!is(symbol)) return false;
    next();
    return true;
}

std::optional<Literal> Reader::argument() {
    const std::size_t begin = at_;
    std::optional<Literal> found = literal();
    if (!is(",") && !is(")")) found.reset();
    if (!found) {
        at_ = begin;
        skip();
    }
    return found;
}

void Reader::skip() {
    int depth = 0;
    for (; now().kind != Token::Kind::end; next()) {
        if (depth == 0 && (is(",") || is(")"))) return;
        if (is("(") || is("[") || is("{")) ++depth;
        if (is(")") || is("]") || is("}")) --depth;
    }
}

std::optional<Literal> Reader::literal() {
    if (is("[") || is("(")) {
        const std::size_t begin = at_;
        if (auto found = list(is("[") ? "]" : ")")) return found;
        at_ = begin;
    }
    if (is("{")) return dictionary();
    const auto one = expression(0);
    if (!one) return std::nullopt;
    return Literal{{*one}, false, {}, false};
}

std::optional<Literal> Reader::list(std::string_view end) {
    next();
    Literal found;
    found.list = true;
    bool comma = end == "]";
    while (!take(end)) {
        const auto one = expression(0);
        if (!one || found.values.size() == most_values) return std::nullopt;
        found.values.push_back(*one);
        if (take(",")) {
            comma = true;
        } else if (!is(end)) {
            return std::nullopt;
        }
    }
    // (1) is a number, (1,) a tuple.
    if (!comma) return std::nullopt;
    return found;
}

std::optional<Literal> Reader::dictionary() {
    next();
    Literal found;
    found.dictionary = true;
    while (!take("}")) {
        const auto key = text();
        if (!key || !take(":")) return std::nullopt;
        const auto value = text();
        if (!value) return std::nullopt;
        found.pairs.emplace_back(*key, *value);
        if (!take(",") && !is("}")) return std::nullopt;
    }
    return found;
}

std::optional<std::string> Reader::text() {
    if (now().kind != Token::Kind::text || !now().literal) return std::nullopt;
    std::string found = now().text;
    next();
    return found;
}

int Reader::precedence(const Token& token) {
    if (token.kind != Token::Kind::symbol) return 0;
    if (token.text == "+" || token.text == "-") return 1;
    if (token.text == "*" || token.text == "//") return 2;
    return token.text == "**" ? 4 : 0;
}

std::optional<model::ParamValue> Reader::expression(int least) {
    if (++depth_ > deepest) return std::nullopt;
    auto left = operand();
    while (left) {
        const int own = precedence(now());
        if (own == 0 || own < least) break;
        const std::string operation = now().text;
        next();
        // ** binds to the right.
        const auto right = expression(own == 4 ? own : own + 1);
        if (!right) {
            left.reset();
            break;
        }
        left = computed(*left, operation, *right);
    }
    --depth_;
    return left;
}

std::optional<model::ParamValue> Reader::operand() {
    if (take("-")) {
        const auto value = expression(3);
        if (!value) return std::nullopt;
        if (const auto* real = std::get_if<double>(&*value)) return -*real;
        const auto* whole = std::get_if<std::int64_t>(&*value);
        if (whole == nullptr || *whole == std::numeric_limits<std::int64_t>::min()) {
            return std::nullopt;
        }
        return -*whole;
    }
    if (take("(")) {
        auto value = expression(0);
        if (!value || !take(")")) return std::nullopt;
        return value;
    }
    if (now().kind == Token::Kind::text) {
        auto found = text();
        if (!found) return std::nullopt;
        return *std::move(found);
    }
    if (now().kind == Token::Kind::number) return number();
    if (now().kind == Token::Kind::name && (now().text == "True" || now().text == "False")) {
        const bool value = now().text == "True";
        next();
        return value;
    }
    return std::nullopt;
}

std::optional<model::ParamValue> Reader::number() {
    std::string digits = now().text;
    std::erase(digits, '_');
    next();
    int base = 10;
    if (digits.size() > 2 && digits[0] == '0' && std::isalpha(digits[1]) != 0) {
        const char sort = static_cast<char>(std::tolower(digits[1]));
        base = sort == 'x' ? 16 : sort == 'o' ? 8 : sort == 'b' ? 2 : 0;
        if (base == 0) return std::nullopt;
        digits.erase(0, 2);
    }
    const char* end = digits.data() + digits.size();
    std::int64_t whole = 0;
    const auto read = std::from_chars(digits.data(), end, whole, base);
    if (read.ec == std::errc{} && read.ptr == end) return whole;
    double real = 0;
    const auto as_real = std::from_chars(digits.data(), end, real);
    if (base != 10 || as_real.ec != std::errc{} || as_real.ptr != end) return std::nullopt;
    return real;
}

std::optional<model::ParamValue> Reader::computed(const model::ParamValue& left,
                                                  const std::string& operation,
                                                  const model::ParamValue& right) {
    const auto* a = std::get_if<std::int64_t>(&left);
    const auto* b = std::get_if<std::int64_t>(&right);
    if (a == nullptr || b == nullptr) return std::nullopt;
    std::int64_t result = 0;
    if (operation == "+" && !__builtin_add_overflow(*a, *b, &result)) return result;
    if (operation == "-" && !__builtin_sub_overflow(*a, *b, &result)) return result;
    if (operation == "*" && !__builtin_mul_overflow(*a, *b, &result)) return result;
    if (operation == "//" && *b > 0) {
        return *a / *b - (*a % *b < 0 ? 1 : 0);  // towards minus infinity
    }
    if (operation == "**" && *b >= 0 && *b < 64) {
        result = 1;
        for (std::int64_t i = 0; i < *b; ++i) {
            if (__builtin_mul_overflow(result, *a, &result)) return std::nullopt;
        }
        return result;
    }
    return std::nullopt;
}

}  // namespace perfgate::python

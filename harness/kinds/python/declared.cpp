// SPDX-License-Identifier: Apache-2.0
#include "kinds/python/declared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::python {
namespace {

struct Token {
    enum class Kind { name, number, text, symbol, newline, end };
    Kind kind = Kind::end;
    std::string text;  ///< of a text: its content
    std::size_t line = 0;
    bool first = false;   ///< at the beginning of an unindented line
    bool literal = true;  ///< of a text: false if it has escapes or a prefix that are not read
};

/// Python's tokens, as far as decorators and parameters need them.
class Lexer {
  public:
    Lexer(std::string_view text, const std::string& file) : text_(text), file_(file) {}

    std::vector<Token> tokens() {
        while (at_ < text_.size()) step();
        if (!open_.empty()) fail(open_.back(), "a parenthesis is not closed");
        add(Token::Kind::end, "");
        return std::move(tokens_);
    }

  private:
    [[noreturn]] void fail(std::size_t line, const char* what) const {
        throw util::InputError(fmt::format("{}:{}: {}", util::printable(file_), line, what));
    }

    char at(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }

    static bool is_word(char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
               static_cast<unsigned char>(c) >= 0x80;
    }

    void add(Token::Kind kind, std::string_view text, bool literal = true) {
        tokens_.push_back({kind, std::string(text), line_, line_start_, literal});
        line_start_ = false;
    }

    void step() {
        const char c = at();
        if (c == '\n') {
            if (open_.empty()) add(Token::Kind::newline, "");
            ++line_;
            ++at_;
            line_start_ = open_.empty();
        } else if (c == '\\' && (at(1) == '\n' || at(1) == '\r')) {
            at_ += at(1) == '\r' ? 3 : 2;
            ++line_;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
            ++at_;
            if (c != '\r') line_start_ = false;
        } else if (c == '#') {
            while (at_ < text_.size() && at() != '\n') ++at_;
        } else if (c == '"' || c == '\'') {
            text("");
        } else if (std::isdigit(static_cast<unsigned char>(c)) != 0 ||
                   (c == '.' && std::isdigit(static_cast<unsigned char>(at(1))) != 0)) {
            number();
        } else if (is_word(c)) {
            word();
        } else {
            symbol();
        }
    }

    void word() {
        const std::size_t begin = at_;
        while (is_word(at())) ++at_;
        const std::string_view found = text_.substr(begin, at_ - begin);
        if ((at() == '"' || at() == '\'') && found.size() <= 2) return text(found);
        add(Token::Kind::name, found);
    }

    void number() {
        const std::size_t begin = at_;
        while (is_word(at()) || at() == '.' ||
               ((at() == '+' || at() == '-') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E') &&
                text_.substr(begin, 2) != "0x")) {
            ++at_;
        }
        add(Token::Kind::number, text_.substr(begin, at_ - begin));
    }

    void text(std::string_view prefix) {
        const char quote = at();
        const bool triple = at(1) == quote && at(2) == quote;
        const std::size_t from = line_;
        const bool first = line_start_;
        at_ += triple ? 3 : 1;
        std::string content;
        bool literal = prefix.empty();
        for (;;) {
            if (at_ >= text_.size() || (!triple && at() == '\n')) fail(from, "a text does not end");
            if (at() == quote && (!triple || (at(1) == quote && at(2) == quote))) break;
            if (at() == '\\') {
                literal = false;
                if (at(1) == '\n') ++line_;
                at_ += 2;
                continue;
            }
            if (at() == '\n') ++line_;
            content += at();
            ++at_;
        }
        at_ += triple ? 3 : 1;
        line_start_ = false;
        tokens_.push_back({Token::Kind::text, std::move(content), from, first, literal});
    }

    void symbol() {
        const char c = at();
        const bool two = (c == '*' || c == '/') && at(1) == c;
        const std::string_view found = text_.substr(at_, two ? 2 : 1);
        if (c == '(' || c == '[' || c == '{') open_.push_back(line_);
        if (c == ')' || c == ']' || c == '}') {
            if (open_.empty()) fail(line_, "a parenthesis closes nothing");
            open_.pop_back();
        }
        add(Token::Kind::symbol, found);
        at_ += found.size();
    }

    std::string_view text_;
    const std::string& file_;
    std::size_t at_ = 0, line_ = 1;
    bool line_start_ = true;
    std::vector<std::size_t> open_;  ///< lines of the open parentheses
    std::vector<Token> tokens_;
};

using Values = std::vector<model::ParamValue>;

/// What an argument's expression is; nothing: no literal.
struct Literal {
    Values values;  ///< one, or those of a list
    bool list = false;
    std::vector<std::pair<std::string, std::string>> pairs;  ///< of a dictionary of texts
    bool dictionary = false;
};

constexpr std::size_t most_values = 10000;
constexpr int deepest = 64;

/// Reads the arguments of a decorator.
class Reader {
  public:
    Reader(const std::vector<Token>& tokens, std::size_t at) : tokens_(tokens), at_(at) {}

    std::size_t position() const { return at_; }
    const Token& now() const { return tokens_[std::min(at_, tokens_.size() - 1)]; }
    void next() { ++at_; }

    bool is(std::string_view symbol) const {
        return now().kind == Token::Kind::symbol && now().text == symbol;
    }
    bool take(std::string_view symbol) {
        if (!is(symbol)) return false;
        next();
        return true;
    }

    /// An argument's value; the position is behind it in any case: at a comma or the end.
    std::optional<Literal> argument() {
        const std::size_t begin = at_;
        std::optional<Literal> found = literal();
        if (!is(",") && !is(")")) found.reset();
        if (!found) {
            at_ = begin;
            skip();
        }
        return found;
    }

    /// To the comma or the parenthesis that ends this argument.
    void skip() {
        int depth = 0;
        for (; now().kind != Token::Kind::end; next()) {
            if (depth == 0 && (is(",") || is(")"))) return;
            if (is("(") || is("[") || is("{")) ++depth;
            if (is(")") || is("]") || is("}")) --depth;
        }
    }

  private:
    std::optional<Literal> literal() {
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

    std::optional<Literal> list(std::string_view end) {
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

    std::optional<Literal> dictionary() {
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

    std::optional<std::string> text() {
        if (now().kind != Token::Kind::text || !now().literal) return std::nullopt;
        std::string found = now().text;
        next();
        return found;
    }

    static int precedence(const Token& token) {
        if (token.kind != Token::Kind::symbol) return 0;
        if (token.text == "+" || token.text == "-") return 1;
        if (token.text == "*" || token.text == "//") return 2;
        return token.text == "**" ? 4 : 0;
    }

    /// Operators from `least` on: sums, products and powers of integers.
    std::optional<model::ParamValue> expression(int least) {
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

    std::optional<model::ParamValue> operand() {
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

    std::optional<model::ParamValue> number() {
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

    static std::optional<model::ParamValue> computed(const model::ParamValue& left,
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

    const std::vector<Token>& tokens_;
    std::size_t at_;
    int depth_ = 0;
};

model::ParamType type_of(const model::ParamValue& value) {
    if (std::holds_alternative<bool>(value)) return model::ParamType::boolean;
    if (std::holds_alternative<std::int64_t>(value)) return model::ParamType::integer;
    if (std::holds_alternative<double>(value)) return model::ParamType::real;
    return model::ParamType::text;
}

/// One type for all values, as the module decides; nothing: they have several.
std::optional<model::ParamInfo> parameter(const std::string& name, Values values) {
    model::ParamInfo info;
    info.name = name;
    std::set<model::ParamType> types;
    for (const model::ParamValue& value : values) types.insert(type_of(value));
    if (types == std::set{model::ParamType::integer, model::ParamType::real}) {
        for (model::ParamValue& value : values) {
            if (const auto* whole = std::get_if<std::int64_t>(&value)) {
                value = static_cast<double>(*whole);
            }
        }
        types = {model::ParamType::real};
    }
    if (types.size() != 1) return std::nullopt;
    info.type = *types.begin();
    info.minimum = std::numeric_limits<std::int64_t>::min();
    info.maximum = std::numeric_limits<std::int64_t>::max();
    info.values = std::move(values);
    return info;
}

/// The declaration behind `@perfgate.workload`, at its parenthesis.
class Declaration {
  public:
    Declaration(Reader& reader, std::size_t line) : reader_(reader) { found_.line = line; }

    /// Nothing: no function follows.
    std::optional<DeclaredWorkload> read() {
        if (reader_.take("(")) {
            while (!reader_.take(")")) {
                if (reader_.now().kind == Token::Kind::end) return std::nullopt;
                argument();
                reader_.take(",");
            }
        }
        if (!read_function()) return std::nullopt;
        std::sort(found_.info.params.begin(), found_.info.params.end(),
                  [](const auto& left, const auto& right) { return left.name < right.name; });
        add_variants();
        return std::move(found_);
    }

  private:
    void leave_open(const std::string& why) {
        if (found_.open.empty()) found_.open = why;
    }

    void argument() {
        if (reader_.now().kind != Token::Kind::name) {
            leave_open("an argument of the decorator has no name");
            reader_.skip();
            return;
        }
        const std::string name = reader_.now().text;
        reader_.next();
        if (!reader_.take("=")) {
            leave_open("an argument of the decorator has no name");
            reader_.skip();
            return;
        }
        std::optional<Literal> value = reader_.argument();
        if (name == "resets") return;
        if (!value) {
            leave_open(fmt::format("'{}' is no literal", util::printable(name, 60)));
        } else if (name == "variants") {
            variants_ = *std::move(value);
        } else if (name == "target" || name == "name") {
            const auto* text = value->values.size() == 1 && !value->list
                                   ? std::get_if<std::string>(&value->values.front())
                                   : nullptr;
            if (text == nullptr) return leave_open(fmt::format("'{}' is no text", name));
            (name == "target" ? target_ : found_.info.name) = *text;
        } else if (auto info = value->dictionary || value->values.empty()
                                   ? std::nullopt
                                   : parameter(name, std::move(value->values))) {
            found_.info.params.push_back(*std::move(info));
        } else {
            leave_open(
                fmt::format("the values of '{}' are not of one type", util::printable(name, 60)));
        }
    }

    /// Behind other decorators: `def NAME`.
    bool read_function() {
        for (; reader_.now().kind != Token::Kind::end; reader_.next()) {
            const Token& token = reader_.now();
            if (!token.first || token.kind == Token::Kind::newline) continue;
            if (token.kind == Token::Kind::symbol && token.text == "@") continue;
            if (token.kind != Token::Kind::name || token.text != "def") return false;
            reader_.next();
            if (reader_.now().kind != Token::Kind::name) return false;
            if (found_.info.name.empty()) found_.info.name = reader_.now().text;
            return true;
        }
        return false;
    }

    void add_variants() {
        std::vector<std::pair<std::string, std::string>> all = variants_.pairs;
        for (const model::ParamValue& value : variants_.values) {
            const auto* text = std::get_if<std::string>(&value);
            if (text == nullptr) return leave_open("'variants' are no texts");
            all.emplace_back(*text, target_);
        }
        if (all.empty()) all.emplace_back("python", target_);
        for (const auto& [name, target] : all) {
            model::VariantInfo variant;
            variant.name = name;
            variant.target = target == "host" ? model::Target::host : model::Target::cuda;
            found_.info.variants.push_back(std::move(variant));
        }
    }

    Reader& reader_;
    DeclaredWorkload found_;
    Literal variants_;
    std::string target_ = "cuda";
};

}  // namespace

std::vector<DeclaredWorkload> declared_workloads(std::string_view text, const std::string& file) {
    const std::vector<Token> tokens = Lexer(text, file).tokens();
    std::vector<DeclaredWorkload> found;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
        if (!tokens[i].first || tokens[i].kind != Token::Kind::symbol || tokens[i].text != "@") {
            continue;
        }
        // @workload or @module.workload
        std::size_t at = i + 1;
        while (at + 2 < tokens.size() && tokens[at].kind == Token::Kind::name &&
               tokens[at + 1].text == ".") {
            at += 2;
        }
        if (tokens[at].kind != Token::Kind::name || tokens[at].text != "workload") continue;
        Reader reader(tokens, at + 1);
        if (auto declared = Declaration(reader, tokens[i].line).read()) {
            declared->info.plugin = file;
            found.push_back(*std::move(declared));
        }
        i = std::max(i, std::min(reader.position(), tokens.size()) - 1);
    }
    return found;
}

}  // namespace perfgate::python

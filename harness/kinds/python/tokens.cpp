// SPDX-License-Identifier: Apache-2.0
#include "kinds/python/tokens.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::python {
namespace {

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
        throw util::InputError("{}:{}: {}", util::printable(file_), line, what);
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

}  // namespace

std::vector<Token> tokens_of(std::string_view text, const std::string& file) {
    return Lexer(text, file).tokens();
}

std::size_t end_of_block(const std::vector<Token>& tokens, std::size_t at) {
    const auto begins = [](const Token& token) {
        return token.kind == Token::Kind::end ||
               (token.first && token.kind != Token::Kind::newline);
    };
    while (++at < tokens.size() && !begins(tokens[at])) {
    }
    return std::min(at, tokens.size());
}

}  // namespace perfgate::python

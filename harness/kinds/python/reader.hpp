// SPDX-License-Identifier: Apache-2.0
// Reads literals from Python's tokens.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kinds/python/tokens.hpp"
#include "model/case.hpp"

namespace perfgate::python {

using Values = std::vector<model::ParamValue>;

/// What an argument's expression is; nothing: no literal.
struct Literal {
    Values values;  ///< one, or those of a list
    bool list = false;
    std::vector<std::pair<std::string, std::string>> pairs;  ///< of a dictionary of texts
    bool dictionary = false;
};

/// Reads the arguments of a decorator, or of another call.
class Reader {
  public:
    Reader(const std::vector<Token>& tokens, std::size_t at) : tokens_(tokens), at_(at) {}

    std::size_t position() const { return at_; }
    const Token& now() const { return tokens_[std::min(at_, tokens_.size() - 1)]; }
    void next() { ++at_; }

    bool is(std::string_view symbol) const;
    bool take(std::string_view symbol);

    /// An argument's value; the position is behind it in any case: at a comma or the end.
    std::optional<Literal> argument();

    /// To the comma or the parenthesis that ends this argument.
    void skip();

  private:
    std::optional<Literal> literal();
    std::optional<Literal> list(std::string_view end);
    std::optional<Literal> dictionary();
    std::optional<std::string> text();
    static int precedence(const Token& token);
    /// Operators from `least` on: sums, products and powers of integers.
    std::optional<model::ParamValue> expression(int least);
    std::optional<model::ParamValue> operand();
    std::optional<model::ParamValue> number();
    static std::optional<model::ParamValue> computed(const model::ParamValue& left,
                                                     const std::string& operation,
                                                     const model::ParamValue& right);

    const std::vector<Token>& tokens_;
    std::size_t at_;
    int depth_ = 0;
};

}  // namespace perfgate::python

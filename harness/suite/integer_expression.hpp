// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic over the parameters of a matrix: sizes and launches of a source's kernel.
//
//     sum     = product { ("+" | "-") product }
//     product = factor { ("*" | "/" | "%") factor }
//     factor  = "-" factor | "(" sum ")" | integer | parameter
//
// 64 bits, as C++ computes: division rounds towards 0; an overflow is a problem. The text is
// untrusted: its length and depth are bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/case.hpp"
#include "suite/placed_text.hpp"

namespace perfgate::suite {

inline constexpr std::size_t longest_integer_expression = 200;
inline constexpr std::size_t deepest_integer_expression = 16;

class IntegerExpression {
  public:
    /// A parameter that it uses, and where.
    struct Name {
        std::string name;
        Position at;
    };
    struct Value {
        std::int64_t value = 0;
        std::string problem;  ///< why there is none: "division by zero"; empty: there is
    };

    /// Nothing, and a problem at its place, if the text is no such expression.
    static std::optional<IntegerExpression> parse(const PlacedText& text, Problems& problems);

    const std::vector<Name>& names() const { return names_; }
    const std::string& text() const { return text_.text(); }
    Position at() const { return text_.start(); }

    /// Parameters that are absent, or no integers, are a problem.
    Value evaluate(const model::Params& params) const;

  private:
    explicit IntegerExpression(PlacedText text) : text_(std::move(text)) {}

    PlacedText text_;
    std::vector<Name> names_;
};

}  // namespace perfgate::suite

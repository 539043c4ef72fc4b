// SPDX-License-Identifier: Apache-2.0
#include "kinds/python/tolerances.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <variant>

#include "kinds/python/reader.hpp"
#include "util/text.hpp"

namespace perfgate::python {
namespace {

using Kind = Token::Kind;

/// The most values of one name in one function, or outside of all.
constexpr std::size_t most_tolerances = 100;
/// The longest text of a value that is no literal, with what is assigned to its names.
constexpr std::size_t most_characters = 8192;

bool is_symbol(const Token& token, std::string_view symbol) {
    return token.kind == Kind::symbol && token.text == symbol;
}

bool is_name(const Token& token, std::string_view name) {
    return token.kind == Kind::name && token.text == name;
}

bool opens(const Token& token) {
    return is_symbol(token, "(") || is_symbol(token, "[") || is_symbol(token, "{");
}

bool closes(const Token& token) {
    return is_symbol(token, ")") || is_symbol(token, "]") || is_symbol(token, "}");
}

class ToleranceReader {
  public:
    explicit ToleranceReader(const std::vector<Token>& tokens) : tokens_(tokens) {
        note_parentheses();
        note_assignments();
    }

    void add(TokenRange range, Tolerances& to) const {
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const Token& token = tokens_[i];
            if (token.kind == Kind::name && token.text == "Case" && is_symbol(at(i + 1), "(")) {
                add_positional(i + 2, to);
            }
            StatedTolerances* named = tolerances_named(token, to);
            if (named == nullptr || named->unread) continue;
            if (const std::size_t value = stated_value(i)) add(expression(value), *named);
        }
    }

  private:
    const Token& at(std::size_t i) const { return tokens_[std::min(i, tokens_.size() - 1)]; }

    static StatedTolerances* tolerances_named(const Token& token, Tolerances& to) {
        if (token.kind != Kind::name && token.kind != Kind::text) return nullptr;
        if (token.text == "rtol") return &to.rtol;
        return token.text == "atol" ? &to.atol : nullptr;
    }

    /// Where the value of the name at `i` begins: rtol=1e-3 of a call, case.rtol = 1e-3, case.rtol
    /// *= 2, rtol: float = 1e-3, "rtol": 1e-3 of a dictionary, setattr(case, "rtol", 1e-3). 0:
    /// none, as of rtol == 1e-3.
    std::size_t stated_value(std::size_t i) const {
        static constexpr std::array<std::string_view, 7> operators{"+",  "-",  "*", "/",
                                                                   "**", "//", ":"};
        const Token& next = at(i + 1);
        const bool assigns = is_symbol(at(i + 2), "=");
        if (assigns && std::ranges::any_of(operators, [&](std::string_view each) {
                return is_symbol(next, each);
            })) {
            return i + 1;
        }
        const bool states = is_symbol(next, "=") || is_symbol(next, ":") ||
                            (at(i).kind == Kind::text && is_symbol(next, ","));
        return states && !assigns ? i + 2 : 0;
    }

    /// Case(launch, outputs, reference, rtol, atol), and what is unpacked into it.
    void add_positional(std::size_t begin, Tolerances& to) const {
        std::size_t position = 0;
        for (std::size_t i = begin; i < tokens_.size() && !closes(at(i));) {
            const TokenRange argument = expression(i);
            const bool unpacks = is_symbol(at(i), "*") || is_symbol(at(i), "**");
            const bool keyword = at(i).kind == Kind::name && is_symbol(at(i + 1), "=");
            if (unpacks || (!keyword && position == 3)) add(argument, to.rtol);
            if (unpacks || (!keyword && position == 4)) add(argument, to.atol);
            ++position;
            i = argument.end + (is_symbol(at(argument.end), ",") ? 1 : 0);
            if (argument.end == i && !closes(at(i))) return;
        }
    }

    /// To the comma, parenthesis or line's end that ends it.
    TokenRange expression(std::size_t begin) const {
        const auto ends = [&](std::size_t i) {
            return closes(at(i)) || at(i).kind == Kind::newline || at(i).kind == Kind::end;
        };
        begin = std::min(begin, tokens_.size() - 1);
        std::size_t i = begin;
        while (!ends(i) && !is_symbol(at(i), ",")) {
            if (is_name(at(i), "lambda")) {  // its parameters have commas
                while (!ends(i) && !is_symbol(at(i), ":")) i = closing_[i] + 1;
            } else {
                i = closing_[i] + 1;
            }
        }
        return {begin, i};
    }

    void add(TokenRange range, StatedTolerances& to) const {
        if (to.line == 0) to.line = at(range.begin).line;
        if (to.count++ == most_tolerances || to.others.size() > most_characters) to.unread = true;
        if (to.unread) return;
        if (const auto number = literal(range)) {
            to.literals.push_back(*number);
        } else {
            add_text(range, to);
        }
    }

    std::optional<double> literal(TokenRange range) const {
        if (range.end - range.begin > most_characters) return std::nullopt;
        std::vector<Token> own(tokens_.begin() + static_cast<std::ptrdiff_t>(range.begin),
                               tokens_.begin() + static_cast<std::ptrdiff_t>(range.end));
        own.push_back({Kind::symbol, ")"});
        const auto found = Reader(own, 0).argument();
        if (!found || found->list || found->dictionary) return std::nullopt;
        if (const auto* whole = std::get_if<std::int64_t>(&found->values.front())) {
            return static_cast<double>(*whole);
        }
        const auto* real = std::get_if<double>(&found->values.front());
        return real == nullptr ? std::nullopt : std::optional(*real);
    }

    /// The expression, and what the file assigns to the names in it, and to those in that.
    void add_text(TokenRange range, StatedTolerances& to) const {
        std::vector<TokenRange> open{range};
        std::set<std::string> known;
        std::size_t characters = 0;
        for (std::size_t next = 0; next < open.size(); ++next) {
            if (next > 0) to.others += next == 1 ? " where " : ", ";
            for (std::size_t i = open[next].begin; i < open[next].end; ++i) {
                const Token& token = at(i);
                characters += 1 + token.text.size();
                to.unread = characters > most_characters;
                if (to.unread) return;
                if (i > open[next].begin) to.others += ' ';
                to.others += token.kind == Kind::text ? '"' + token.text + '"' : token.text;
                if (token.kind != Kind::name || !known.insert(token.text).second) continue;
                const auto assigned = assigned_.find(token.text);
                if (assigned == assigned_.end()) continue;
                to.unread = open.size() + assigned->second.size() > most_characters;
                if (to.unread) return;
                open.insert(open.end(), assigned->second.begin(), assigned->second.end());
            }
        }
        to.others += '\n';
    }

    /// The tokens are balanced; what they nest is passed in one step.
    void note_parentheses() {
        std::vector<std::size_t> open;
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            closing_.push_back(i);
            if (opens(tokens_[i])) open.push_back(i);
            if (!closes(tokens_[i]) || open.empty()) continue;
            closing_[open.back()] = i;
            open.pop_back();
        }
    }

    /// Lines that begin with a name, and the functions of the top level.
    void note_assignments() {
        for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
            const bool begins = i == 0 || tokens_[i - 1].kind == Kind::newline;
            if (!begins || tokens_[i].kind != Kind::name) continue;
            if (tokens_[i].text == "def" && tokens_[i].first) {
                assigned_[tokens_[i + 1].text].push_back({i, end_of_block(tokens_, i)});
            } else if (tokens_[i + 1].kind == Kind::symbol && !is_symbol(at(i + 1), "(") &&
                       !is_symbol(at(i + 1), ".")) {
                std::size_t end = i;
                while (tokens_[end].kind != Kind::newline && tokens_[end].kind != Kind::end) ++end;
                assigned_[tokens_[i].text].push_back({i, end});
            }
        }
    }

    const std::vector<Token>& tokens_;
    std::vector<std::size_t> closing_;  ///< of an opening parenthesis; of another token: itself
    std::map<std::string, std::vector<TokenRange>> assigned_;
};

void add(const StatedTolerances& more, StatedTolerances& to) {
    to.literals.insert(to.literals.end(), more.literals.begin(), more.literals.end());
    to.others += more.others;
    to.unread = to.unread || more.unread;
    to.count += more.count;
    if (to.line == 0) to.line = more.line;
}

bool may_be_looser(const StatedTolerances& was, const StatedTolerances& is) {
    if (is.unread || was.others != is.others) return true;
    if (was.literals.size() == is.literals.size()) {
        return !std::equal(is.literals.begin(), is.literals.end(), was.literals.begin(),
                           [](double now, double then) { return now <= then; });
    }
    // The default is 0.
    const auto least = std::ranges::min_element(was.literals);
    const double strictest = least == was.literals.end() ? 0 : *least;
    return std::ranges::any_of(is.literals, [&](double now) { return !(now <= strictest); });
}

std::string words(const StatedTolerances& stated) {
    std::string text;
    const auto add = [&](std::string_view one) {
        text += (text.empty() ? "" : ", ") + std::string(one);
    };
    for (const double literal : stated.literals) add(util::number_text(literal));
    for (std::size_t begin = 0; begin < stated.others.size();) {
        const std::size_t end = stated.others.find('\n', begin);
        add(stated.others.substr(begin, end - begin));
        if (end == std::string::npos) break;
        begin = end + 1;
    }
    if (stated.unread) add("more than is read");
    return text.empty() ? "0" : util::printable(text, 200);
}

}  // namespace

std::vector<Tolerances> tolerances_of(const std::vector<Token>& tokens,
                                      const std::vector<TokenRange>& functions) {
    const ToleranceReader reader(tokens);
    Tolerances outside;
    std::size_t at = 0;
    for (const TokenRange& function : functions) {
        reader.add({at, function.begin}, outside);
        at = function.end;
    }
    reader.add({at, tokens.size()}, outside);
    std::vector<Tolerances> found(functions.size());
    for (std::size_t i = 0; i < functions.size(); ++i) {
        reader.add(functions[i], found[i]);
        add(outside.rtol, found[i].rtol);
        add(outside.atol, found[i].atol);
    }
    return found;
}

std::vector<LooserTolerance> looser_tolerances(const Tolerances& before, const Tolerances& after) {
    std::vector<LooserTolerance> found;
    const auto compare = [&](const char* name, const StatedTolerances& was,
                             const StatedTolerances& is) {
        if (may_be_looser(was, is)) found.push_back({name, words(was), words(is), is.line});
    };
    compare("rtol", before.rtol, after.rtol);
    compare("atol", before.atol, after.atol);
    return found;
}

}  // namespace perfgate::python

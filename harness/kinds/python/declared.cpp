// SPDX-License-Identifier: Apache-2.0
#include "kinds/python/declared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <variant>

#include "kinds/python/reader.hpp"
#include "kinds/python/tokens.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::python {
namespace {

model::ParamType type_of(const model::ParamValue& value) {
    if (std::holds_alternative<bool>(value)) return model::ParamType::boolean;
    if (std::holds_alternative<std::int64_t>(value)) return model::ParamType::integer;
    if (std::holds_alternative<double>(value)) return model::ParamType::real;
    return model::ParamType::text;
}

/// The declaration behind `@perfgate.workload`, at its parenthesis.
class Declaration {
  public:
    Declaration(Reader& reader, std::size_t line) : reader_(reader) { found_.line = line; }

    /// Nothing: no function follows. Throws util::InputError if it lacks a parameter.
    std::optional<DeclaredWorkload> read() {
        if (reader_.take("(")) {
            while (!reader_.take(")")) {
                if (reader_.now().kind == Token::Kind::end) return std::nullopt;
                argument();
                reader_.take(",");
            }
        }
        if (!read_function()) return std::nullopt;
        if (!wrapped_) require_parameters();
        std::ranges::sort(found_.info.params, [](const auto& left, const auto& right) {
            return left.name < right.name;
        });
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
            if (token.kind == Token::Kind::symbol && token.text == "@") {
                wrapped_ = true;
                continue;
            }
            if (token.kind != Token::Kind::name || token.text != "def") return false;
            reader_.next();
            if (reader_.now().kind != Token::Kind::name) return false;
            if (found_.info.name.empty()) found_.info.name = reader_.now().text;
            return true;
        }
        return false;
    }

    /// Refuses a declared parameter that the function lacks, as the module does when the file runs.
    void require_parameters() {
        std::vector<std::string> names;
        int depth = 0;
        bool begins = false;  // a parameter
        for (; reader_.now().kind != Token::Kind::end; reader_.next()) {
            const Token& token = reader_.now();
            if (token.kind == Token::Kind::name && begins) names.push_back(token.text);
            begins = begins && token.kind == Token::Kind::symbol && token.text.starts_with('*');
            if (token.kind != Token::Kind::symbol) continue;
            if (token.text == "(" || token.text == "[" || token.text == "{") ++depth;
            if (token.text == ")" || token.text == "]" || token.text == "}") --depth;
            if (depth == 0 && token.text == ")") break;
            begins = begins || (depth == 1 && (token.text == "(" || token.text == ","));
        }
        for (const model::ParamInfo& param : found_.info.params) {
            if (std::ranges::find(names, param.name) != names.end()) continue;
            throw util::InputError("the function of the workload '{}' has no parameter '{}'{}",
                                   util::printable(found_.info.name, 60),
                                   util::printable(param.name, 60),
                                   util::did_you_mean(param.name, names));
        }
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
    bool wrapped_ = false;  ///< in another decorator, which may give it other parameters
};

}  // namespace

std::optional<model::ParamInfo> parameter(const std::string& name,
                                          std::vector<model::ParamValue> values) {
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

std::vector<DeclaredWorkload> declared_workloads(std::string_view text, const std::string& file) {
    const std::vector<Token> tokens = tokens_of(text, file);
    std::vector<DeclaredWorkload> found;
    std::vector<TokenRange> functions;
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
        std::optional<DeclaredWorkload> declared;
        try {
            declared = Declaration(reader, tokens[i].line).read();
        } catch (const util::InputError& error) {
            throw util::InputError("{}:{}: {}", util::printable(file), tokens[i].line,
                                   error.what());
        }
        if (declared) {
            if (found.size() == most_workloads) {
                throw util::InputError("{}:{}: more than {} workloads; split the file",
                                       util::printable(file), tokens[i].line, most_workloads);
            }
            declared->info.plugin = file;
            found.push_back(*std::move(declared));
            functions.push_back({i, end_of_block(tokens, reader.position())});
        }
        i = std::max(i, std::min(reader.position(), tokens.size()) - 1);
    }
    std::vector<Tolerances> tolerances = tolerances_of(tokens, functions);
    for (std::size_t i = 0; i < found.size(); ++i) found[i].tolerances = std::move(tolerances[i]);
    return found;
}

}  // namespace perfgate::python

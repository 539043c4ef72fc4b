// SPDX-License-Identifier: Apache-2.0
#include "suite/fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "util/text.hpp"

namespace perfgate::suite {

namespace {

constexpr std::size_t longest_slug = 64;

bool is_plain_scalar(const YamlNode& node) {
    return node.kind == YamlNode::Kind::scalar && node.plain;
}

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, text) != words.end();
}

/// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool has_number_form(std::string_view text) {
    std::size_t i = 0;
    const auto digits = [&] {
        const std::size_t start = i;
        while (i < text.size() && is_digit(text[i])) ++i;
        return i - start;
    };
    const auto sign = [&] {
        if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    };
    sign();
    const std::size_t whole = digits();
    std::size_t fraction = 0;
    if (i < text.size() && text[i] == '.') {
        ++i;
        fraction = digits();
    }
    if (whole + fraction == 0) return false;
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        ++i;
        sign();
        if (digits() == 0) return false;
    }
    return i == text.size();
}

template <typename Number, typename... Options>
std::optional<Number> converted(std::string_view text, Options... options) {
    if (text.starts_with('+')) text.remove_prefix(1);
    return util::parsed<Number>(text, options...);
}

}  // namespace

std::string describe(const YamlNode& node) {
    switch (node.kind) {
        case YamlNode::Kind::null:
            return "nothing";
        case YamlNode::Kind::list:
            return "a list";
        case YamlNode::Kind::map:
            return "a map";
        case YamlNode::Kind::scalar:
            break;
    }
    if (boolean_of(node) || number_of(node)) {
        return node.text.size() > 40 ? "a long number" : node.text;
    }
    return "text " + in_quotes(node.text);
}

void add_wrong_type(const YamlNode& node, std::string_view what, std::string_view expected,
                    Problems& problems) {
    problems.add(node.at, "wrong value for {}; expected {}, found {}", in_quotes(what), expected,
                 describe(node));
}

std::optional<bool> boolean_of(const YamlNode& node) {
    if (!is_plain_scalar(node)) return std::nullopt;
    if (one_of(node.text, {"true", "True", "TRUE"})) return true;
    if (one_of(node.text, {"false", "False", "FALSE"})) return false;
    return std::nullopt;
}

std::optional<std::int64_t> integer_of(const YamlNode& node) {
    if (!is_plain_scalar(node)) return std::nullopt;
    const std::string_view text = node.text;
    // from_chars takes a sign of its own.
    if (text.starts_with("+-") || text.starts_with("0x-") || text.starts_with("0o-")) {
        return std::nullopt;
    }
    if (text.starts_with("0x")) return converted<std::int64_t>(text.substr(2), 16);
    if (text.starts_with("0o")) return converted<std::int64_t>(text.substr(2), 8);
    return converted<std::int64_t>(text);
}

std::optional<double> number_of(const YamlNode& node) {
    if (!is_plain_scalar(node)) return std::nullopt;
    const std::string_view text = node.text;
    if (one_of(text, {".nan", ".NaN", ".NAN"})) return std::numeric_limits<double>::quiet_NaN();
    const std::string_view magnitude =
        text.starts_with('-') || text.starts_with('+') ? text.substr(1) : text;
    if (one_of(magnitude, {".inf", ".Inf", ".INF"})) {
        const double infinity = std::numeric_limits<double>::infinity();
        return text.starts_with('-') ? -infinity : infinity;
    }
    if (const auto integer = integer_of(node)) return static_cast<double>(*integer);
    if (!has_number_form(text)) return std::nullopt;
    // Out of a double's range: infinite, or zero.
    const auto value = converted<double>(text);
    return value ? *value : std::numeric_limits<double>::infinity();
}

std::optional<std::string> text_of(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::scalar) return std::nullopt;
    if (boolean_of(node) || number_of(node)) return std::nullopt;
    return node.text;
}

Fields::Fields(const YamlNode& node, std::string_view what, const std::vector<std::string>& keys,
               Problems& problems)
    : node_(node), what_(what), is_map_(node.kind == YamlNode::Kind::map) {
    if (!is_map_) {
        problems.add(node.at, "wrong value for {}; expected a map, found {}", what, describe(node));
        return;
    }
    for (const YamlNode::Entry& entry : node.entries) {
        if (std::ranges::find(keys, entry.key->text) != keys.end()) continue;
        problems.add_unknown(entry.key->at, "key", entry.key->text, keys);
    }
}

const YamlNode* Fields::find(std::string_view key) const {
    if (!is_map_) return nullptr;
    const auto found = std::ranges::find_if(
        node_.entries, [&](const YamlNode::Entry& entry) { return entry.key->text == key; });
    return found == node_.entries.end() ? nullptr : found->value;
}

const YamlNode* Fields::require(std::string_view key, Problems& problems) const {
    const YamlNode* value = find(key);
    if (value == nullptr && is_map_) {
        problems.add(node_.at, "{} has no {}; expected that key", what_, in_quotes(key));
    }
    return value;
}

std::vector<const YamlNode*> read_list(const YamlNode& node, std::string_view what,
                                       std::string_view expected, Problems& problems) {
    if (node.kind != YamlNode::Kind::list) {
        add_wrong_type(node, what, fmt::format("a list of {}", expected), problems);
    } else if (node.items.empty()) {
        problems.add(node.at, "{} is empty; expected a list of {}", in_quotes(what), expected);
    }
    return node.items;
}

std::optional<std::string> read_text(const YamlNode& node, std::string_view what,
                                     std::string_view expected, std::size_t longest,
                                     Problems& problems) {
    std::optional<std::string> text = text_of(node);
    if (!text || text->empty()) {
        add_wrong_type(node, what, expected, problems);
        return std::nullopt;
    }
    if (text->size() > longest) {
        problems.add(node.at, "{} is {} bytes long; expected at most {}", in_quotes(what),
                     text->size(), longest);
        return std::nullopt;
    }
    return text;
}

std::optional<std::size_t> read_choice(const YamlNode& node, std::string_view what,
                                       const std::vector<std::string>& choices,
                                       Problems& problems) {
    const std::optional<std::string> text = text_of(node);
    if (!text) {
        add_wrong_type(node, what, fmt::format("{}", fmt::join(choices, " or ")), problems);
        return std::nullopt;
    }
    const auto found = std::ranges::find(choices, *text);
    if (found == choices.end()) {
        problems.add_unknown(node.at, fmt::format("value for {}:", in_quotes(what)), *text,
                             choices);
        return std::nullopt;
    }
    return static_cast<std::size_t>(found - choices.begin());
}

std::optional<std::string> read_slug(const YamlNode& node, std::string_view what,
                                     Problems& problems) {
    std::optional<std::string> text = text_of(node);
    const bool good = text && !text->empty() && text->size() <= longest_slug &&
                      std::ranges::all_of(*text, [](char c) {
                          return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_' || c == '-';
                      });
    if (good) return text;
    add_wrong_type(node, what, "1 to 64 of the characters a-z, 0-9, '_' and '-'", problems);
    return std::nullopt;
}

}  // namespace perfgate::suite

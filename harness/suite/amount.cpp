// SPDX-License-Identifier: Apache-2.0
#include "suite/amount.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace perfgate::suite {

namespace {

using Unit = AmountUnit;
using model::find_unit;

constexpr std::string_view expected_amount = "a number that is zero or more, with or without unit";

std::optional<Amount> parse_amount(std::string_view text) {
    const std::optional<double> value = take_number(text);
    if (!value) return std::nullopt;
    if (text.starts_with(' ')) text.remove_prefix(1);
    const Unit* unit = find_unit(text);
    if (unit == nullptr) return std::nullopt;
    return Amount{*value, unit->suffix};
}

bool continues_a_word(std::string_view text) {
    return !text.empty() &&
           ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z') ||
            (text[0] >= '0' && text[0] <= '9') || text[0] == '_');
}

}  // namespace

std::optional<double> fraction_in(const Amount& amount) {
    if (amount.unit == "%") {
        return amount.value <= most_percent ? std::optional(amount.value / 100) : std::nullopt;
    }
    if (amount.unit.empty() && amount.value < 1) return amount.value;
    return std::nullopt;
}

std::optional<double> fraction_of(std::string_view text) {
    const std::optional<Amount> amount = parse_amount(text);
    if (!amount || !std::isfinite(amount->value)) return std::nullopt;
    return fraction_in(*amount);
}

std::optional<double> take_number(std::string_view& text) {
    // from_chars takes "inf", "nan" and a sign as well.
    const bool number_follows =
        !text.empty() && ((text[0] >= '0' && text[0] <= '9') || text[0] == '.');
    if (!number_follows) return std::nullopt;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

std::optional<AmountUnit> take_unit(std::string_view& text) {
    const Unit* longest = nullptr;
    for (const Unit& unit : model::units()) {
        if (!text.starts_with(unit.suffix)) continue;
        if (continues_a_word(text.substr(unit.suffix.size()))) continue;
        if (longest == nullptr || unit.suffix.size() > longest->suffix.size()) longest = &unit;
    }
    if (longest == nullptr) return std::nullopt;
    text.remove_prefix(longest->suffix.size());
    return *longest;
}

std::vector<std::string> unit_names() {
    std::vector<std::string> names;
    names.reserve(model::units().size());
    for (const Unit& unit : model::units()) names.emplace_back(unit.suffix);
    return names;
}

std::optional<Amount> read_amount(const YamlNode& node, std::string_view what, Problems& problems) {
    std::optional<Amount> amount;
    if (const std::optional<double> number = number_of(node)) {
        amount = Amount{*number, {}};
    } else if (const std::optional<std::string> text = text_of(node)) {
        amount = parse_amount(*text);
    }
    if (!amount || !std::isfinite(amount->value) || amount->value < 0) {
        add_wrong_type(node, what, expected_amount, problems);
        return std::nullopt;
    }
    return amount;
}

std::optional<double> in_unit(const Amount& amount, std::string_view unit) {
    if (amount.unit.empty()) return amount.value;
    const Unit* known = find_unit(amount.unit);
    if (known == nullptr || known->base != unit) return std::nullopt;
    const double value = amount.value * known->factor;
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<double> read_fraction(const YamlNode& node, std::string_view what,
                                    Problems& problems) {
    const std::optional<Amount> amount = read_amount(node, what, problems);
    if (!amount) return std::nullopt;
    if (const std::optional<double> fraction = fraction_in(*amount)) return fraction;
    add_wrong_type(node, what,
                   amount->unit == "%" ? fmt::format("at most {}%", most_percent)
                                       : example_percentage(*amount) + " or a fraction below 1",
                   problems);
    return std::nullopt;
}

std::string example_percentage(const Amount& amount) {
    return fmt::format("a percentage ({:g}%)", amount.unit.empty() ? amount.value : 3);
}

}  // namespace perfgate::suite

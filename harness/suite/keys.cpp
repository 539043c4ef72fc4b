// SPDX-License-Identifier: Apache-2.0
#include "suite/keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kinds/benchmark/benchmark.hpp"
#include "model/command_words.hpp"
#include "suite/amount.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

Sort<bool> boolean() {
    return {R"("type": "boolean")",
            [](const KeyValue& value) {
                const std::optional<bool> found = boolean_of(value.node);
                if (!found) add_wrong_type(value.node, value.key, "true or false", value.problems);
                return found;
            },
            [](bool value) { return std::string(value ? "true" : "false"); }};
}

Sort<std::int64_t> integer(std::int64_t least, std::int64_t most, std::string_view what) {
    return {fmt::format(R"("type": "integer", "minimum": {}, "maximum": {})", least, most),
            [=, expected = fmt::format("{} from {} to {}", what, least, most)](
                const KeyValue& value) -> std::optional<std::int64_t> {
                const std::optional<std::int64_t> found = integer_of(value.node);
                if (found && *found >= least && *found <= most) return found;
                add_wrong_type(value.node, value.key, expected, value.problems);
                return std::nullopt;
            },
            [](std::int64_t value) { return std::to_string(value); }};
}

Sort<double> number(std::string bounds, bool (*holds)(double), std::string expected) {
    return {R"("type": "number", )" + std::move(bounds),
            [=, expected = std::move(expected)](const KeyValue& value) -> std::optional<double> {
                const std::optional<double> found = number_of(value.node);
                if (found && holds(*found)) return found;
                add_wrong_type(value.node, value.key, expected, value.problems);
                return std::nullopt;
            },
            util::number_text};
}

Sort<double> fraction(std::string schema, bool (*holds)(double), std::string expected) {
    return {std::move(schema),
            [=, expected = std::move(expected)](const KeyValue& value) -> std::optional<double> {
                const auto found = read_fraction(value.node, value.key, value.problems);
                if (!found || holds(*found)) return found;
                add_wrong_type(value.node, value.key, expected, value.problems);
                return std::nullopt;
            },
            percent};
}

Sort<double> seconds(std::string_view example, double longest_s) {
    return {
        defined("time"),
        [=, expected = fmt::format("a time with its unit ({}), above 0 and up to {:g}s", example,
                                   longest_s)](const KeyValue& value) -> std::optional<double> {
            const std::optional<Amount> amount = read_amount(value.node, value.key, value.problems);
            if (!amount) return std::nullopt;
            const std::optional<double> time_ns =
                amount->unit.empty() ? std::nullopt : in_unit(*amount, "ns");
            if (time_ns && *time_ns > 0 && *time_ns <= longest_s * 1e9) return *time_ns / 1e9;
            add_wrong_type(value.node, value.key, expected, value.problems);
            return std::nullopt;
        },
        [](double value) { return util::number_text(value) + " s"; }};
}

Sort<std::string> text(std::string_view what, std::size_t longest) {
    return {fmt::format(R"("type": "string", "minLength": 1, "maxLength": {})", longest),
            [what = std::string(what), longest](const KeyValue& value) {
                return read_text(value.node, value.key, what, longest, value.problems);
            },
            std::identity()};
}

Sort<std::string> slug() {
    return {defined("slug"),
            [](const KeyValue& value) { return read_slug(value.node, value.key, value.problems); },
            std::identity()};
}

Sort<std::string> pattern(std::string_view what) {
    return {defined("pattern"),
            [expected = fmt::format("{} of 1 to {} bytes", what, model::longest_pattern)](
                const KeyValue& value) -> std::optional<std::string> {
                if (value.node.kind == YamlNode::Kind::scalar && !value.node.text.empty() &&
                    value.node.text.size() <= model::longest_pattern) {
                    return value.node.text;
                }
                add_wrong_type(value.node, value.key, expected, value.problems);
                return std::nullopt;
            },
            std::identity()};
}

Sort<std::string> word(std::vector<std::string> choices) {
    std::string schema = fmt::format(R"("enum": ["{}"])", fmt::join(choices, R"(", ")"));
    return {std::move(schema),
            [choices = std::move(choices)](const KeyValue& value) -> std::optional<std::string> {
                const auto found = read_choice(value.node, value.key, choices, value.problems);
                return found ? std::optional(choices[*found]) : std::nullopt;
            },
            std::identity()};
}

Sort<std::vector<std::string>> files(std::string_view what) {
    static constexpr std::size_t most_files = 32, longest_path = 4096;
    return {
        fmt::format(R"("type": "array", "minItems": 1, "maxItems": {}, "uniqueItems": true, )"
                    R"("items": {{"type": "string", "minLength": 1, "maxLength": {}}})",
                    most_files, longest_path),
        [what =
             std::string(what)](const KeyValue& value) -> std::optional<std::vector<std::string>> {
            const std::size_t before = value.problems.count();
            std::vector<std::string> named;
            for (const YamlNode* item : read_list(value.node, value.key, what, value.problems)) {
                auto file =
                    read_text(*item, value.key, "the name of a file", longest_path, value.problems);
                if (!file) continue;
                if (std::ranges::find(named, *file) != named.end()) {
                    value.problems.add(item->at, "{} is in {} twice; expected it once",
                                       in_quotes(*file), in_quotes(value.key));
                }
                named.push_back(*std::move(file));
            }
            if (named.size() > most_files) {
                value.problems.add(value.node.at, "{} has {}; expected at most {}",
                                   in_quotes(value.key), util::counted(named.size(), "file"),
                                   most_files);
            }
            if (value.problems.count() != before) return std::nullopt;
            return named;
        },
        [](const std::vector<std::string>& named) {
            return fmt::format("{}", fmt::join(named, ", "));
        }};
}

std::string defined(std::string_view name) {
    return fmt::format(R"("$ref": "#/definitions/{}")", name);
}

std::vector<KeyText> joined(const std::vector<std::vector<KeyText>>& tables) {
    std::vector<KeyText> all;
    for (const auto& table : tables) {
        for (const KeyText& row : table) {
            const bool has = std::ranges::any_of(
                all, [&](const KeyText& each) { return each.name == row.name; });
            if (!has) all.push_back(row);
        }
    }
    return all;
}

std::string percent(double fraction) {
    return util::number_text(fraction * 100) + " %";
}

// What the keys of a suite say about a case, whatever its kind.

namespace {

/// Nothing: its processes are perfgate's own.
std::optional<Program> program_of(const model::Subject& subject) {
    static const command::Piece whole;
    if (const auto* recorded = dynamic_cast<const command::Program*>(&subject)) {
        return Program{recorded->command(), recorded->piece(), nullptr};
    }
    if (const auto* measured = dynamic_cast<const benchmark::Benchmark*>(&subject)) {
        return Program{measured->command(), whole, &measured->layout()};
    }
    return std::nullopt;
}

}  // namespace

model::MeasuredAs measured_as(const model::Subject& subject) {
    if (const auto* kernel = subject.kernel()) return measured_as(*kernel);
    const auto program = program_of(subject);
    return program ? measured_as(*program) : model::MeasuredAs{};
}

std::vector<WeakerKey> weaker_keys(const model::Subject& before, const model::Subject& after) {
    if (before.kernel() != nullptr && after.kernel() != nullptr) {
        return weaker_keys(*before.kernel(), *after.kernel());
    }
    const auto was = program_of(before);
    const auto is = program_of(after);
    return was && is ? weaker_keys(*was, *is) : std::vector<WeakerKey>{};
}

}  // namespace perfgate::suite

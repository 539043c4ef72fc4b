// SPDX-License-Identifier: Apache-2.0
#include "suite_schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <regex>
#include <vector>

#include "model/roofline.hpp"
#include "suite/amount.hpp"
#include "suite/entry_reader.hpp"
#include "suite/keys.hpp"
#include "suite/source_entry.hpp"

namespace perfgate::suite {

namespace {

using Rows = std::vector<KeyText>;

/// The words of Markdown without its marks: "[text](place)" is "text".
std::string plain(const std::string& markdown) {
    static const std::regex marks(R"(\[([^\]]*)\]\([^)]*\)|`)");
    return std::regex_replace(markdown, marks, "$1");
}

std::string in_quotes(std::string_view text) {
    std::string json = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') json += '\\';
        json += c;
    }
    return json + '"';
}

std::string with_default(const KeyText& key) {
    if (key.usual.empty()) return key.help;
    return fmt::format("{} Default `{}`.", key.help, key.usual);
}

/// "name": {…}.
std::string member(const KeyText& key) {
    return fmt::format("{}: {{\"description\": {}, {}}}", in_quotes(key.name),
                       in_quotes(plain(with_default(key))), key.schema);
}

/// The members of the schema of a map; `more` are further ones.
std::string map_of(const Rows& rows, std::string_view more = {}) {
    std::vector<std::string> required, properties;
    for (const KeyText& row : rows) {
        if (row.required) required.push_back(in_quotes(row.name));
        properties.push_back(member(row));
    }
    std::string text = R"("type": "object", "additionalProperties": false)";
    if (!required.empty()) text += fmt::format(", \"required\": [{}]", fmt::join(required, ", "));
    if (!more.empty()) text += fmt::format(", {}", more);
    return fmt::format("{}, \"properties\": {{{}}}", text, fmt::join(properties, ", "));
}

std::string named(std::string_view name, std::string_view members) {
    return fmt::format("{}: {{{}}}", in_quotes(name), members);
}

constexpr std::string_view a_number = R"(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][-+]?[0-9]+)? ?)";

/// An amount with one of these units.
std::string amount_in(const std::vector<std::string>& units) {
    return fmt::format(R"("type": "string", "pattern": "^{}({})$")", a_number,
                       fmt::join(units, "|"));
}

std::vector<std::string> fractions() {
    return {named("percentage", amount_in({"%"})),
            named("fraction", R"("anyOf": [{"type": "number", "minimum": 0, "exclusiveMaximum": 1},
                {"$ref": "#/definitions/percentage"}])")};
}

std::vector<std::string> units_but_percent() {
    std::vector<std::string> units = unit_names();
    std::erase(units, "%");
    return units;
}

/// `{in: f32, …}` and `{i32: …}`.
std::string argument() {
    const std::vector<std::string> types = element_names();
    std::vector<std::string> shapes;
    for (const std::string_view role : {"in", "inout", "out"}) {
        shapes.push_back(fmt::format(
            R"({{"type": "object", "additionalProperties": false, "required": ["{0}", "size"],
               "properties": {{"{0}": {{"enum": ["{1}"]}}, "size": {{"$ref": "#/definitions/size"}}{2}}}}})",
            role, fmt::join(types, R"(", ")"),
            role == "out" ? "" : R"(, "fill": {"$ref": "#/definitions/fill"})"));
    }
    std::vector<std::string> values;
    for (const std::string& type : types) {
        const bool is_real = type.find('f') != std::string::npos;
        values.push_back(named(type, is_real ? R"("anyOf": [{"type": "number"},
            {"$ref": "#/definitions/size"}])"
                                             : defined("size")));
    }
    shapes.push_back(fmt::format(
        R"({{"type": "object", "additionalProperties": false, "minProperties": 1,
           "maxProperties": 1, "properties": {{{}}}}})",
        fmt::join(values, ", ")));
    return fmt::format("\"oneOf\": [{}]", fmt::join(shapes, ", "));
}

/// What several keys have, or what is no map of keys.
constexpr std::string_view common_definitions = R"(
"entry": {"if": {"type": "object", "required": ["command"]},
  "then": {"$ref": "#/definitions/command_entry"},
  "else": {"if": {"type": "object", "required": ["benchmark"]},
    "then": {"$ref": "#/definitions/benchmark_entry"},
    "else": {"if": {"type": "object", "required": ["source"]},
      "then": {"$ref": "#/definitions/source_entry"},
      "else": {"if": {"type": "object", "required": ["python"]},
        "then": {"$ref": "#/definitions/python_entry"},
        "else": {"$ref": "#/definitions/workload_entry"}}}}},
"matrix": {"type": "object", "minProperties": 1,
  "properties": {
    "include": {"description": "Adds parameters to the combinations in which it changes no axis value, or else a combination of its own.", "$ref": "#/definitions/rules"},
    "exclude": {"description": "Removes every combination that has all of an item's values.", "$ref": "#/definitions/rules"},
    "variant": false, "cache": false},
  "additionalProperties": {
    "description": "An axis: values of the parameter of this name, or maps that each set several parameters.",
    "type": "array", "minItems": 1, "uniqueItems": true,
    "anyOf": [{"items": {"$ref": "#/definitions/value_of_parameter"}},
      {"items": {"allOf": [{"$ref": "#/definitions/params"}, {"minProperties": 1}]}}]}},
"rules": {"type": "array", "minItems": 1, "maxItems": 1000,
  "items": {"type": "object", "minProperties": 1,
    "properties": {
      "variant": {"description": "The item holds for this variant alone.", "$ref": "#/definitions/name"},
      "cache": {"description": "The item holds for this cache temperature alone.", "enum": ["cold", "hot"]}},
    "additionalProperties": {"$ref": "#/definitions/value_of_parameter"}}},
"params": {"type": "object", "additionalProperties": {"$ref": "#/definitions/value_of_parameter"}},
"value_of_parameter": {"type": ["boolean", "number", "string"]},
"tags": {"type": "array", "minItems": 1, "maxItems": 32, "uniqueItems": true, "items": {"$ref": "#/definitions/slug"}},
"overrides": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {"$ref": "#/definitions/override"}},
"expect": {"type": "object", "minProperties": 1,
  "additionalProperties": {"anyOf": [{"$ref": "#/definitions/comparison"},
    {"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/comparison"}}]}},
"comparison": {
  "description": "<=, <, >=, >, == or != and a number with its unit, a metric, or one of them times or divided by another: \"<= 0.5 * gemm/naive[dtype=f32].gpu_time\"; after bound and hottest_kernel, == or != and a word or pattern.",
  "type": "string", "maxLength": 1000, "pattern": "^\\s*(<=?|>=?|==|!=)\\s*[^\\s=]"},
"tolerances": {"type": "object",
  "additionalProperties": {"anyOf": [{"$ref": "#/definitions/fraction"}, {"$ref": "#/definitions/quantity"}, {"const": "none"}, {"$ref": "#/definitions/tolerance"}]}},
"leeway": {"anyOf": [{"type": "number", "minimum": 0}, {"$ref": "#/definitions/percentage"}, {"$ref": "#/definitions/quantity"}]},
"health_limit": {"anyOf": [{"$ref": "#/definitions/leeway"}, {"const": "none"}]},
"label_name": {"type": "string", "pattern": "^[a-z0-9_-]{1,64}$", "not": {"const": "program"}},
"slug": {"type": "string", "pattern": "^[a-z0-9_-]{1,64}$"},
"name": {"type": "string", "minLength": 1},
"identifier": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
"pattern": {"type": ["boolean", "number", "string"], "minLength": 1, "maxLength": 256},
"place": {"type": "string", "minLength": 1, "maxLength": 256},
"rows_text": {"type": "string", "maxLength": 4096},
"word": {"type": ["boolean", "number", "string"], "maxLength": 4096},
"words": {"type": "array", "minItems": 1, "maxItems": 1000,
  "items": [{"type": ["boolean", "number", "string"], "minLength": 1, "maxLength": 4096}],
  "additionalItems": {"$ref": "#/definitions/word"}},
"launch_extent": {"type": "integer", "minimum": 1, "maximum": 2147483647},
"launch_extents": {"anyOf": [{"$ref": "#/definitions/launch_extent"},
  {"type": "array", "minItems": 1, "maxItems": 3, "items": {"$ref": "#/definitions/launch_extent"}}]},
"size": {
  "description": "An integer, or integer arithmetic over parameters of the matrix: (n + 255) / 256.",
  "anyOf": [{"type": "integer"},
    {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[-+*/%() \\t\\nA-Za-z0-9_]+$"}]},
"sizes": {"anyOf": [{"$ref": "#/definitions/size"},
  {"type": "array", "minItems": 1, "maxItems": 3, "items": {"$ref": "#/definitions/size"}}]},
"fill": {
  "description": "uniform: random in [-1, 1), or integers from 0 to 99, by the seed; zero; iota: 0, 1, 2, …; a number.",
  "anyOf": [{"enum": ["uniform", "zero", "iota"]}, {"type": "number"}]})";

std::vector<std::string> definitions() {
    const Rows settings = tables::settings();
    const auto either = [](std::string_view a, std::string_view b) {
        return fmt::format(R"("anyOf": [{{"required": ["{}"]}}, {{"required": ["{}"]}}])", a, b);
    };
    std::vector<std::string> all{
        named("workload_entry", map_of(joined({tables::plugin(), settings}))),
        named("command_entry", map_of(tables::command())),
        named("benchmark_entry", map_of(tables::benchmark(),
                                        R"("allOf": [{"required": ["tolerances"]}], "dependencies":
            {"max_overhead": ["measure"], "expect": ["measure"], "health": ["measure"]})")),
        named("source_entry", map_of(joined({tables::source(), settings}))),
        named("python_entry",
              map_of(joined({tables::python(), settings}),
                     R"("dependencies": {"variants": ["select"], "params": ["select"],
            "matrix": ["select"]})")),
        named("settings", map_of(settings)),
        named("override", map_of(tables::overriding(), either("match", "device"))),
        named("tolerance", map_of(tables::tolerance(), either("worse", "abs"))),
        named("capture", map_of(tables::capture(), R"("minProperties": 1)")),
        named("label", map_of(tables::label(), R"("oneOf": [{"required": ["nvtx"]},
            {"required": ["kernel"]}], "dependencies": {"within": ["kernel"], "count": ["kernel"],
            "grid": ["kernel"], "block": ["kernel"]})")),
        named("health", map_of(tables::health())),
        named("value", map_of(tables::value())),
        named("launch", map_of(tables::launch())),
        named("check", map_of(tables::check())),
        named("work", map_of(tables::work(), either("flops", "bytes") +
                                                 R"(, "dependencies": {"type": ["flops"]})")),
        named("argument", argument()),
        named("time", amount_in({"ns", "us", "ms", "s"})),
        named("quantity", amount_in(units_but_percent())),
        std::string(common_definitions)};
    const auto shared = fractions();
    all.insert(all.end(), shared.begin(), shared.end());
    return all;
}

/// The keys of the profile whose paths begin with `prefix`, as a map.
Rows profile_map(const std::string& prefix) {
    Rows rows;
    for (KeyText row : tables::profile()) {
        if (!row.name.starts_with(prefix)) continue;
        row.name.erase(0, prefix.size());
        const std::size_t dot = row.name.find('.');
        if (dot != std::string::npos) {
            const std::string name = row.name.substr(0, dot);
            if (!rows.empty() && rows.back().name == name) continue;
            row = {name, "The keys below it.", map_of(profile_map(prefix + name + '.'))};
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

std::string schema(std::string_view title, std::string_view description, const Rows& rows,
                   const std::vector<std::string>& definitions) {
    return fmt::format(
        R"({{"$schema": "http://json-schema.org/draft-07/schema#", "title": {}, "description": {},
           {}, "definitions": {{{}}}}})",
        in_quotes(title), in_quotes(description), map_of(rows), fmt::join(definitions, ", "));
}

}  // namespace

std::string suite_schema() {
    return schema("perfgate suite",
                  "Which kernel workloads are measured, with which parameters, and how far each "
                  "metric may move. See suites/README.md.",
                  tables::suite(), definitions());
}

std::string profile_schema() {
    return schema("perfgate config",
                  "Defaults for the command line (--config FILE); what the command line says "
                  "wins.",
                  profile_map(""), fractions());
}

std::string key_table(std::string_view map) {
    static const std::map<std::string_view, Rows (*)()> all{
        {"suite", tables::suite},         {"plugin", tables::plugin},
        {"settings", tables::settings},   {"tolerance", tables::tolerance},
        {"override", tables::overriding}, {"command", tables::command},
        {"label", tables::label},         {"benchmark", tables::benchmark},
        {"source", tables::source},       {"python", tables::python},
        {"work", tables::work},           {"profile", tables::profile}};
    std::string text = "| key | value |\n|---|---|\n";
    for (const KeyText& row : all.at(map)()) {
        text += fmt::format("| `{}` | {}{} |\n", row.name, row.required ? "Required. " : "",
                            with_default(row));
    }
    return text;
}

}  // namespace perfgate::suite

// SPDX-License-Identifier: Apache-2.0
#include "suite/label_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/benchmark/formats/json_text.hpp"
#include "kinds/benchmark/formats/table.hpp"
#include "metrics/catalogue.hpp"
#include "model/case.hpp"
#include "model/command_words.hpp"
#include "model/unit.hpp"
#include "suite/amount.hpp"
#include "suite/settings.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace {

using BenchmarkReading = benchmark::Layout;
using BenchmarkValue = benchmark::Value;
using model::Direction;
using model::MetricClass;

constexpr std::size_t longest_place = 256;  ///< of a column or path, bytes
constexpr std::size_t most_values = 100;

class BenchmarkReader {
  public:
    BenchmarkReader(const Fields& fields, Problems& problems)
        : fields_(fields), problems_(problems) {}

    Label read(command::Command& command, BenchmarkReading& reading, Position at) {
        label_.name = model::unknown_cases;
        label_.at = at;
        label_.settings.metrics = Settings::Metrics{{}, at};
        read_keys(fields_, keys(), *this, problems_);
        if (format_ != nullptr) check(at);
        reading = std::move(reading_);
        if (format_ != nullptr) command.out_extension = format_->extension;
        return std::move(label_);
    }

    static const std::vector<Key<BenchmarkReader, Program>>& keys() {
        using Row = Key<BenchmarkReader, Program>;
        /// What the suite states about a case that is a result.
        const auto stated = [](std::string BenchmarkReading::*place) {
            return [place](const Program& of) {
                return of.layout ? (*of.layout).*place : std::string();
            };
        };
        static const std::vector<Row> keys{
            Row("format", "How its results are read: [formats](#formats).",
                word(benchmark::format_names()).schema, &BenchmarkReader::format)
                .needed()
                .measured_as(stated(&BenchmarkReading::format)),
            Row("rows",
                "`json`, `jsonl`: path to the results, such as `/results/*`; without it, the "
                "document or each line is one. `text`: the regular expression of a result, with "
                "named groups such as `(?<ms>[0-9.]+)`.",
                defined("rows_text"), &BenchmarkReader::rows)
                .measured_as(stated(&BenchmarkReading::rows)),
            Row("case",
                "Where a result's name is: a column, a path below a row, or a group; by default "
                "the group `case`. Without it, and for rows that are no members of an object, the "
                "name is `result`.",
                defined("place"), &BenchmarkReader::name)
                .measured_as(stated(&BenchmarkReading::name)),
            Row("axes",
                "Parameters, and the column, path or group of each; of `text` also all groups that "
                "no key names. For formats that are tables.",
                fmt::format(R"("type": "object", "maxProperties": {},
                    "propertyNames": {{"$ref": "#/definitions/identifier"}},
                    "additionalProperties": {{"$ref": "#/definitions/place"}})",
                            benchmark::most_axes),
                &BenchmarkReader::axes)
                .measured_as([](const Program& of, model::MeasuredAs& to) {
                    if (!of.layout) return;
                    for (const auto& [axis, place] : of.layout->axes) {
                        to["axes." + axis] = place;
                    }
                }),
            Row("samples",
                "Columns or paths that differ between the rows of one result and are no part of "
                "its name, such as the number of the repetition. For formats that are tables.",
                R"("anyOf": [{"$ref": "#/definitions/place"}, {"type": "array", "minItems": 1,
                    "maxItems": 100, "items": {"$ref": "#/definitions/place"}}])",
                &BenchmarkReader::samples),
            Row("values",
                "Metrics besides those of the format: `{from, unit, better, where}`. Lower is "
                "better for times, higher for rates; for counts `better` is `lower`, `higher` or "
                "`none`.",
                fmt::format(R"("type": "object", "minProperties": 1, "maxProperties": {},
                    "propertyNames": {{"$ref": "#/definitions/identifier"}},
                    "additionalProperties": {{"$ref": "#/definitions/value"}})",
                            most_values),
                &BenchmarkReader::values)
                .measured_as(add_values),
            Row("tolerances",
                "A map from metric to [tolerance](../suites/README.md#tolerances), for all "
                "results, and from `label.metric` for the labels of `measure`; the suite's "
                "`overrides` set others for cases whose id matches a glob.",
                R"("allOf": [{"$ref": "#/definitions/tolerances"}, {"minProperties": 1}])",
                &BenchmarkReader::tolerances),
            {"cross_board_tolerance", "As for workloads.", fraction(),
             in(&BenchmarkReader::label_, &Label::settings, &Settings::cross_board)},
        };
        return keys;
    }

    /// A value as it is written.
    struct ValueText {
        BenchmarkReader& reader;
        std::string from = {};
        std::string unit_from = {};
        std::vector<std::pair<std::string, std::string>> where = {};
        const YamlNode* unit = nullptr;
        const YamlNode* better_at = nullptr;
        std::optional<Direction> better = std::nullopt;
    };

    static const std::vector<Key<ValueText>>& value_keys() {
        static const Sort<Direction> direction = choice<Direction>({{"lower", Direction::lower},
                                                                    {"higher", Direction::higher},
                                                                    {"none", Direction::none}});
        static const std::vector<Key<ValueText>> keys{
            {"from", "Counter, column or path below a row. Without it, the metric's name.",
             defined("place"),
             [](const KeyValue& value, ValueText& to) {
                 to.from = to.reader.place(value.node, value.key);
             }},
            {"unit",
             "The file's: `s`, `ms`, `GB/s`, `tok/s` or any other rate; without it, a count. "
             "`{from: COLUMN, as: UNIT}`: each row has its own, of the same quantity as `UNIT`; a "
             "row of another quantity is an error.",
             R"("anyOf": [{"type": "string"}, {"type": "object", "required": ["from"],
                 "additionalProperties": false, "properties": {
                     "from": {"$ref": "#/definitions/place"}, "as": {"type": "string"}}}])",
             [](const KeyValue& value, ValueText& to) { to.reader.unit(value.node, to); }},
            {"where",
             "A map from columns, paths or groups to texts: only rows with these have the value.",
             R"("type": "object", "minProperties": 1, "maxProperties": 20,
                 "propertyNames": {"$ref": "#/definitions/place"},
                 "additionalProperties": {"type": ["string", "number", "boolean"]})",
             [](const KeyValue& value, ValueText& to) { to.reader.where(value.node, to); }},
            {"better", "Which way is better, of a metric that perfgate does not know.",
             direction.schema,
             [](const KeyValue& value, ValueText& to) {
                 to.better_at = &value.node;
                 to.better = direction.read(value);
             }},
        };
        return keys;
    }

  private:
    /// A metric that the suite defines has its direction, too; the catalogue's never changes.
    static void add_values(const Program& of, model::MeasuredAs& to) {
        if (!of.layout) return;
        for (const BenchmarkValue& value : of.layout->values) {
            const model::MetricDefinition& metric = value.definition;
            std::string& text = to[std::string(model::value_key) + metric.name];
            text = fmt::format("{}, times {}, {}", value.from, util::number_text(value.factor),
                               metric.unit);
            if (!value.unit_from.empty()) text += ", unit in " + value.unit_from;
            for (const auto& [place, wanted] : value.where) {
                text += fmt::format(", where {} is {}", place, wanted);
            }
            if (metrics::find_metric(metric.name)) continue;
            to[model::direction_key(metric.name)] = to_text(metric.direction);
        }
    }

    /// Whether places in the file are stated: its format has no names of its own.
    [[nodiscard]] bool is_generic() const { return format_->is_generic(); }

    /// Whether the format has the place that the key states; a problem if not.
    bool has_place(const KeyValue& value) {
        if (format_ == nullptr) return false;
        const bool of_rows = value.key == "rows";
        const bool of_table = value.key == "axes" || value.key == "samples";
        if (of_rows ? format_->has_rows() : of_table ? format_->is_table : is_generic()) {
            return true;
        }
        problems_.add(value.node.at, "'{}' with the format {}, which needs none; expected it of {}",
                      value.key, format_->name,
                      of_rows    ? "json, jsonl and text"
                      : of_table ? "formats that are tables"
                                 : "csv, json, jsonl and text");
        return false;
    }

    [[nodiscard]] std::string_view place_words() const {
        switch (format_->places) {
            case benchmark::PlaceKind::column:
                return "a column";
            case benchmark::PlaceKind::path:
                return "a path such as /results/*";
            case benchmark::PlaceKind::group:
                return "a group of the pattern";
            case benchmark::PlaceKind::counter:
                break;
        }
        return "the name of a counter";
    }

    /// A column, a path into JSON, a group, or the name of a counter.
    std::string place(const YamlNode& node, std::string_view what) {
        const auto text = read_text(node, what, place_words(), longest_place, problems_);
        if (!text) return {};
        if (format_->places == benchmark::PlaceKind::path) {
            try {
                const benchmark::JsonPath path(*text);
            } catch (const util::InputError& error) {
                problems_.add(node.at, error.what());
            }
        }
        return *text;
    }

    void format(const KeyValue& value) {
        const auto name = word(benchmark::format_names()).read(value);
        if (!name) return;
        format_ = benchmark::find_format(*name);
        reading_.format = *name;
        for (const std::string_view metric : format_->metrics) {
            label_.settings.metrics->names.emplace_back(metric);
        }
    }

    [[nodiscard]] bool has_metrics() const {
        return format_ != nullptr && (!is_generic() || fields_.find("values") != nullptr);
    }

    /// What the format needs.
    void check(Position at) {
        const bool by_pattern = format_->places == benchmark::PlaceKind::group;
        const YamlNode* rows = by_pattern ? fields_.require("rows", problems_) : nullptr;
        if (!has_metrics()) {
            problems_.add(at,
                          "format {} without 'values'; expected a map such as {{real_time: {{from: "
                          "{}, unit: s}}}}",
                          format_->name,
                          format_->places == benchmark::PlaceKind::path ? "/seconds" : "seconds");
        } else if (rows != nullptr && problems_.count() == 0 && !is_pattern(*rows)) {
            return;
        } else if (!has_gate_) {
            const auto& names = label_.settings.metrics->names;
            problems_.add(
                at, "nothing of the benchmark is gated; expected 'tolerances' such as {{{}: 5%}}",
                names.empty() ? "real_time" : names.front());
        }
    }

    /// With the groups that the other keys name; a problem if not.
    bool is_pattern(const YamlNode& rows) {
        try {
            benchmark::check_pattern(reading_);
        } catch (const util::InputError& error) {
            problems_.add(rows.at, error.what());
            return false;
        }
        return true;
    }

    void rows(const KeyValue& value) {
        if (!has_place(value)) return;
        constexpr std::size_t longest_pattern = 4096;
        if (format_->places == benchmark::PlaceKind::group) {
            reading_.rows =
                read_text(value.node, value.key, "a regular expression", longest_pattern, problems_)
                    .value_or("");
        } else if (text_of(value.node) != "") {  // the whole document, as without it
            reading_.rows = place(value.node, value.key);
        }
    }

    void samples(const KeyValue& value) {
        if (!has_place(value)) return;
        std::vector<const YamlNode*> items{&value.node};
        if (value.node.kind == YamlNode::Kind::list) {
            items = read_list(value.node, value.key, "columns or paths", problems_);
        }
        for (const YamlNode* item : items) {
            reading_.samples.push_back(place(*item, value.key));
        }
    }

    void name(const KeyValue& value) {
        if (has_place(value)) reading_.name = place(value.node, value.key);
    }

    void axes(const KeyValue& value) {
        if (!has_place(value)) return;
        const YamlNode& node = value.node;
        if (node.kind != YamlNode::Kind::map || node.entries.size() > benchmark::most_axes) {
            add_wrong_type(
                node, "axes",
                fmt::format("a map of up to {} parameters to where they are", benchmark::most_axes),
                problems_);
            return;
        }
        for (const YamlNode::Entry& entry : node.entries) {
            const std::string& axis = entry.key->text;
            if (!model::is_identifier(axis)) {
                problems_.add(entry.key->at,
                              "{} is not the name of a parameter; expected letters, digits and '_'",
                              in_quotes(axis));
                continue;
            }
            reading_.axes.emplace_back(axis, place(*entry.value, axis));
        }
    }

    void values(const YamlNode& node) {
        if (format_ == nullptr) return;
        if (node.kind != YamlNode::Kind::map || node.entries.empty() ||
            node.entries.size() > most_values) {
            add_wrong_type(node, "values",
                           fmt::format("a map of 1 to {} metrics to where they are", most_values),
                           problems_);
            return;
        }
        for (const YamlNode::Entry& entry : node.entries) {
            const std::size_t before = problems_.count();
            BenchmarkValue read = value(entry);
            const std::string& name = read.definition.name;
            label_.settings.metrics->names.push_back(name);
            if (problems_.count() != before) continue;
            if (!metrics::find_metric(name)) {
                metrics::Metric own;
                own.definition = read.definition;
                own.source = metrics::Source::benchmark;
                label_.settings.own.emplace(name, std::move(own));
            }
            reading_.values.push_back(std::move(read));
        }
    }

    BenchmarkValue value(const YamlNode::Entry& entry) {
        BenchmarkValue read;
        const std::string& name = entry.key->text;
        read.definition.name = name;
        const auto known = metrics::find_metric(name);
        if (!model::is_identifier(name) || (known && known->source != metrics::Source::benchmark)) {
            problems_.add(
                entry.key->at,
                known ? fmt::format("{} is a metric that perfgate measures; expected another name",
                                    in_quotes(name))
                      : fmt::format(
                            "{} is not the name of a metric; expected letters, digits and '_'",
                            in_quotes(name)));
            return read;
        }
        const auto& builtin = format_->metrics;
        if (std::ranges::find(builtin, name) != builtin.end()) {
            problems_.add(entry.key->at, "{} is read from the format {} already; expected others",
                          in_quotes(name), format_->name);
            return read;
        }
        const Fields fields(*entry.value, "a value", key_names(value_keys()), problems_);
        ValueText text{*this};
        read_keys(fields, value_keys(), text, problems_);
        if (format_->places == benchmark::PlaceKind::path) fields.require("from", problems_);
        read.from = fields.find("from") == nullptr ? name : text.from;
        read.unit_from = text.unit_from;
        read.where = text.where;
        if (known) {
            read.definition = known->definition;
            known_unit(entry, text, read);
        } else {
            own_unit(entry, text, read);
        }
        return read;
    }

    /// The unit of a metric that the catalogue has: it must be stated, and fit.
    void known_unit(const YamlNode::Entry& entry, const ValueText& text, BenchmarkValue& read) {
        if (text.better_at != nullptr) {
            problems_.add(text.better_at->at, "{} is better {} already; leave it out",
                          in_quotes(read.definition.name), to_text(read.definition.direction));
        }
        const std::string units = units_for(read.definition.unit);
        if (text.unit == nullptr && (units.empty() || !text.unit_from.empty())) return;
        if (text.unit == nullptr) {
            problems_.add(entry.value->at, "{} without 'unit'; expected the file's: {}",
                          in_quotes(read.definition.name), units);
            return;
        }
        const auto unit = unit_of(*text.unit);
        if (unit && unit->base == read.definition.unit) {
            read.factor = unit->factor;
        } else {
            add_wrong_type(*text.unit, "unit", units.empty() ? "none" : units, problems_);
        }
    }

    /// A metric of the suite's own: times and rates are judged as such, others as counts.
    void own_unit(const YamlNode::Entry& entry, const ValueText& text, BenchmarkValue& read) {
        model::MetricDefinition& definition = read.definition;
        definition.description = "reported by the benchmark";
        definition.unit = "count";
        definition.metric_class = MetricClass::exact;
        std::optional<Direction> direction = text.better;
        if (text.unit == nullptr && !text.unit_from.empty()) {
            problems_.add(entry.value->at,
                          "the unit of {} without 'as'; expected {{from: {}, as: UNIT}}",
                          in_quotes(definition.name), text.unit_from);
            return;
        }
        if (text.unit != nullptr) {
            const auto unit = unit_of(*text.unit);
            if (!unit) {
                problems_.add_unknown(text.unit->at, "unit", text.unit->text, unit_names());
                return;
            }
            definition.unit = unit->base;
            read.factor = unit->factor;
            const bool is_time = definition.unit == "ns";
            if (is_time || definition.unit == "Hz" || definition.unit.ends_with("/s")) {
                definition.metric_class = MetricClass::timing;
                if (!direction) direction = is_time ? Direction::lower : Direction::higher;
            }
        }
        if (!direction) {
            problems_.add(entry.value->at, "{} without 'better'; expected lower, higher or none",
                          in_quotes(definition.name));
            return;
        }
        definition.direction = *direction;
    }

    static std::optional<model::ReportedUnit> unit_of(const YamlNode& node) {
        if (node.kind != YamlNode::Kind::scalar) return std::nullopt;
        return model::reported_unit(node.text);
    }

    struct RowUnit {
        BenchmarkReader& reader;
        std::string from = {};
        const YamlNode* as = nullptr;
    };
    static const std::vector<Key<RowUnit>>& row_unit_keys() {
        static const std::vector<Key<RowUnit>> keys{
            {"from", "Where each row has its unit.", defined("place"),
             [](const KeyValue& value, RowUnit& to) {
                 to.from = to.reader.place(value.node, value.key);
             }},
            {"as", "A unit of the same quantity.", R"("type": "string")",
             [](const KeyValue& value, RowUnit& to) { to.as = &value.node; }},
        };
        return keys;
    }

    /// Rows of the formats that are no tables have no places.
    bool may_have_rows(const YamlNode& node, std::string_view what) {
        if (format_->is_table) return true;
        problems_.add(node.at,
                      "{} with the format {}, whose results are no rows; expected it of formats "
                      "that are tables",
                      what, format_->name);
        return false;
    }

    void unit(const YamlNode& node, ValueText& to) {
        if (node.kind != YamlNode::Kind::map) {
            to.unit = &node;
            return;
        }
        if (!may_have_rows(node, "a unit in each row")) return;
        const Fields fields(node, "'unit'", key_names(row_unit_keys()), problems_);
        RowUnit read{*this};
        read_keys(fields, row_unit_keys(), read, problems_);
        if (fields.require("from", problems_) == nullptr) return;
        to.unit_from = read.from;
        to.unit = read.as;
    }

    void where(const YamlNode& node, ValueText& to) {
        if (!may_have_rows(node, "'where'")) return;
        constexpr std::size_t most = 20;
        if (node.kind != YamlNode::Kind::map || node.entries.empty() ||
            node.entries.size() > most) {
            add_wrong_type(node, "where", "a map from columns or paths to texts", problems_);
            return;
        }
        for (const YamlNode::Entry& entry : node.entries) {
            const std::string at = place(*entry.key, "where");
            if (entry.value->kind != YamlNode::Kind::scalar) {
                add_wrong_type(*entry.value, "where", "a text", problems_);
                continue;
            }
            to.where.emplace_back(at, entry.value->text);
        }
    }

    void tolerances(const YamlNode& node) {
        if (!has_metrics()) return;
        if (node.kind != YamlNode::Kind::map || node.entries.empty()) {
            add_wrong_type(node, "tolerances", "a map from metric to tolerance", problems_);
            has_gate_ = true;
        }
        for (const YamlNode::Entry& entry : node.entries) {
            if (!is_own(entry)) continue;
            has_gate_ = true;
            tolerance(entry);
        }
    }

    /// Whether the tolerance is for what the benchmark reports, and not for a label of `measure`.
    [[nodiscard]] bool is_own(const YamlNode::Entry& entry) const {
        return fields_.find("measure") == nullptr || !is_of_label(entry.key->text);
    }

    void tolerance(const YamlNode::Entry& entry) {
        const std::string& name = entry.key->text;
        const std::vector<std::string>& names = label_.settings.metrics->names;
        if (std::ranges::find(names, name) == names.end()) {
            problems_.add_unknown(
                entry.key->at, fmt::format("metric of the format {}:", format_->name), name, names);
            return;
        }
        const auto own = label_.settings.own.find(name);
        const std::optional<metrics::Metric> metric =
            own != label_.settings.own.end() ? own->second : metrics::find_metric(name);
        if (!metric) return;  // its problem has been reported
        if (const auto read = read_tolerance_entry(entry, *metric, problems_)) {
            label_.settings.tolerances.emplace(name, *read);
        }
    }

    const Fields& fields_;
    Problems& problems_;
    const benchmark::Format* format_ = nullptr;
    BenchmarkReading reading_;
    Label label_;
    bool has_gate_ = false;  ///< or what should be one is wrong
};

}  // namespace

const std::vector<Compared<Program>>& benchmark_keys() {
    static const std::vector<Compared<Program>> keys(BenchmarkReader::keys().begin(),
                                                     BenchmarkReader::keys().end());
    return keys;
}

std::vector<KeyText> tables::value() {
    return texts_of(BenchmarkReader::value_keys());
}

Label read_benchmark(const Fields& fields, command::Command& command, benchmark::Layout& reading,
                     Position at, Problems& problems) {
    return BenchmarkReader(fields, problems).read(command, reading, at);
}

}  // namespace perfgate::suite

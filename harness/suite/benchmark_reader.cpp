// SPDX-License-Identifier: Apache-2.0
#include "suite/label_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/benchmark/formats/json_path.hpp"
#include "metrics/catalogue.hpp"
#include "model/command_words.hpp"
#include "model/unknown_cases.hpp"
#include "suite/amount.hpp"
#include "suite/settings.hpp"
#include "util/error.hpp"

namespace perfgate::suite {

namespace {

using BenchmarkReading = benchmark::Layout;
using BenchmarkValue = benchmark::Value;
using model::Direction;
using model::MetricClass;

constexpr std::size_t longest_place = 256;  ///< of a column or path, bytes
constexpr std::size_t most_values = 100;

constexpr std::array<std::string_view, 3> value_keys{"from", "unit", "better"};

class BenchmarkReader {
  public:
    BenchmarkReader(const Fields& fields, Problems& problems)
        : fields_(fields), problems_(problems) {}

    Label read(command::Command& command, BenchmarkReading& reading, Position at) {
        label_.name = model::unknown_cases;
        label_.at = at;
        label_.settings.metrics = Settings::Metrics{{}, at};
        if (const YamlNode* node = fields_.require("format", problems_)) format(*node);
        if (format_ != nullptr) {
            places();
            if (const YamlNode* node = fields_.find("values")) values(*node);
            if (format_->metrics.empty() && fields_.find("values") == nullptr) {
                problems_.add(
                    at, fmt::format("format {} without 'values'; expected a map such as "
                                    "{{real_time: {{from: {}, unit: s}}}}",
                                    format_->name, format_->has_rows ? "/seconds" : "seconds"));
            } else {
                gates(at);
            }
        }
        reading = std::move(reading_);
        if (format_ != nullptr) command.out_extension = format_->extension;
        return std::move(label_);
    }

  private:
    void format(const YamlNode& node) {
        const std::vector<std::string> names = benchmark::format_names();
        const std::optional<std::size_t> index = read_choice(node, "format", names, problems_);
        if (!index) return;
        format_ = &benchmark::formats()[*index];
        reading_.format = format_->name;
        for (const std::string_view name : format_->metrics) {
            label_.settings.metrics->names.emplace_back(name);
        }
    }

    /// Whether places in the file are stated: its format has no names of its own.
    [[nodiscard]] bool is_generic() const { return format_->metrics.empty(); }

    /// A column, a path into JSON, or the name of a counter.
    std::string place(const YamlNode& node, std::string_view what) {
        const auto text = read_text(node, what,
                                    format_->has_rows ? "a path such as /results/*"
                                    : is_generic()    ? "a column"
                                                      : "the name of a counter",
                                    longest_place, problems_);
        if (!text) return {};
        if (format_->has_rows) {
            try {
                const benchmark::JsonPath path(*text);
            } catch (const util::InputError& error) {
                problems_.add(node.at, error.what());
            }
        }
        return *text;
    }

    void places() {
        for (const std::string_view key : {"rows", "case", "axes"}) {
            const YamlNode* node = fields_.find(key);
            const bool known = key == "rows" ? format_->has_rows : is_generic();
            if (node != nullptr && !known) {
                problems_.add(node->at, fmt::format("'{}' with the format {}, which needs none; "
                                                    "expected it of {}",
                                                    key, format_->name,
                                                    key == "rows" ? "json" : "csv and json"));
                return;
            }
        }
        if (!is_generic()) return;
        if (format_->has_rows) {
            if (const YamlNode* node = fields_.require("rows", problems_)) {
                reading_.rows = place(*node, "rows");
            }
        }
        const YamlNode* name =
            format_->has_rows ? fields_.find("case") : fields_.require("case", problems_);
        if (name != nullptr) reading_.name = place(*name, "case");
        if (const YamlNode* node = fields_.find("axes")) axes(*node);
    }

    void axes(const YamlNode& node) {
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
                              fmt::format("{} is not the name of a parameter; expected letters, "
                                          "digits and '_'",
                                          in_quotes(axis)));
                continue;
            }
            reading_.axes.emplace_back(axis, place(*entry.value, axis));
        }
    }

    void values(const YamlNode& node) {
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
                      : fmt::format("{} is not the name of a metric; expected letters, digits and "
                                    "'_'",
                                    in_quotes(name)));
            return read;
        }
        const auto& builtin = format_->metrics;
        if (std::find(builtin.begin(), builtin.end(), name) != builtin.end()) {
            problems_.add(entry.key->at,
                          fmt::format("{} is read from the format {} already; expected others",
                                      in_quotes(name), format_->name));
            return read;
        }
        const Fields fields(*entry.value, "a value", value_keys, problems_);
        read.from = name;
        if (const YamlNode* from = fields.find("from")) {
            read.from = place(*from, "from");
        } else if (format_->has_rows) {
            fields.require("from", problems_);
        }
        if (known) {
            read.definition = known->definition;
            known_unit(entry, fields, read);
        } else {
            own_unit(entry, fields, read);
        }
        return read;
    }

    /// The unit of a metric that the catalogue has: it must be stated, and fit.
    void known_unit(const YamlNode::Entry& entry, const Fields& fields, BenchmarkValue& read) {
        if (const YamlNode* better = fields.find("better")) {
            problems_.add(better->at, fmt::format("{} is better {} already; leave it out",
                                                  in_quotes(read.definition.name),
                                                  to_text(read.definition.direction)));
        }
        const std::string units = units_for(read.definition.unit);
        const YamlNode* node = fields.find("unit");
        if (units.empty() && node == nullptr) return;
        if (node == nullptr) {
            problems_.add(entry.value->at, fmt::format("{} without 'unit'; expected the file's: {}",
                                                       in_quotes(read.definition.name), units));
            return;
        }
        const auto unit = unit_of(*node);
        if (unit && unit->base == read.definition.unit) {
            read.factor = unit->factor;
        } else {
            add_wrong_type(*node, "unit", units.empty() ? "none" : units, problems_);
        }
    }

    /// A metric of the suite's own: times and rates are judged as such, others as counts.
    void own_unit(const YamlNode::Entry& entry, const Fields& fields, BenchmarkValue& read) {
        model::MetricDefinition& definition = read.definition;
        definition.description = "reported by the benchmark";
        definition.unit = "count";
        definition.metric_class = MetricClass::exact;
        std::optional<Direction> direction;
        if (const YamlNode* node = fields.find("unit")) {
            const auto unit = unit_of(*node);
            if (!unit) {
                problems_.add_unknown(node->at, "unit", node->text, unit_names());
                return;
            }
            definition.unit = unit->base;
            read.factor = unit->factor;
            if (definition.unit == "ns") {
                definition.metric_class = MetricClass::timing;
                direction = Direction::lower;
            } else if (definition.unit == "Hz" || definition.unit.ends_with("/s")) {
                definition.metric_class = MetricClass::timing;
                direction = Direction::higher;
            }
        }
        if (const YamlNode* node = fields.find("better")) {
            static const std::vector<std::string> choices{"lower", "higher", "none"};
            static constexpr std::array directions{Direction::lower, Direction::higher,
                                                   Direction::none};
            const auto index = read_choice(*node, "better", choices, problems_);
            if (index) direction = directions.at(*index);
        }
        if (!direction) {
            problems_.add(entry.value->at,
                          fmt::format("{} without 'better'; expected lower, higher or none",
                                      in_quotes(definition.name)));
            return;
        }
        definition.direction = *direction;
    }

    static std::optional<AmountUnit> unit_of(const YamlNode& node) {
        if (node.kind != YamlNode::Kind::scalar) return std::nullopt;
        std::string_view text = node.text;
        const auto unit = take_unit(text);
        return text.empty() ? unit : std::nullopt;
    }

    void gates(Position at) {
        if (const YamlNode* node = fields_.find("cross_board_tolerance")) {
            label_.settings.cross_board = read_fraction(*node, "cross_board_tolerance", problems_);
        }
        const YamlNode* node = fields_.find("tolerances");
        if (node != nullptr && (node->kind != YamlNode::Kind::map || node->entries.empty())) {
            add_wrong_type(*node, "tolerances", "a map from metric to tolerance", problems_);
            return;
        }
        bool any = false;
        if (node != nullptr) {
            for (const YamlNode::Entry& entry : node->entries) {
                if (!is_own(entry)) continue;
                any = true;
                tolerance(entry);
            }
        }
        if (!any) {
            const auto& names = label_.settings.metrics->names;
            problems_.add(at,
                          fmt::format("nothing of the benchmark is gated; expected 'tolerances' "
                                      "such as {{{}: 5%}}",
                                      names.empty() ? "real_time" : names.front()));
        }
    }

    /// Whether the tolerance is for what the benchmark reports, and not for a label of `measure`.
    [[nodiscard]] bool is_own(const YamlNode::Entry& entry) const {
        return fields_.find("measure") == nullptr || !is_of_label(entry.key->text);
    }

    void tolerance(const YamlNode::Entry& entry) {
        const std::string& name = entry.key->text;
        const std::vector<std::string>& names = label_.settings.metrics->names;
        if (std::find(names.begin(), names.end(), name) == names.end()) {
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
};

}  // namespace

Label read_benchmark(const Fields& fields, command::Command& command, benchmark::Layout& reading,
                     Position at, Problems& problems) {
    return BenchmarkReader(fields, problems).read(command, reading, at);
}

}  // namespace perfgate::suite

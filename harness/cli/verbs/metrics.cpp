// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/verbs/verb.hpp"
#include "document/json_writer.hpp"
#include "measure/backend.hpp"
#include "metrics/catalogue.hpp"
#include "model/error.hpp"
#include "model/file.hpp"
#include "model/text.hpp"
#include "runner/installation.hpp"

namespace perfgate::cli {
namespace {

/// One line of the listing.
struct Row {
    metrics::Metric metric;
    std::vector<std::string> counters;
    std::size_t passes = 0;
    std::string unavailable;  ///< why the chip cannot give it
};

std::unique_ptr<measure::CounterCatalogue> load_counter_catalogue() {
    const std::filesystem::path module = runner::cuda_backend_module();
    if (!std::filesystem::exists(module)) return nullptr;
    void* handle = dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        throw model::Error(
            fmt::format("the CUDA backend cannot be loaded: {}", model::printable(dlerror())));
    }
    const auto create = reinterpret_cast<measure::CreateCounterCatalogue*>(
        dlsym(handle, measure::create_counter_catalogue_symbol));
    if (!create) throw model::Error(module.string() + " is no backend of this perfgate");
    return std::unique_ptr<measure::CounterCatalogue>(create());
}

Row row_of(const metrics::Metric& metric, measure::CounterCatalogue* chips,
           const std::string& chip) {
    Row row{metric, {}, 0, ""};
    if (metric.source != metrics::Source::counter) return row;
    if (!chips) {
        row.unavailable = "not known: built without CUPTI";
        return row;
    }
    const metrics::Selection selection = metrics::select_counters(
        {&metric, 1}, [&](const std::string& name) { return chips->exists(chip, name); }, chip);
    if (!selection.not_applicable.empty()) {
        row.unavailable = "the hardware has no such thing";
        return row;
    }
    if (!selection.unavailable.empty()) {
        row.unavailable = selection.unavailable.front().reason;
        return row;
    }
    row.counters.assign(selection.counters.begin(), selection.counters.end());
    row.passes = chips->passes(chip, row.counters);
    return row;
}

std::string as_text(const std::vector<Row>& rows, const std::string& chip,
                    measure::CounterCatalogue* chips) {
    std::size_t width = 0;
    for (const Row& row : rows) width = std::max(width, row.metric.definition.name.size());
    std::string text = fmt::format("{:<{}}  {:<10} {:<7} {:<8} {:<14} {:>6}  {}\n", "metric", width,
                                   "unit", "better", "class", "fold", "passes", "description");
    for (const Row& row : rows) {
        const model::MetricDefinition& definition = row.metric.definition;
        std::string passes = "-";
        if (!row.unavailable.empty()) {
            passes = "n/a";
        } else if (row.metric.source == metrics::Source::counter) {
            passes = fmt::format("{}{}", row.passes, row.passes > 1 ? "*" : "");
        }
        text += fmt::format("{:<{}}  {:<10} {:<7} {:<8} {:<14} {:>6}  {}\n", definition.name, width,
                            definition.unit, to_text(definition.direction),
                            to_text(definition.metric_class), to_text(definition.fold), passes,
                            definition.description);
    }
    if (chips) {
        text += fmt::format(
            "\nPasses are those of the metric alone on {}; * mixes values of several passes.\n"
            "Any raw CUPTI name of the chip is a metric too.\n",
            chip);
    }
    text += "\nSets:\n";
    for (const metrics::MetricSet& set : metrics::metric_sets()) {
        text += fmt::format("  {:<6} {}", set.name, set.description);
        if (chips) {
            std::vector<metrics::Metric> members;
            for (const std::string& name : set.metrics) {
                members.push_back(*metrics::find_metric(name));
            }
            const metrics::Selection selection = metrics::select_counters(
                members, [&](const std::string& name) { return chips->exists(chip, name); });
            const std::vector<std::string> counters(selection.counters.begin(),
                                                    selection.counters.end());
            text += fmt::format(" ({} metrics, {} passes on {})", set.metrics.size(),
                                counters.empty() ? 0 : chips->passes(chip, counters), chip);
        }
        text += "\n";
    }
    return text;
}

/// Which counter of a term the chip has; terms of absent optional counters are left out.
void write_terms(document::JsonWriter& json, const char* name,
                 const std::vector<metrics::Term>& terms,
                 const std::vector<std::string>& counters) {
    json.key(name);
    json.begin_array(document::JsonLayout::compact);
    for (const metrics::Term& term : terms) {
        const auto found = std::find_if(term.names.begin(), term.names.end(), [&](const auto& one) {
            return std::find(counters.begin(), counters.end(), one) != counters.end();
        });
        if (found == term.names.end()) continue;
        json.begin_object(document::JsonLayout::compact);
        document::write_field(json, "weight", term.weight);
        document::write_field(json, "counter", *found);
        json.end_object();
    }
    json.end_array();
}

std::string as_json(const std::vector<Row>& rows, const std::string& chip) {
    document::JsonWriter json;
    json.begin_object(document::JsonLayout::lines);
    document::write_field(json, "schema", "perfgate.metrics");
    document::write_field(json, "version", std::int64_t{1});
    document::write_field(json, "chip", chip);
    json.key("metrics");
    json.begin_array(document::JsonLayout::lines);
    for (const Row& row : rows) {
        const model::MetricDefinition& definition = row.metric.definition;
        json.begin_object(document::JsonLayout::compact);
        document::write_field(json, "name", definition.name);
        document::write_field(json, "description", definition.description);
        document::write_field(json, "unit", definition.unit);
        document::write_field(json, "direction", to_text(definition.direction));
        document::write_field(json, "class", to_text(definition.metric_class));
        document::write_field(json, "fold", to_text(definition.fold));
        document::write_field(json, "source", to_text(row.metric.source));
        document::write_field(json, "counters", row.counters);
        // value = scale * sum of the numerator / sum of the denominator; no denominator is 1.
        document::write_field(json, "scale", row.metric.scale);
        write_terms(json, "numerator", row.metric.numerator, row.counters);
        write_terms(json, "denominator", row.metric.denominator, row.counters);
        document::write_field(json, "passes", static_cast<std::int64_t>(row.passes));
        document::write_field(json, "mixes_passes", row.passes > 1);
        document::write_field(json, "unavailable", row.unavailable);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    return json.finish();
}

int list_metrics(const std::vector<std::string>& names, const std::string& chip,
                 const std::string& json) {
    const auto chips = load_counter_catalogue();
    if (chips) {
        const std::vector<std::string> known = chips->chips();
        if (std::find(known.begin(), known.end(), chip) == known.end()) {
            throw model::InputError(fmt::format("--chip: CUPTI knows no chip '{}'; it knows {}{}",
                                                model::printable(chip, 40), fmt::join(known, ", "),
                                                model::did_you_mean(chip, known)));
        }
    }
    std::vector<Row> rows;
    if (names.empty()) {
        for (const metrics::Metric& metric : metrics::catalogue()) {
            rows.push_back(row_of(metric, chips.get(), chip));
        }
    }
    for (const std::string& name : names) {
        const auto metric = metrics::find_metric(name);
        if (!metric) {
            throw model::InputError(
                fmt::format("no metric '{}'{}", model::printable(name, 80),
                            model::did_you_mean(name, metrics::metric_names())));
        }
        rows.push_back(row_of(*metric, chips.get(), chip));
    }
    if (!json.empty()) model::write_file_atomically(json, as_json(rows, chip));
    if (json != "-") model::write_file_atomically("-", as_text(rows, chip, chips.get()));
    return 0;
}

}  // namespace

void add_metrics(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "metrics", "Lists the metrics with unit, direction, class, fold and passes; needs no GPU");
    struct Options {
        std::vector<std::string> names;
        std::string chip = "GH100";
        std::string json;
    };
    const auto options = std::make_shared<Options>();
    verb->add_option("METRIC", options->names, "Only these; raw CUPTI names are known too");
    verb->add_option("--chip", options->chip, "The chip, by CUPTI's name")->capture_default_str();
    verb->add_option("--json", options->json, "Also write JSON to FILE (- is stdout)")
        ->type_name("FILE");
    verb->callback([&invocation, options] {
        invocation.body = [options] {
            return list_metrics(options->names, options->chip, options->json);
        };
    });
}

}  // namespace perfgate::cli

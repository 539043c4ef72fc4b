// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/verbs/verb.hpp"
#include "report/columns.hpp"
#include "runner/metric_list.hpp"
#include "util/file.hpp"

namespace perfgate::cli {
namespace {

std::string passes_text(const runner::ListedMetric& row) {
    if (!row.unavailable.empty()) return "n/a";
    if (row.metric.source != metrics::Source::counter) return "-";
    return fmt::format("{}{}", row.passes, row.passes > 1 ? "*" : "");
}

std::string metrics_text(const runner::MetricList& list) {
    std::vector<std::vector<std::string>> rows{
        {"metric", "unit", "better", "class", "fold", "passes", "description"}};
    for (const runner::ListedMetric& row : list.metrics) {
        const model::MetricDefinition& definition = row.metric.definition;
        rows.push_back(
            {definition.name, definition.unit, std::string(to_text(definition.direction)),
             std::string(to_text(definition.metric_class)), std::string(to_text(definition.fold)),
             passes_text(row), definition.description});
    }
    std::string text = report::table(rows, {.indent = 0});
    if (list.chip_known) {
        text += fmt::format(
            "\nPasses are those of the metric alone on {}; * mixes values of several passes.\n"
            "Any raw CUPTI name of the chip is a metric too.\n",
            list.chip);
    }
    text += "\nSets:\n";
    for (const runner::ListedSet& listed : list.sets) {
        text += fmt::format("  {:<6} {}", listed.set->name, listed.set->description);
        if (list.chip_known) {
            text += fmt::format(" ({} metrics, {} passes on {})", listed.set->metrics.size(),
                                listed.passes, list.chip);
        }
        text += "\n";
    }
    return text;
}

int list_metrics(const std::vector<std::string>& names, const std::string& chip,
                 const std::string& json) {
    const runner::MetricList list = runner::list_metrics(names, chip);
    if (!json.empty()) util::write_file_atomically(json, write_json(list));
    if (json != "-") util::write_file_atomically("-", metrics_text(list));
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
    verb->add_option("--json", options->json, "Also write JSON to FILE (- is standard output)")
        ->type_name("FILE");
    verb->callback([&invocation, options] {
        invocation.body = [options] {
            return list_metrics(options->names, options->chip, options->json);
        };
    });
}

}  // namespace perfgate::cli

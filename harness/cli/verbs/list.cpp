// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/terminal/texts.hpp"
#include "cli/verbs/verb.hpp"
#include "document/run.hpp"
#include "report/columns.hpp"
#include "runner/devices.hpp"
#include "runner/metric_list.hpp"
#include "suite/plan.hpp"
#include "util/error.hpp"
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

struct ListOptions {
    std::vector<std::string> suites;
    std::vector<std::string> plugins;
    model::Selection selection;
    std::string backend = "any";
    std::string device_key;
    std::string json;
    bool metrics = false;
    std::string chip = "GH100";
};

int list_metrics(const ListOptions& options) {
    const runner::MetricList list = runner::list_metrics(options.suites, options.chip);
    if (!options.json.empty()) util::write_file_atomically(options.json, write_json(list));
    if (options.json != "-") util::write_file_atomically("-", metrics_text(list));
    return 0;
}

int list_cases(const ListOptions& options) {
    if (options.suites.empty()) {
        throw util::InputError("nothing to list: name suite files, or --metrics");
    }
    suite::PlanOptions plan_options;
    if (options.backend == "cuda") plan_options.target = model::Target::cuda;
    if (options.backend == "host") plan_options.target = model::Target::host;
    plan_options.device_key = options.device_key;
    plan_options.filters = options.selection.filters;
    plan_options.tags = options.selection.tags;

    const std::vector<suite::Suite> suites = runner::read_suites(options.suites, options.plugins);
    const model::Plan plan = suite::plan_suites(suites, plan_options);
    if (!options.json.empty()) {
        util::write_file_atomically(options.json, document::write_plan(plan));
    }
    if (options.json != "-") util::write_file_atomically("-", plan_text(plan, suites));
    return 0;
}

}  // namespace

Body add_list(CLI::App& verb) {
    const auto options = std::make_shared<ListOptions>();
    verb.add_option("SUITE", options->suites,
                    "Suite files; with --metrics: only these metrics, also raw CUPTI names")
        ->type_name("FILE");
    verb.add_flag("--metrics", options->metrics,
                  "List the metrics, with unit, direction, class, fold and passes");
    verb.add_option("--chip", options->chip, "With --metrics: the chip, by CUPTI's name")
        ->type_name("CHIP")
        ->capture_default_str();
    add_selection_options(verb, options->selection);
    verb.add_option("--backend", options->backend, "Only cases that this backend measures")
        ->check(one_of({"any", "cuda", "host"}))
        ->capture_default_str();
    verb.add_option("--device-key", options->device_key,
                    "Show the settings for this device key, the name of its baselines' folder "
                    "(default: without device overrides)")
        ->type_name("KEY");
    add_plugin_option(verb, options->plugins);
    add_json_option(verb, options->json);
    return [options] { return options->metrics ? list_metrics(*options) : list_cases(*options); };
}

}  // namespace perfgate::cli

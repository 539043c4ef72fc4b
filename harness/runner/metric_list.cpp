// SPDX-License-Identifier: Apache-2.0
#include "runner/metric_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "document/json_writer.hpp"
#include "measure/backend.hpp"
#include "measure/backend_module.hpp"
#include "runner/installation.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

using document::JsonLayout;
using document::JsonWriter;
using document::write_field;

/// Null without the CUDA backend.
std::unique_ptr<measure::CounterCatalogue> load_counter_catalogue() {
    if (!has_cuda_module()) return nullptr;
    const auto create = measure::backend_function<measure::CreateCounterCatalogue>(
        cuda_backend_module(), measure::create_counter_catalogue_symbol);
    return std::unique_ptr<measure::CounterCatalogue>(create());
}

void require_chip(measure::CounterCatalogue& chips, const std::string& chip) {
    const std::vector<std::string> known = chips.chips();
    if (std::ranges::find(known, chip) != known.end()) return;
    throw util::InputError("--chip: CUPTI knows no chip '{}'; it knows {}{}",
                           util::printable(chip, 40), fmt::join(known, ", "),
                           util::did_you_mean(chip, known));
}

ListedMetric listed_metric(const metrics::Metric& metric, measure::CounterCatalogue* chips,
                           const std::string& chip) {
    ListedMetric row{metric, {}, 0, ""};
    if (metric.source != metrics::Source::counter) return row;
    if (!chips) {
        row.unavailable = "not known: built without CUPTI";
        return row;
    }
    const metrics::Selection selection = metrics::select_counters(
        {&metric, 1}, [&](const std::string& name) { return chips->exists(chip, name); }, chip);
    if (!selection.not_applicable.empty()) {
        row.unavailable = "the hardware does not have it";
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

std::size_t passes_of(const metrics::MetricSet& set, measure::CounterCatalogue& chips,
                      const std::string& chip) {
    std::vector<metrics::Metric> members;
    for (const std::string& name : set.metrics) members.push_back(*metrics::find_metric(name));
    const metrics::Selection selection = metrics::select_counters(
        members, [&](const std::string& name) { return chips.exists(chip, name); });
    const std::vector<std::string> counters(selection.counters.begin(), selection.counters.end());
    return counters.empty() ? 0 : chips.passes(chip, counters);
}

metrics::Metric metric_of(const std::string& name) {
    if (const auto metric = metrics::find_metric(name)) return *metric;
    throw util::InputError("no metric '{}'{}", util::printable(name, 80),
                           util::did_you_mean(name, metrics::metric_names()));
}

/// Which counter of a term the chip has; terms of absent optional counters are left out.
void write_terms(JsonWriter& json, const char* name, const std::vector<metrics::Term>& terms,
                 const std::vector<std::string>& counters) {
    json.key(name);
    json.begin_array(JsonLayout::compact);
    for (const metrics::Term& term : terms) {
        const auto found = std::ranges::find_if(term.names, [&](const auto& one) {
            return std::ranges::find(counters, one) != counters.end();
        });
        if (found == term.names.end()) continue;
        json.begin_object(JsonLayout::compact);
        write_field(json, "weight", term.weight);
        write_field(json, "counter", *found);
        json.end_object();
    }
    json.end_array();
}

std::vector<std::string> sets_with(const std::string& metric) {
    std::vector<std::string> sets;
    for (const metrics::MetricSet& set : metrics::metric_sets()) {
        if (std::ranges::find(set.metrics, metric) != set.metrics.end()) {
            sets.push_back(set.name);
        }
    }
    return sets;
}

}  // namespace

std::string write_json(const MetricList& list) {
    JsonWriter json;
    json.begin_object(JsonLayout::lines);
    write_field(json, "schema", "perfgate.metrics");
    write_field(json, "version", std::int64_t{1});
    write_field(json, "chip", list.chip);
    json.key("metrics");
    json.begin_array(JsonLayout::lines);
    for (const ListedMetric& row : list.metrics) {
        const model::MetricDefinition& definition = row.metric.definition;
        json.begin_object(JsonLayout::compact);
        write_field(json, "name", definition.name);
        write_field(json, "description", definition.description);
        write_field(json, "unit", definition.unit);
        write_field(json, "direction", to_text(definition.direction));
        write_field(json, "class", to_text(definition.metric_class));
        write_field(json, "fold", to_text(definition.fold));
        write_field(json, "source", source_text(row.metric));
        write_field(json, "sets", sets_with(definition.name));
        write_field(json, "counters", row.counters);
        // value = scale * sum of the numerator / sum of the denominator; without a denominator, it
        // is 1.
        write_field(json, "scale", row.metric.scale);
        write_terms(json, "numerator", row.metric.numerator, row.counters);
        write_terms(json, "denominator", row.metric.denominator, row.counters);
        write_field(json, "passes", static_cast<std::int64_t>(row.passes));
        write_field(json, "mixes_passes", row.passes > 1);
        write_field(json, "unavailable", row.unavailable);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    return json.finish();
}

MetricList list_metrics(const std::vector<std::string>& names, const std::string& chip) {
    const auto chips = load_counter_catalogue();
    return list_metrics(names, chip, chips.get());
}

MetricList list_metrics(const std::vector<std::string>& names, const std::string& chip,
                        measure::CounterCatalogue* chips) {
    if (chips) require_chip(*chips, chip);
    MetricList list{.chip = chip, .chip_known = chips != nullptr, .metrics = {}, .sets = {}};
    if (names.empty()) {
        for (const metrics::Metric& metric : metrics::catalogue()) {
            list.metrics.push_back(listed_metric(metric, chips, chip));
        }
    }
    for (const std::string& name : names) {
        list.metrics.push_back(listed_metric(metric_of(name), chips, chip));
    }
    for (const metrics::MetricSet& set : metrics::metric_sets()) {
        list.sets.push_back({&set, chips ? passes_of(set, *chips, chip) : 0});
    }
    return list;
}

}  // namespace perfgate::runner

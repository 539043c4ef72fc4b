// SPDX-License-Identifier: Apache-2.0
#include "measure/case_counters.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

#include "measure/batches.hpp"

namespace perfgate::measure {

namespace {

/// Why the metric's own counters are lost: others may be for another reason.
std::string why_lost(const metrics::Metric& metric, const CounterValues& values) {
    const std::set<std::string> counters = metrics::counters_of(metric);
    const auto lost =
        std::find_if(values.not_collected.begin(), values.not_collected.end(),
                     [&](const auto& entry) { return counters.contains(entry.metric); });
    return lost == values.not_collected.end() ? "no kernel gave a value" : lost->reason;
}

}  // namespace

std::vector<std::string> counter_metrics(const std::vector<std::string>& metrics) {
    std::vector<std::string> names;
    for (const std::string& name : metrics) {
        const auto metric = metrics::find_metric(name);
        if (metric && metric->source == metrics::Source::counter) names.push_back(name);
    }
    return names;
}

void note_no_counters(model::CaseResult& result, const std::vector<std::string>& metrics,
                      const std::string& why) {
    for (const std::string& name : counter_metrics(metrics)) {
        result.not_collected.push_back({name, why});
    }
}

void store_counters(const metrics::Selection& selection, const CounterValues& values, bool graph,
                    const std::string& board, const CaseSettings& settings,
                    model::CaseResult& result) {
    for (const std::string& name : counter_metrics(settings.metrics)) {
        const auto unavailable =
            std::find_if(selection.unavailable.begin(), selection.unavailable.end(),
                         [&](const auto& entry) { return entry.metric == name; });
        if (unavailable != selection.unavailable.end()) {
            result.not_collected.push_back(*unavailable);
            continue;
        }
        const auto metric =
            std::find_if(selection.metrics.begin(), selection.metrics.end(),
                         [&](const auto& entry) { return entry.definition.name == name; });
        if (metric == selection.metrics.end()) {
            result.not_applicable.push_back(name);
            continue;
        }
        const auto folded = metrics::fold_counters(*metric, values.values);
        if (!folded) {
            result.not_collected.push_back({name, why_lost(*metric, values)});
            continue;
        }
        result.metrics[name] = series_of_one(metric->definition, *folded, values.method,
                                             {settings.process, board, settings.seed, {}});
        if (graph) continue;
        for (std::size_t k = 0; k < values.values.size() && k < result.kernels.size(); ++k) {
            if (const auto value = metrics::evaluate(*metric, values.values[k])) {
                result.kernels[k].metrics[name] = *value;
            }
        }
    }
}

}  // namespace perfgate::measure

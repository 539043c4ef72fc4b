// SPDX-License-Identifier: Apache-2.0
// Metrics of a label from its counters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kinds/command/counter_passes.hpp"
#include "util/text.hpp"

namespace perfgate::command {
namespace {

std::string why_no_value(const metrics::Metric& metric,
                         const std::map<std::string, double>& launch) {
    const auto names = metrics::counters_of(metric);
    const bool all =
        std::ranges::all_of(names, [&](const std::string& name) { return launch.contains(name); });
    return all ? "the counters that it is divided by are 0"
               : "the device gave no number: the unit is shared with others or not available (MIG)";
}

}  // namespace

CounterMetric metric_of(const ProgramCounters& counters, std::size_t label,
                        const metrics::Metric& metric) {
    CounterMetric found;
    const auto fail = [&](std::string why) {
        found.samples.clear();
        found.problem = std::move(why);
        return found;
    };
    // Its own reason first: a label that is refused in one pass alone ends the sequence early.
    const LabelCounters& own = counters.labels.at(label);
    if (!own.problem.empty()) return fail(own.problem);
    if (!counters.problem.empty()) return fail(counters.problem);
    if (counters.chip.empty()) return fail("no matching kernel was launched to be counted");

    for (const auto& alternatives : counters_for(std::span(&metric, 1))) {
        for (const std::string& name : alternatives) {
            const auto several = counters.several_passes.find(name);
            if (several == counters.several_passes.end()) continue;
            return fail(
                fmt::format("{} needs {} passes by itself, and each run of a program "
                            "collects one; use counters of one pass",
                            util::printable(name, 200), several->second));
        }
    }
    const metrics::Selection selection = metrics::select_counters(
        std::span(&metric, 1),
        [&](const std::string& name) { return counters.counted.contains(name); }, counters.chip);
    if (!selection.not_applicable.empty()) {
        found.not_applicable = true;
        return found;
    }
    if (!selection.unavailable.empty()) {
        return fail(util::printable(selection.unavailable.front().reason, 600));
    }
    if (own.launches.empty()) return fail("no matching kernel was launched to be counted");
    const metrics::Metric& selected = selection.metrics.front();
    double sum = 0;
    for (const auto& launch : own.launches) {
        const auto value = metrics::fold_counters(selected, std::span(&launch, 1));
        if (!value || !std::isfinite(*value)) return fail(why_no_value(selected, launch));
        sum += *value;
    }
    found.samples = {sum / static_cast<double>(own.launches.size())};
    found.processes = own.processes;
    return found;
}

std::vector<std::vector<std::string>> counters_for(std::span<const metrics::Metric> metrics) {
    std::vector<std::vector<std::string>> counters;
    const auto add = [&](const std::vector<std::string>& names) {
        if (std::ranges::find(counters, names) == counters.end()) {
            counters.push_back(names);
        }
    };
    for (const metrics::Metric& metric : metrics) {
        for (const auto* terms : {&metric.numerator, &metric.denominator}) {
            for (const metrics::Term& term : *terms) add(term.names);
        }
        if (metric.definition.fold == model::Fold::weighted_mean) add({metrics::weight_counter});
    }
    return counters;
}

}  // namespace perfgate::command

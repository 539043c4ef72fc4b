// SPDX-License-Identifier: Apache-2.0
#include "measure/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "measure/clock_stability.hpp"
#include "metrics/catalogue.hpp"
#include "model/stated_work.hpp"

namespace perfgate::measure {

namespace {

/// A metric's value, or why the case has none.
struct Value {
    double value = 0;
    std::string problem = {};
};

Value per_joule(double work, const char* what, const EnergySample& sample) {
    if (work > 0) return {work / sample.launch_j};
    return {0, fmt::format("the workload states no {}: {}, or leave the metric out for this case",
                           what, model::where_to_state_work)};
}

Value value_of(const std::string& metric, const EnergySample& sample,
               const std::optional<model::Work>& work) {
    if (!sample.problem.empty()) return {0, sample.problem};
    if (!(sample.launch_j > 0) || !std::isfinite(sample.launch_j)) {
        return {0, "the device's energy counter did not advance"};
    }
    const model::Work stated = work.value_or(model::Work{});
    if (metric == metrics::energy) return {sample.launch_j};
    if (metric == metrics::power) return {sample.watts};
    if (metric == metrics::efficiency) return per_joule(stated.flops, "operations", sample);
    return per_joule(stated.bytes, "bytes", sample);
}

template <typename Take>
void for_each_asked(const CaseSettings& settings, const Take& take) {
    for (const std::string& name : settings.metrics) {
        const auto metric = metrics::find_metric(name);
        if (metric && metric->source == metrics::Source::energy) take(*metric);
    }
}

}  // namespace

bool asks_for_energy(const CaseSettings& settings) {
    bool asks = false;
    for_each_asked(settings, [&](const metrics::Metric&) { asks = true; });
    return asks;
}

void add_energy(Case& opened, const std::string& board, const CaseSettings& settings,
                model::CaseResult& result) {
    const EnergySample sample = opened.energy();
    const std::array around{sample.board};
    for_each_asked(settings, [&](const metrics::Metric& metric) {
        const std::string& name = metric.definition.name;
        Value value = value_of(name, sample, result.work);
        if (!value.problem.empty()) {
            if (!settings.times_only) {
                result.not_collected.push_back({name, std::move(value.problem)});
            }
            return;
        }
        model::Batch batch{settings.process, board, settings.seed, {value.value}};
        batch.round = settings.round;
        batch.sm_clock_mhz = clock_of(around);
        batch.excluded = disturbance(around);
        result.metrics[name] = {
            metric.definition.unit, value.value, sample.method, {std::move(batch)}};
    });
    if (!settings.times_only && sample.problem.empty() && !sample.note.empty()) {
        result.notes.push_back("energy: " + sample.note);
    }
}

}  // namespace perfgate::measure

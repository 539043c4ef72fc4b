// SPDX-License-Identifier: Apache-2.0
#include "measure/batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "metrics/catalogue.hpp"
#include "model/choices.hpp"
#include "model/host_time.hpp"
#include "stats/quantiles.hpp"

namespace perfgate::measure {

model::MetricSeries series_of_one(const model::MetricDefinition& definition, double value,
                                  model::Method method, model::Batch batch) {
    batch.samples = {value};
    return {definition.unit, value, std::move(method), {std::move(batch)}};
}

void join_notes(model::CaseResult& result, const model::CaseResult& more) {
    // What differs from process to process, such as a number in it, must not fill reports.
    constexpr std::size_t most_notes = 20;
    const std::string limit =
        fmt::format("further processes have other notes: only {} are listed", most_notes);
    std::vector<std::string>& notes = result.notes;
    for (const std::string& note : more.notes) {
        if (!notes.empty() && notes.back() == limit) return;
        if (std::find(notes.begin(), notes.end(), note) != notes.end()) continue;
        notes.push_back(notes.size() < most_notes ? note : limit);
    }
}

void join_batches(model::CaseResult& result, model::CaseResult more) {
    for (auto& [name, from] : more.metrics) {
        const auto found = result.metrics.find(name);
        if (found == result.metrics.end()) {
            // Only some batches have metrics of bare runs.
            const auto metric = metrics::find_metric(name);
            if (metric && metric->from_bare_runs) result.metrics.emplace(name, std::move(from));
            continue;
        }
        model::MetricSeries& series = found->second;
        if (const auto host = model::host_in(from.detail);
            !host.empty() && model::contains_host_time(name)) {
            series.detail = model::with_host(series.detail, host);
        }
        for (model::Batch& batch : from.batches) {
            if (name == model::prepare_time && from.detail != series.detail) {
                batch.detail = from.detail;
            }
            if (from.method != series.method) {
                batch.excluded = fmt::format("its method is {}, the case's is {}",
                                             to_text(from.method), to_text(series.method));
            }
            series.batches.push_back(std::move(batch));
        }
        if (const std::vector<double> samples = model::all_samples(series); !samples.empty()) {
            series.value = stats::median(samples);
        }
    }
    if (more.kernels.size() == result.kernels.size()) {
        for (std::size_t i = 0; i < result.kernels.size(); ++i) {
            model::mask_arguments(more.kernels[i], result.kernels[i]);
        }
    }
    join_notes(result, more);
    result.readings.insert(result.readings.end(), more.readings.begin(), more.readings.end());
    result.wall_s += more.wall_s;
}

std::size_t processes_in_round(const model::CaseResult& result, std::int64_t round) {
    std::size_t most = 0;
    for (const auto& [name, series] : result.metrics) {
        std::set<std::int64_t> processes;
        for (const model::Batch& batch : series.batches) {
            if (batch.round == round) processes.insert(batch.process);
        }
        most = std::max(most, processes.size());
    }
    return most;
}

std::int64_t last_round(const model::CaseResult& result) {
    std::int64_t last = 0;
    for (const auto& [name, series] : result.metrics) {
        const auto metric = metrics::find_metric(name);
        if (metric && metric->source == metrics::Source::counter) continue;
        for (const model::Batch& batch : series.batches) last = std::max(last, batch.round);
    }
    return last;
}

std::int64_t last_process(const model::CaseResult& result, const std::string& device) {
    std::int64_t last = -1;
    for (const auto& [name, series] : result.metrics) {
        for (const model::Batch& batch : series.batches) {
            if (batch.device == device) last = std::max(last, batch.process);
        }
    }
    return last;
}

}  // namespace perfgate::measure

// SPDX-License-Identifier: Apache-2.0
#include "gate/series.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "stats/quantiles.hpp"
#include "stats/spread.hpp"

namespace perfgate::gate {

/// The share of a batch's samples that is trimmed at either end: outliers of the launch.
static constexpr double trimmed_samples = 0.1;
double batch_value(const model::Batch& batch) {
    return all_finite(batch.samples) ? stats::trimmed_mean(batch.samples, trimmed_samples)
                                     : std::numeric_limits<double>::quiet_NaN();
}

bool all_finite(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

bool in_use(const model::Batch& batch) {
    return batch.excluded.empty() && !batch.samples.empty();
}

std::vector<const model::Batch*> batches_in_use(const model::MetricSeries& series) {
    const bool again =
        std::any_of(series.batches.begin(), series.batches.end(),
                    [](const model::Batch& batch) { return in_use(batch) && batch.round > 0; });
    std::vector<const model::Batch*> used;
    for (const model::Batch& batch : series.batches) {
        if (in_use(batch) && (!again || batch.round > 0)) used.push_back(&batch);
    }
    return used;
}

std::vector<double> values_of_all_rounds(const model::MetricSeries& series) {
    if (series.batches.empty()) return {series.value};
    std::vector<double> values;
    for (const model::Batch& batch : series.batches) {
        if (in_use(batch)) values.push_back(batch_value(batch));
    }
    return values;
}

std::int64_t last_round_of(const model::MetricSeries& series) {
    std::int64_t last = 0;
    for (const model::Batch& batch : series.batches) {
        if (in_use(batch)) last = std::max(last, batch.round);
    }
    return last;
}

std::vector<double> batch_values(const model::MetricSeries& series) {
    // A document written by hand may have only the value.
    if (series.batches.empty()) return {series.value};
    std::vector<double> values;
    for (const model::Batch* batch : batches_in_use(series)) values.push_back(batch_value(*batch));
    return values;
}

double estimate_of(const model::MetricSeries& series) {
    const std::vector<double> values = batch_values(series);
    return values.empty() || !all_finite(values) ? series.value
                                                 : stats::trimmed_mean(values, trimmed_processes);
}

bool has_tail(const model::MetricDefinition& definition) {
    return definition.metric_class == model::MetricClass::timing && definition.unit == "ns" &&
           definition.direction == model::Direction::lower;
}

std::optional<model::Tail> tail_of(const model::Batch& batch) {
    if (batch.tail || batch.samples.size() < least_samples_of_tail || !all_finite(batch.samples)) {
        return batch.tail;
    }
    std::vector<double> sorted = batch.samples;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    const double tenth = static_cast<double>(sorted.size()) / 10;
    const auto whole = static_cast<std::size_t>(tenth);
    double sum = std::accumulate(sorted.begin(), sorted.begin() + std::ptrdiff_t(whole), 0.0);
    sum += (tenth - static_cast<double>(whole)) * sorted[whole];
    return model::Tail{sum / tenth, stats::quantile(sorted, 0.99)};
}

model::MetricSeries untrimmed(model::MetricSeries series) {
    std::erase_if(series.batches, [](const model::Batch& batch) { return !in_use(batch); });
    for (model::Batch& batch : series.batches) {
        batch.samples = {stats::trimmed_mean(batch.samples, 0)};
        batch.tail.reset();
    }
    return series;
}

std::optional<model::MetricSeries> slowest_tenths(const model::MetricSeries& series) {
    constexpr std::size_t least_samples = 30;
    model::MetricSeries tails = series;
    std::erase_if(tails.batches,
                  [](const model::Batch& batch) { return !in_use(batch) || !tail_of(batch); });
    std::size_t samples = 0;
    for (model::Batch& batch : tails.batches) {
        const double slowest_tenth = tail_of(batch)->slowest_tenth;
        samples += batch.tail ? least_samples : batch.samples.size();
        batch.samples = {slowest_tenth};
        batch.tail.reset();
    }
    if (samples < least_samples) return std::nullopt;
    return tails;
}

double untrimmed_estimate_of(const model::MetricSeries& series) {
    std::vector<double> samples;
    for (const model::Batch* batch : batches_in_use(series)) {
        samples.insert(samples.end(), batch->samples.begin(), batch->samples.end());
    }
    return samples.empty() || !all_finite(samples) ? series.value : stats::trimmed_mean(samples, 0);
}

bool all_equal(const std::vector<double>& values) {
    return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

bool repeats(const model::MetricSeries& series) {
    const std::vector<double> values = batch_values(series);
    return values.size() > 1 && all_equal(values);
}

std::map<std::string, std::size_t> boards_of(const model::MetricSeries& series) {
    std::map<std::string, std::size_t> boards;
    for (const model::Batch* batch : batches_in_use(series)) ++boards[batch->device];
    return boards;
}

model::MetricSeries series_of_board(const model::MetricSeries& series, const std::string& board) {
    model::MetricSeries result = series;
    std::erase_if(result.batches, [&](const model::Batch& batch) { return batch.device != board; });
    const std::vector<double> values = batch_values(result);
    if (!values.empty() && all_finite(values)) result.value = stats::median(values);
    return result;
}

model::MetricSeries replayed(const model::MetricSeries& series,
                             const std::vector<std::size_t>& by_round, const std::string& board) {
    std::vector<double> values = batch_values(series);
    if (values.empty()) values = {series.value};
    std::sort(values.begin(), values.end());
    model::MetricSeries result = series;
    result.batches.clear();
    model::Batch like = series.batches.empty() ? model::Batch{} : series.batches.front();
    like.device = board;
    like.excluded.clear();
    like.run = 0;
    like.sm_clock_mhz.reset();
    like.tail.reset();
    like.other_work.reset();
    for (std::size_t round = 0; round < by_round.size(); ++round) {
        for (std::size_t i = 0; i < by_round[round]; ++i) {
            model::Batch batch = like;
            batch.round = static_cast<std::int64_t>(round);
            batch.process = static_cast<std::int64_t>(result.batches.size());
            batch.samples = {values[(2 * i + 1) * values.size() / (2 * by_round[round])]};
            result.batches.push_back(std::move(batch));
        }
    }
    return result;
}

model::MetricSeries moved(model::MetricSeries series, double estimate, double amount,
                          const std::string& metric) {
    // How much recording cost does not end at 100 %.
    const bool share = series.unit == "%" && metric != "tracing_overhead";
    const auto move = [&](double value) {
        double to = estimate > 0 ? value * (1 + amount / estimate) : value + amount;
        if (value >= 0) to = std::max(to, 0.0);
        if (share && value <= 100) to = std::min(to, 100.0);
        return to;
    };
    for (model::Batch& batch : series.batches) {
        for (double& sample : batch.samples) sample = move(sample);
        if (batch.tail) batch.tail = {move(batch.tail->slowest_tenth), move(batch.tail->p99)};
    }
    series.value = move(series.value);
    return series;
}

}  // namespace perfgate::gate

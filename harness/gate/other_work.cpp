// SPDX-License-Identifier: Apache-2.0
#include "gate/other_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>

#include "gate/series.hpp"

namespace perfgate::gate {

namespace {

/// A processor whose neighbours others keep busy has up to this much less cache, memory bandwidth
/// and clock (tests/bench/README.md#host-times-beside-other-work).
constexpr double most_by_neighbours = 0.5;
/// What others changed by less explains nothing.
constexpr double least_difference = 0.01;

/// Means over the processes in use; nothing if one is not known.
std::optional<util::OtherWork> mean_other_work(const model::MetricSeries& series) {
    util::OtherWork mean;
    const std::vector<const model::Batch*> batches = batches_in_use(series);
    for (const model::Batch* batch : batches) {
        if (!batch->other_work) return std::nullopt;
        mean.waited += batch->other_work->waited / static_cast<double>(batches.size());
        mean.busy += batch->other_work->busy / static_cast<double>(batches.size());
    }
    return batches.empty() ? std::nullopt : std::optional(mean);
}

/// By what neighbours lengthen the run's times: what they do more than beside the baseline, by the
/// means, since what they do varies. The other way round nothing is known well enough to suspect a
/// run on a quiet machine.
double by_neighbours(double busy, double busy_before) {
    return 1 + most_by_neighbours * std::max(busy - busy_before, 0.0);
}

/// The share of a time that remains without others' work.
double left_of(double waited, double neighbours = 1) {
    constexpr double least = 1e-3;
    return std::max(1 - waited, least) / neighbours;
}

model::MetricSeries without(model::MetricSeries series, bool rate, double neighbours = 1) {
    for (model::Batch& batch : series.batches) {
        if (!batch.other_work) continue;  // it is not in use
        const double left = left_of(batch.other_work->waited, neighbours);
        for (double& sample : batch.samples) sample = rate ? sample / left : sample * left;
    }
    return series;
}

}  // namespace

std::vector<std::optional<Undisturbed>> judge_undisturbed(std::span<const Comparison> comparisons,
                                                          const Rule& rule) {
    std::vector<std::optional<Undisturbed>> found(comparisons.size());
    std::deque<model::MetricSeries> series;
    std::vector<Comparison> all(comparisons.begin(), comparisons.end());
    bool any = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
        Comparison& comparison = all[i];
        if (comparison.paired || rule.judges_pairs()) continue;
        const auto before = mean_other_work(*comparison.baseline);
        const auto now = mean_other_work(*comparison.measured);
        if (!before || !now) continue;
        const double neighbours = by_neighbours(now->busy, before->busy);
        const double difference = left_of(before->waited) / left_of(now->waited, neighbours) - 1;
        if (std::fabs(difference) < least_difference) continue;
        const bool rate = comparison.definition->direction == model::Direction::higher;
        comparison.baseline = &series.emplace_back(without(*comparison.baseline, rate));
        comparison.measured = &series.emplace_back(without(*comparison.measured, rate, neighbours));
        found[i] = {{}, before->waited, now->waited, before->busy, now->busy};
        any = true;
    }
    if (!any) return found;
    // All of them, so that each has the share of the budget that it had.
    const std::vector<Judgement> judgements = rule.judge(all);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (found[i]) found[i]->judgement = judgements[i];
    }
    return found;
}

std::string other_work_words(const Undisturbed& undisturbed) {
    const auto percent = [](double share) { return fmt::format("{:.0f} %", 100 * share); };
    return fmt::format(
        "other work ran: the processes waited {} of their time for a processor ({} in the "
        "baseline), and others used {} of the processors ({})",
        percent(undisturbed.waited), percent(undisturbed.waited_before), percent(undisturbed.busy),
        percent(undisturbed.busy_before));
}

}  // namespace perfgate::gate

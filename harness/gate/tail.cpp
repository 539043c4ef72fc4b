// SPDX-License-Identifier: Apache-2.0
#include "gate/tail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <deque>

#include "gate/series.hpp"
#include "model/quantity.hpp"
#include "stats/quantiles.hpp"
#include "stats/spread.hpp"

namespace perfgate::gate {

namespace {

/// The usual tolerance of a tail is `worse` times this, because few samples decide.
constexpr double usual_factor = 2;
constexpr double beyond_p99 = 1.5;
/// Fewer do not tell p99 from the largest.
constexpr std::size_t least_for_quantiles = 500;

/// The two sides of a tail's comparison.
struct Sides {
    model::MetricSeries baseline, measured;
    bool of_tenths = true;  ///< else of all samples
};

bool has_any_tail(const model::MetricSeries& series) {
    return std::ranges::any_of(batches_in_use(series),
                               [](const auto* batch) { return tail_of(*batch).has_value(); });
}

std::optional<Sides> sides_of(const Comparison& comparison) {
    if (!has_tail(*comparison.definition)) return std::nullopt;
    if (has_any_tail(*comparison.measured) && !has_any_tail(*comparison.baseline)) {
        return Sides{untrimmed(*comparison.baseline), untrimmed(*comparison.measured), false};
    }
    auto measured = slowest_tenths(*comparison.measured);
    if (!measured) return std::nullopt;
    auto baseline = slowest_tenths(*comparison.baseline);
    if (!baseline) return std::nullopt;
    return Sides{std::move(*baseline), std::move(*measured)};
}

Comparison of_tail(const Comparison& comparison, const Sides& sides) {
    Comparison tail = comparison;
    tail.baseline = &sides.baseline;
    tail.measured = &sides.measured;
    tail.tolerance = {};
    tail.tolerance.worse = tail_tolerance(comparison.tolerance);
    tail.tolerance.abs = usual_factor * comparison.tolerance.abs;
    return tail;
}

double p99_of(const model::MetricSeries& baseline) {
    std::vector<double> values;
    for (const model::Batch* batch : batches_in_use(baseline)) {
        if (const auto tail = tail_of(*batch)) values.push_back(tail->p99);
    }
    return stats::trimmed_mean(values, trimmed_processes);
}

model::TailVerdict verdict_of(const Comparison& comparison, const Comparison& tail,
                              const Judgement& judgement) {
    std::vector<double> samples;
    for (const model::Batch* batch : batches_in_use(*comparison.measured)) {
        samples.insert(samples.end(), batch->samples.begin(), batch->samples.end());
    }
    const double limit = beyond_p99 * p99_of(*comparison.baseline);
    const auto beyond = std::count_if(samples.begin(), samples.end(),
                                      [&](double sample) { return sample > limit; });
    model::TailVerdict verdict;
    verdict.baseline = judgement.baseline;
    verdict.measured = judgement.measured;
    verdict.tolerance = tail.tolerance.worse + tail.leeway;
    verdict.beyond = static_cast<double>(beyond) / static_cast<double>(samples.size());
    if (samples.size() < least_for_quantiles) return verdict;
    std::sort(samples.begin(), samples.end());
    verdict.p95 = stats::quantile(samples, 0.95);
    verdict.p99 = stats::quantile(samples, 0.99);
    verdict.max = samples.back();
    return verdict;
}

}  // namespace

double tail_tolerance(const model::Tolerance& tolerance) {
    return tolerance.tail.value_or(usual_factor * tolerance.worse);
}

std::vector<std::optional<TailJudgement>> judge_tails(std::span<const Comparison> comparisons,
                                                      const Rule& rule) {
    std::vector<std::optional<TailJudgement>> found(comparisons.size());
    std::deque<Sides> sides;
    std::vector<Comparison> tails;
    std::vector<std::size_t> owners;
    for (std::size_t i = 0; i < comparisons.size(); ++i) {
        std::optional<Sides> both = sides_of(comparisons[i]);
        if (!both) continue;
        sides.push_back(std::move(*both));
        tails.push_back(of_tail(comparisons[i], sides.back()));
        owners.push_back(i);
    }
    if (tails.empty()) return found;
    const std::vector<Judgement> judgements = rule.judge(tails);
    for (std::size_t i = 0; i < tails.size(); ++i) {
        if (judgements[i].verdict == model::Verdict::invalid) continue;
        TailJudgement& tail = found[owners[i]].emplace(judgements[i]);
        if (sides[i].of_tenths) {
            tail.verdict = verdict_of(comparisons[owners[i]], tails[i], judgements[i]);
        }
    }
    return found;
}

std::string tail_words(const TailJudgement& tail, const std::string& unit) {
    const Judgement& judged = tail.judgement;
    const model::QuantityTexts values =
        model::quantity_texts(judged.baseline, judged.measured, unit);
    const std::string change = model::moved_text(judged.baseline, judged.measured, unit);
    if (!tail.verdict) {
        return fmt::format("mean of all samples {} → {}{}", values.before, values.after,
                           change.empty() ? "" : fmt::format(" ({})", change));
    }
    const model::TailVerdict& verdict = *tail.verdict;
    std::string words = fmt::format(
        "slowest tenth {} → {} ({}tolerance {:.6g} %), {:.3g} % of the samples beyond {:g} times "
        "the baseline's p99",
        values.before, values.after, change.empty() ? "" : change + ", ", 100 * verdict.tolerance,
        100 * verdict.beyond, beyond_p99);
    if (!verdict.max) return words;
    return words + fmt::format(", p95 {}, p99 {}, max {}", model::quantity_text(*verdict.p95, unit),
                               model::quantity_text(*verdict.p99, unit),
                               model::quantity_text(*verdict.max, unit));
}

}  // namespace perfgate::gate

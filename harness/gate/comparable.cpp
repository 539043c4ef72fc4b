// SPDX-License-Identifier: Apache-2.0
#include "gate/comparable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "gate/batch_rule.hpp"
#include "gate/invalid.hpp"
#include "model/measured_as.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

namespace {

std::size_t samples_per_process(const model::MetricSeries& series) {
    std::vector<std::size_t> counts;
    for (const model::Batch* batch : batches_in_use(series)) {
        // A baseline keeps one value of a process, and its tail if it had samples for one.
        const std::size_t kept = batch->tail ? least_samples_of_tail : 0;
        counts.push_back(std::max(batch->samples.size(), kept));
    }
    if (counts.empty()) return 0;
    const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
    std::nth_element(counts.begin(), middle, counts.end());
    return *middle;
}

bool keeps_tails(const model::MetricSeries& series) {
    return std::ranges::any_of(series.batches,
                               [](const model::Batch& batch) { return batch.tail.has_value(); });
}

std::string in_quotes(std::string_view text) {
    return fmt::format("'{}'", util::printable(text, 200));
}

}  // namespace

std::string measured_as_another(const model::CaseResult& result,
                                const model::BaselineCase& expected) {
    const std::string difference = model::difference(expected.measured_as, result.measured_as);
    if (difference.empty()) return {};
    return fmt::format(
        "the suite changed what is measured since the baseline ({}): accept its values with "
        "'perfgate baseline refresh {}'",
        difference, result.place.file.empty() ? "SUITE" : util::shell_word(result.place.file));
}

std::optional<model::Direction> direction_then(const StoredBaseline& stored,
                                               const model::CaseResult& result,
                                               const model::BaselineCase& expected,
                                               const model::MetricDefinition& now) {
    const auto defined = stored.definitions.find(now.name);
    if (defined != stored.definitions.end()) return defined->second.direction;
    const std::string key = model::direction_key(now.name);
    // All others are of the catalogue, which does not change its mind.
    if (!result.measured_as.contains(key)) return now.direction;
    // Where both state it, they agree: else the whole case is of something else.
    return expected.measured_as.contains(key) ? std::optional(now.direction) : std::nullopt;
}

std::string incomparable(const model::MetricSeries& baseline, const model::MetricSeries& measured,
                         std::optional<model::Direction> then, model::Direction now) {
    const auto differs = [](std::string_view what, std::string_view before,
                            std::string_view after) {
        return fmt::format("its {} is {} in the baseline and {} in this run", what,
                           in_quotes(before), in_quotes(after));
    };
    if (baseline.unit != measured.unit) return differs("unit", baseline.unit, measured.unit);
    if (!comparable(baseline, measured)) {
        return differs("method", to_text(baseline.method), to_text(measured.method));
    }
    if (then && *then != now) return differs("better way", to_text(*then), to_text(now));
    return {};
}

std::string other_sample_count(const model::CaseResult& result, const model::BaselineCase& expected,
                               bool is_base_run) {
    for (const model::GateRule& gate : result.gates) {
        const auto now = result.metrics.find(gate.metric);
        const auto then = expected.metrics.find(gate.metric);
        if (now == result.metrics.end() || then == expected.metrics.end() ||
            !reported_by_benchmark(result, now->second)) {
            continue;
        }
        const std::size_t before = samples_per_process(then->second);
        const std::size_t after = samples_per_process(now->second);
        const auto far_more = [](std::size_t more, std::size_t fewer) {
            return more > fewer && (fewer == 1 || more > 2 * fewer);
        };
        // A stored baseline has one value of each process.
        if (is_base_run && far_more(after, before)) {
            return fmt::format(
                "each process gives {} of {}, the base's gave {}: are those of earlier runs among "
                "them?",
                util::counted(after, "sample"), gate.metric, before);
        }
        if (!far_more(before, after)) continue;
        return fmt::format("each process gives {} of {}, the baseline's gave {}{}: fewer show less",
                           util::counted(after, "sample"), gate.metric,
                           keeps_tails(then->second) ? "at least " : "", before);
    }
    return {};
}

}  // namespace perfgate::gate
